"""What calls choose by the backend that they run on: one row a backend, and for each choice what was measured.

A choice changes which kernels run, never a result. README of bench/ has the figures in full.
"""

from __future__ import annotations

from typing import NamedTuple

from vyre import _core

__all__ = ["ROUTES", "Route", "is_hardware"]


class Route(NamedTuple):
    """The choices for a backend.

    Attributes:
        products: make some sums of SHA-256 and BLAKE3 by products with a number that is one. An NVIDIA GPU adds in the
            units that also shift and do logic, which a hash keeps at work, and multiplies in others: on an H100 this
            took 2,282 instructions of the first units a SHA-256 of 64 bytes to 1,979. A processor only has more to do.
        exchange: let keys with values or positions reach their places by way of workgroup memory. By CUDA an H100 sorts
            2^26 pairs of u32 in 3.34 ms so and in 3.61 ms otherwise; processors take up to 6 % longer.
        filters: look for short patterns behind a filter, at all places at once. That suits devices that do the same for
            many places; a processor is ahead with one walk along the automaton.
        quads: load four words at a time for a CRC, on devices that are hardware. A processor loads single words as
            fast, and so does a software GPU.
        shares_by_cores: let as many workgroups share one long message as there are processors, because combining what
            they keep costs each as much as some hundred words. A GPU takes as many invocations as the message has work.
        turns: let an invocation of a cipher make several units of the keystream one after the other. By CUDA an H200
            encrypts 1 GiB with ChaCha20 in 0.70 ms so and in 0.76 ms otherwise; a processor takes up to 1.8 times as
            long, because neighbouring invocations no longer have neighbouring units.
    """

    products: bool
    exchange: bool
    filters: bool
    quads: bool
    shares_by_cores: bool
    turns: bool


_PROCESSOR = Route(products=False, exchange=False, filters=False, quads=False, shares_by_cores=True, turns=False)
_GPU = Route(products=True, exchange=False, filters=True, quads=True, shares_by_cores=False, turns=True)

ROUTES = {
    "reference": _PROCESSOR,
    "cpu": _PROCESSOR,
    "vulkan": _GPU,
    "cuda": _GPU._replace(exchange=True),
}


def is_hardware(backend: str, device: int) -> bool:
    """Whether a device is no software on the processor."""
    return _core._devices(backend)[device]["kind"] not in ("software gpu", "cpu")
