"""Fixtures of the library's tests."""

import pytest

import vyre

_VULKAN = [{"backend": "vulkan", "device": device.index} for device in vyre.devices() if device.usable]
_NAMES = [device.name.split("(")[0].strip().replace(" ", "-") for device in vyre.devices() if device.usable]


@pytest.fixture(
    params=[
        pytest.param({"backend": "reference"}, id="reference"),
        pytest.param({"backend": "cpu"}, id="cpu"),
        *(pytest.param(each, id=name, marks=pytest.mark.slow) for each, name in zip(_VULKAN, _NAMES, strict=True)),
    ]
)
def slow_target(request: pytest.FixtureRequest) -> dict[str, object]:
    """As ``target``, with Vulkan's devices in the slow suite: for kernels whose compilation takes a second there."""
    return dict(request.param)
