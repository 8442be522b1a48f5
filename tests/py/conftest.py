"""Fixtures of all tests: every backend and device, and random numbers whose seed is printed."""

from __future__ import annotations

import importlib
import os
import random
import signal
import sys
import textwrap
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import places
import vyre
from vyre import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from types import ModuleType

SEED = int(os.environ.get("VYRE_SEED", random.SystemRandom().randrange(2**32)))


# Kernels that type checkers find wrong, and vyre too; what runs where jax is, which is not here; and a script whose
# kernels must be in no module.
collect_ignore = ["kernel/typed_mistakes.py", "jax_exchange.py", "kernel/travelling.py"]
# `make dist` sets it where it installs a wheel, and runs these files.
if "VYRE_INSTALLED" not in os.environ:
    collect_ignore += ["repository/test_installed.py", "repository/test_visitor.py"]


def pytest_report_header(config: pytest.Config) -> list[str]:
    devices = ", ".join(device.name for device in vyre.devices() if device.usable) or "none"
    return [f"vyre: seed {SEED} (VYRE_SEED={SEED} repeats this run)", f"vyre: devices: {devices}"]


def pytest_configure() -> None:
    # A background job of a shell ignores Ctrl-C, and so would the processes that tests start and interrupt.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


# Tests change constants of the library, which no key of a recording knows; those of recordings on disk start processes.
_core._kept, _core._keep = lambda *_: None, lambda *_: None


def pytest_sessionstart(session: pytest.Session) -> None:
    # A suite that silently tests the reference alone would be green and worth little.
    if os.environ.get("VYRE_ALLOW_NO_VULKAN") == "1" or any(device.usable for device in vyre.devices()):
        return
    reasons = vyre.backends().unavailable().get("vulkan", ["no device is usable"])
    pytest.exit(
        f"no Vulkan device here: {'; '.join(reasons)} Fix: run `make test`, which brings in two software ones, "
        "or set VYRE_ALLOW_NO_VULKAN=1.",
        returncode=1,
    )


def _targets() -> list[dict[str, object]]:
    targets: list[dict[str, object]] = [{"backend": "reference"}, {"backend": "cpu"}]
    targets += [{"backend": device.backend, "device": device.index} for device in vyre.devices() if device.usable]
    return targets


def _name(target: dict[str, object]) -> str:
    if "device" not in target:
        return str(target["backend"])
    return name_of(vyre.devices(target["backend"])[target["device"]])


def name_of(device: vyre.Device) -> str:
    """A device in the name of a test: a GPU that several backends can use is one for each."""
    name = device.name.split("(")[0].strip().replace(" ", "-")
    return name if device.backend == "vulkan" else f"{name}-{device.backend}"


def message(call: Callable[[], Any], error: type[BaseException]) -> str:
    """What a call says that is refused with this error."""
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


def problem(call: Callable[[], Any], error: type[BaseException]) -> str:
    """What it says before its Fix, whose sentence another test has."""
    before, fix, _ = message(call, error).partition(" Fix: ")
    assert fix
    return before


@contextmanager
def refused(
    kind: type[Exception] | tuple[type[Exception], ...], problem: str, fix: str = ""
) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """Expects an error of this kind, whose whole sentence says the problem and what to do, or stands in `problem`.

    Without its Fix, `problem` is what is said before a Fix that another test has.
    """
    with pytest.raises(kind) as caught:
        yield caught
    said = str(caught.value)
    assert said == f"{problem}. Fix: {fix}." if fix else problem in (said, said.partition(" Fix: ")[0])


def refusals(rows: list[tuple[Any, ...]], error: type[Exception] | None = None) -> Callable[..., None]:
    """A test that calls are refused: rows have a call, its error unless all have one, and what `refused` takes."""

    @pytest.mark.parametrize("row", rows, ids=range(len(rows)))
    def test(row: tuple[Any, ...]) -> None:
        call, *expected = row
        with refused(*([error] if isinstance(expected[0], str) else []), *expected):
            call()

    return test


@pytest.fixture(params=_targets(), ids=_name)
def target(request: pytest.FixtureRequest) -> dict[str, object]:
    """The keyword arguments of vyre.run for every backend and device here."""
    return dict(request.param)


@pytest.fixture(params=places.PLACES, ids=places.name_of)
def place(request: pytest.FixtureRequest) -> dict[str, object]:
    """The keyword arguments that make an array in every place here."""
    return {"backend": request.param[0], "device": request.param[1]}


@pytest.fixture
def refuses(capsys: pytest.CaptureFixture[str]) -> Callable[..., None]:
    """Expects a command to end with a status and one sentence, which says the problem and what to do."""
    from vyre.__main__ import main

    def check(arguments: Iterable[str], problem: str, fix: str, status: int = 2) -> None:
        assert main([*arguments]) == status
        assert capsys.readouterr() == ("", f"error: {problem}. Fix: {fix}.\n")

    return check


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers of this test's own; the seed stands in the report's head."""
    return np.random.default_rng([SEED, *request.node.name.encode()])


@pytest.fixture
def fast_switching() -> Iterator[None]:
    """Threads that take turns as often as the interpreter can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def write_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], ModuleType]]:
    """Writes a module of this dotted name and imports it; it is gone afterwards."""
    monkeypatch.syspath_prepend(str(tmp_path))
    made = []

    def write(name: str, text: str) -> ModuleType:
        path = tmp_path.joinpath(*name.split(".")).with_suffix(".py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        made.append(name)
        importlib.invalidate_caches()
        return importlib.import_module(name)

    yield write
    for name in made:
        sys.modules.pop(name, None)
