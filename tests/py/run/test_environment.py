"""The set-up gives the other tests two software drivers of Vulkan, so that a driver's own mistake shows."""

import os

import pytest

import vyre


@pytest.mark.skipif(
    bool(os.environ.get("VK_DRIVER_FILES") or os.environ.get("VK_ICD_FILENAMES")),
    reason="the drivers are chosen by hand",
)
@pytest.mark.skipif(os.environ.get("VYRE_ALLOW_NO_VULKAN") == "1", reason="VYRE_ALLOW_NO_VULKAN=1")
@pytest.mark.parametrize("driver", ["llvmpipe", "SwiftShader"])
def test_software_driver_is_at_hand(driver):
    names = [device.name for device in vyre.devices()]
    assert any(driver in name for name in names), (
        f"{driver} is not among {names}. Fix: run `make test`, or source .ci/env first."
    )
