"""Reductions, scans, selections, histograms and sets, beside CuPy where a GPU has it.

Amounts are bytes that are read and written at least; searches and sets count elements.
"""

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
    yield "max", lambda: std.max(x), 4 * size, y.max
    yield "reduce xor", lambda: std.reduce(x, "xor"), 4 * size, _of_numpy(y, lambda: np.bitwise_xor.reduce(y))
    none, nothing = vyre.zeros(size, **where), _numpy_of(y).zeros(size, np.uint32)
    ones, every = vyre.array(np.ones(size, np.uint32), **where), _numpy_of(y).ones(size, np.uint32)
    yield "any of zeros", lambda: std.any(none), 4 * size, nothing.any
    yield "all of ones", lambda: std.all(ones), 4 * size, every.all
    yield "argmax", lambda: std.argmax(x), 4 * size, y.argmax
    yield "argmin", lambda: std.argmin(x), 4 * size, y.argmin
    yield "cumsum", lambda: std.cumsum(x), 12 * size, lambda: y.cumsum(dtype=np.uint32)
    yield "scan max", lambda: std.scan(x, "max"), 12 * size, _of_numpy(y, lambda: np.maximum.accumulate(y))
    yield from selections(host, x, y, where)
    yield from counts(host, x, y, where)
    yield from indexed(host, x, y, where)
    yield from sorted_sets(host, y, where)


def selections(host: np.ndarray, x: vyre.Array, y: Any, where: dict[str, Any]) -> Iterator[tuple[str, Any, float, Any]]:
    """Half of the elements are selected; compact writes zeros behind them."""
    size, chosen = len(host), host >> 31
    peer = _numpy_of(y)
    half = y >> 31 != 0
    masks = {"u8": vyre.array(chosen.astype(np.uint8), **where), "u32": vyre.array(chosen, **where)}
    for name, mask in masks.items():
        moved = 8 * size + 2 * mask.nbytes
        yield f"compact by {name}", lambda mask=mask: std.compact(x, mask), moved, lambda: y[half]
    both = lambda: peer.concatenate([y[half], y[~half]])  # noqa: E731
    yield "partition by u8", lambda: std.partition(x, masks["u8"]), 10 * size, both
    yield "nonzero of u8", lambda: std.nonzero(masks["u8"]), 6 * size, lambda: peer.nonzero(half)
    for length in (16, 1024, size // 4):
        begins = np.arange(0, size + 1, length, dtype=np.uint32)
        offsets = vyre.array(begins, **where)
        yield (
            f"segmented_reduce, sums of segments of {length}",
            lambda offsets=offsets: std.segmented_reduce(x, offsets, "add"),
            4 * size,
            _of_numpy(y, lambda begins=begins: np.add.reduceat(y, begins[:-1])),
        )
        yield (
            f"segmented_scan, segments of {length}",
            lambda offsets=offsets: std.segmented_scan(x, offsets, "add"),
            12 * size,
            None,
        )


def counts(host: np.ndarray, x: vyre.Array, y: Any, where: dict[str, Any]) -> Iterator[tuple[str, Any, float, Any]]:
    size = len(host)
    peer = _numpy_of(y)
    for bins in (16, 256, 1000, 3072, 65536):
        theirs = lambda bins=bins: peer.histogram(y, bins, (0, 2**32))  # noqa: E731
        yield f"histogram of {bins} bins", lambda bins=bins: std.histogram(x, bins), 4 * size, theirs
    equal = vyre.zeros(size, **where)
    yield "histogram of 256 bins, equal elements", lambda: std.histogram(equal, 256), 4 * size, None
    octets, of_peer = x.view(vyre.u8), y.view(np.uint8)
    yield "histogram of bytes", lambda: std.histogram(octets, 256, 0, 256), 4 * size, None
    if size <= 1 << 24:
        yield "bincount of bytes", lambda: std.bincount(octets), 4 * size, lambda: _numpy_of(of_peer).bincount(of_peer)


def indexed(host: np.ndarray, x: vyre.Array, y: Any, where: dict[str, Any]) -> Iterator[tuple[str, Any, float, Any]]:
    size = len(host)
    places = host % np.uint32(size)
    index = vyre.array(places, **where)
    of_peer = _numpy_of(y).asarray(places)
    out = vyre.zeros(size, **where)
    yield "gather", lambda: std.gather(x, index), 12 * size, lambda: y[of_peer]
    to = _numpy_of(y).zeros(size, np.uint32)
    yield "scatter", lambda: std.scatter(out, index, x), 12 * size, lambda: to.__setitem__(of_peer, y)
    added = _numpy_of(y).add.at
    yield "scatter_add", lambda: std.scatter_add(out, index, x), 12 * size, lambda: added(to, of_peer, y)


def sorted_sets(host: np.ndarray, y: Any, where: dict[str, Any]) -> Iterator[tuple[str, Any, float, Any]]:
    size = len(host) // 4
    peer = _numpy_of(y)
    first, second = (np.sort(part) for part in (host[:size], host[size : 2 * size]))
    a, b = (vyre.array(part, **where) for part in (first, second))
    v, v_of_peer, a_of_peer = vyre.array(host[:size], **where), peer.asarray(host[:size]), peer.asarray(first)
    yield "searchsorted", lambda: std.searchsorted(a, v), size, lambda: peer.searchsorted(a_of_peer, v_of_peer)
    b_of_peer = peer.asarray(second)
    for name in ("intersect1d", "union1d", "setdiff1d"):
        ours, theirs = getattr(std, name), getattr(peer, name)
        yield name, lambda ours=ours: ours(a, b), 2 * size, lambda theirs=theirs: theirs(a_of_peer, b_of_peer)
    yield "unique", lambda: std.unique(v), size, lambda: peer.unique(v_of_peer)
    whole = lambda: peer.unique(v_of_peer, True, True, True)  # noqa: E731
    yield "unique with all", lambda: std.unique(v, True, True, True), size, whole


def _of_numpy(array: Any, call: Any) -> Any:
    """A call that only numpy has."""
    return call if isinstance(array, np.ndarray) else None


def _numpy_of(array: Any) -> Any:
    """The module whose array it is: numpy, or CuPy."""
    if isinstance(array, np.ndarray):
        return np
    import cupy

    return cupy
