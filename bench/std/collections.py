"""Reductions and scans, beside CuPy where a GPU has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import std

if TYPE_CHECKING:
    from collections.abc import Iterator


def cases(size: int, **where: Any) -> Iterator[tuple[str, Any, float, Any]]:
    host = np.random.default_rng(1).integers(0, 2**32, size, dtype=np.uint32)
    x = vyre.array(host, **where)
    try:
        import cupy

        y = cupy.asarray(host)
    except ImportError:
        y = host
    yield "sum", lambda: std.sum(x), 4 * size, lambda: y.sum(dtype=np.uint32)
    yield "min", lambda: std.min(x), 4 * size, y.min
    yield "reduce xor", lambda: std.reduce(x, "xor"), 4 * size, None
    yield "argmax", lambda: std.argmax(x), 4 * size, y.argmax
    yield "cumsum", lambda: std.cumsum(x), 12 * size, lambda: y.cumsum(dtype=np.uint32)
    yield "scan max", lambda: std.scan(x, "max"), 12 * size, None
