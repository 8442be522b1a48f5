"""The fixture ``vyre_backend``: a test that asks for it runs on each backend, or where ``--vyre-devices`` says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

FIXTURE = "vyre_backend"


@pytest.fixture
def vyre_backend(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    """A backend that works here, as the arguments ``backend`` and ``device`` of a call: ``kernel(a, **vyre_backend)``.

    It is the default of the test too (``vyre.default_device``), so calls and arrays that name no place are there. The
    test runs once for each backend, or for what ``--vyre-devices`` names.
    """
    import vyre

    place = {"backend": request.param, "device": None} if isinstance(request.param, str) else dict(request.param)
    with vyre.default_device(**place):
        yield place


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if FIXTURE not in metafunc.fixturenames or _is_given(metafunc):
        return
    named = _places(metafunc.config.getoption("--vyre-devices"))
    metafunc.parametrize(FIXTURE, list(named.values()), ids=list(named), indirect=True)


def _is_given(metafunc: pytest.Metafunc) -> bool:
    """Whether the test names its backends itself, by ``parametrize``."""
    for marker in metafunc.definition.iter_markers("parametrize"):
        names = marker.args[0] if marker.args else marker.kwargs["argnames"]
        if FIXTURE in (names.replace(" ", "").split(",") if isinstance(names, str) else names):
            return True
    return False


def _places(option: str | None) -> dict[str, dict[str, Any]]:
    """Return the values of the fixture, by the names that tests show.

    Raises: pytest.UsageError for what is not here.
    """
    import vyre

    there = vyre.backends()
    if option is None:
        return {name: {"backend": name, "device": None} for name in there}
    devices = vyre.devices()
    asked = [each.strip() for each in option.split(",")]
    if asked == ["all"]:
        # A backend with devices is named by them.
        usable = [device for device in devices if device.usable]
        owners = {device.backend for device in usable}
        asked = [*(name for name in there if name not in owners), *(str(device.index) for device in usable)]
    found: dict[str, dict[str, Any]] = {}
    for name in asked:
        if name.isdecimal() and int(name) < len(devices):
            device = devices[int(name)]
            if not device.usable:
                raise _refused(f"device {name} ({device.name}) is not usable", " ".join(device.reasons))
            number = sum(each.backend == device.backend for each in devices[: device.index])
            shown = f"{device.index}-{device.name.split('(')[0].strip().replace(' ', '-')}"
            found[shown] = {"backend": device.backend, "device": number}
        elif name in there:
            found[name] = {"backend": name, "device": None}
        elif name in there.unavailable():
            raise _refused(f"backend `{name}` does not work here", " ".join(there.unavailable()[name]))
        else:
            here = ", ".join([*there, *(str(device.index) for device in devices)])
            raise _refused(f"there is no backend or device `{name}`", f"Fix: write all, or some of {here}.")
    return found


def _refused(problem: str, fix: str) -> pytest.UsageError:
    return pytest.UsageError(f"--vyre-devices: {problem}{'. ' if fix.startswith('Fix: ') else ': '}{fix}")
