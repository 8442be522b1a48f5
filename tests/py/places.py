"""The places for arrays on this machine: every backend, and every usable device of the GPUs' backends."""

from __future__ import annotations

import vyre

PLACES: list[tuple[str, int | None]] = [
    ("reference", None),
    ("cpu", None),
    *((device.backend, device.index) for device in vyre.devices() if device.usable),
]


def name_of(place: tuple[str, int | None]) -> str:
    """ "vulkan1", for a test's id."""
    backend, device = place
    return backend if device is None else f"{backend}{device}"
