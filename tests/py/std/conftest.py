"""Fixtures of the library's tests."""

import pytest

import vyre
from conftest import name_of

_DEVICES = [device for device in vyre.devices() if device.usable]


@pytest.fixture(
    params=[
        pytest.param({"backend": "reference"}, id="reference"),
        pytest.param({"backend": "cpu"}, id="cpu"),
        *(
            pytest.param({"backend": each.backend, "device": each.index}, id=name_of(each), marks=pytest.mark.slow)
            for each in _DEVICES
        ),
    ]
)
def slow_target(request: pytest.FixtureRequest) -> dict[str, object]:
    """As ``target``, with the devices in the slow suite: for kernels whose compilation takes a second there."""
    return dict(request.param)
