"""`import vyre` brings in what every program needs, and leaves the rest until it is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import vyre
from conftest import refused


def in_new_process(text: str) -> str:
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_dir_has_what_users_call_and_nothing_that_vyre_imports_for_itself():
    found = {name for name in dir(vyre) if not name.startswith("_")}
    assert found.isdisjoint({"importlib", "sys", "TYPE_CHECKING", "TYPES", "explain_calls"})
    assert found >= {"abs", "array", "errors", "kernel", "max", "min", "popcount", "rotl", "run", "std"}
    assert found <= {*vyre.__all__, "abs", "errors", "max", "min"}


def test_import_leaves_out_numpy_and_what_looks_for_mistakes():
    loaded = set(in_new_process("import sys, vyre; print(*sys.modules)").split())
    assert "vyre" in loaded
    assert (
        loaded
        & {
            "numpy",
            "json",
            "pathlib",
            "inspect",
            "dataclasses",
            "vyre._devices",
            "vyre._profile",
            "vyre._tools.bisect",
            "vyre._tools.ways",
            "vyre._tools.check",
            "vyre._arrays.replay",
            "vyre._arrays.reports",
        }
        == set()
    )


OWN = (
    *("vyre", "vyre._arrays", "vyre._arrays.array", "vyre._arrays.elementwise", "vyre._base", "vyre._base.calls"),
    *("vyre._base.refused", "vyre._base.taken", "vyre._base.text", "vyre._base.types", "vyre._core", "vyre._default"),
    *("vyre._diagnostics", "vyre._enums", "vyre._run", "vyre.errors", "vyre.ops"),
)
STANDARD = "__future__, atexit, contextvars, enum, importlib, operator, threading, typing"


def test_import_loads_these_modules_and_no_others():
    """What takes time, counted: a module more here is a decision. numpy loads the standard ones too."""
    before = set(in_new_process(f"import sys, {STANDARD}; print(*sys.modules)").split())
    after = set(in_new_process("import sys, vyre; print(*sys.modules)").split())
    assert after - before == set(OWN)


def test_numpy_loads_what_vyre_loads_of_the_standard_library():
    with_numpy = set(in_new_process("import sys, numpy; print(*sys.modules)").split())
    with_both = set(in_new_process("import sys, numpy, vyre; print(*sys.modules)").split())
    small = in_new_process("import sys, __future__, atexit, importlib, threading; print(*sys.modules)")
    assert with_both - with_numpy - set(small.split()) == set(OWN)


@pytest.mark.parametrize(
    ("asked", "more"),
    [
        ("import pytest_vyre", {"pytest_vyre"}),
        # A command loads itself, and lists no other command's modules: the library, the fuzzer, the conformance cases.
        ("import vyre.__main__", set()),
    ],
)
def test_what_many_processes_load_leaves_out_the_rest(asked, more):
    loaded = set(in_new_process(f"import sys; {asked}; print(*sys.modules)").split())
    assert more <= loaded
    heavy = {"numpy", "pytest", "tqdm", "vyre.std", "vyre._procedure", "vyre._kernel", "vyre.fuzz", "vyre.conformance"}
    assert loaded & heavy == set()


@pytest.mark.parametrize("name", vyre.__all__)
def test_every_public_name_is_there_and_listed(name):
    assert getattr(vyre, name) is getattr(vyre, name)
    assert name in dir(vyre)


def test_star_import_brings_the_later_names_too():
    assert in_new_process("from vyre import *; print(check.__name__, bisect.__name__, RaceReport.__name__)") == (
        "check bisect RaceReport\n"
    )


def test_an_unknown_name_says_what_to_write():
    with refused(AttributeError, "module `vyre` has no attribute `nonsense`", "write one of the names in dir(vyre)"):
        vyre.nonsense  # noqa: B018
    with refused(AttributeError, "module `vyre` has no attribute `popcnt`", "write vyre.popcount"):
        vyre.popcnt  # noqa: B018
    assert in_new_process("import vyre\ntry: vyre.fuzz\nexcept AttributeError as error: print(error)") == (
        "module `vyre` has no attribute `fuzz`. Fix: write `import vyre.fuzz` above it.\n"
    )
    with pytest.raises(AttributeError, match=r"^module 'vyre' has no attribute '__nonsense__'$"):
        vyre.__nonsense__  # noqa: B018
