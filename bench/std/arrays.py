"""Reductions, scans, selections, histograms and sets, beside CuPy where a GPU has it.

Amounts are bytes that are read and written at least; searches and sets count elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import std

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from std_place import Place

    Case = tuple[str, Callable[[], Any], float, Callable[[], Any] | None]


def cases(size: int, place: Place) -> Iterator[Case]:
    host = np.random.default_rng(1).integers(0, 2**32, size, dtype=np.uint32)
    x, peer = place.array(host), place.peer
    yield "sum", place.call(std.sum, x), 4 * size, peer(lambda _, y: y.sum(dtype=np.uint32), host)
    yield "min", place.call(std.min, x), 4 * size, peer(lambda _, y: y.min(), host)
    yield "max", place.call(std.max, x), 4 * size, peer(lambda _, y: y.max(), host)
    folded = place.peer_of_numpy(lambda np, y: np.bitwise_xor.reduce(y), host)
    yield "reduce xor", place.call(std.reduce, x, "xor"), 4 * size, folded
    zeros, ones = np.zeros(size, np.uint32), np.ones(size, np.uint32)
    none, every = place.array(zeros), place.array(ones)
    yield "any of zeros", place.call(std.any, none), 4 * size, peer(lambda _, y: y.any(), zeros)
    yield "all of ones", place.call(std.all, every), 4 * size, peer(lambda _, y: y.all(), ones)
    yield "argmax", place.call(std.argmax, x), 4 * size, peer(lambda _, y: y.argmax(), host)
    yield "argmin", place.call(std.argmin, x), 4 * size, peer(lambda _, y: y.argmin(), host)
    yield "cumsum", place.call(std.cumsum, x), 12 * size, peer(lambda _, y: y.cumsum(dtype=np.uint32), host)
    most = place.peer_of_numpy(lambda np, y: np.maximum.accumulate(y), host)
    yield "scan max", place.call(std.scan, x, "max"), 12 * size, most
    yield from selections(host, x, place)
    yield from moved(host, x, place)
    yield from segments(host, x, place)
    yield from counts(host, x, place)
    yield from indexed(host, x, place)
    yield from sorted_sets(host, place)


def selections(host: np.ndarray, x: Any, place: Place) -> Iterator[Case]:
    """Half of the elements are selected; compact writes zeros behind them."""
    size, chosen = len(host), host >> 31
    half = chosen != 0
    masks = {"u8": place.array(chosen.astype(np.uint8)), "u32": place.array(chosen)}
    for name, mask in masks.items():
        moved = 8 * size + 2 * mask.nbytes
        yield (
            f"compact by {name}",
            place.call(std.compact, x, mask),
            moved,
            place.peer(lambda _, y, m: y[m], host, half),
        )
    both = place.peer(lambda module, y, m: module.concatenate([y[m], y[~m]]), host, half)
    yield "partition by u8", place.call(std.partition, x, masks["u8"]), 10 * size, both
    places = place.peer(lambda module, m: module.nonzero(m), half)
    yield "nonzero of u8", place.call(std.nonzero, masks["u8"]), 6 * size, places


def moved(host: np.ndarray, x: Any, place: Place) -> Iterator[Case]:
    """Elements along an axis, and one by one."""
    size, chosen = len(host), host >> 31 != 0
    half, mask = place.array(host[: size // 2]), place.array(chosen)
    for name, case, given, moves in (
        ("diff", (), host, 12),
        ("flip", (), host, 8),
        ("roll", (5,), host, 8),
        ("repeat", (2,), host[: size // 2], 6),
        ("clip", (1 << 30, 3 << 30), host, 8),
    ):
        ours = place.call(getattr(std, name), x if given is host else half, *case)
        theirs = place.peer(lambda module, y, name=name, case=case: getattr(module, name)(y, *case), given)
        yield name, ours, moves * size, theirs
    joined = place.peer(lambda module, y: module.concatenate([y, y]), host[: size // 2])
    yield "concatenate", place.call(lambda a, **at: std.concatenate([a, a], **at), half), 6 * size, joined
    either = place.peer(lambda module, m, y: module.where(m, y, np.uint32(5)), chosen, host)
    yield "where", place.call(std.where, mask, x, 5), 12 * size, either


def segments(host: np.ndarray, x: Any, place: Place) -> Iterator[Case]:
    size = len(host)
    for length in (16, 1024, size // 4):
        begins = np.arange(0, size + 1, length, dtype=np.uint32)
        offsets = place.array(begins)
        yield (
            f"segmented_reduce, sums of segments of {length}",
            place.call(std.segmented_reduce, x, offsets, "add"),
            4 * size,
            place.peer_of_numpy(lambda np, y, b: np.add.reduceat(y, b[:-1]), host, begins),
        )
        first_of = np.repeat(begins[:-1], length)  # for each element the first one of its segment
        yield (
            f"segmented_scan, segments of {length}",
            place.call(std.segmented_scan, x, offsets, "add"),
            12 * size,
            place.peer(_scanned, host[: len(first_of)], first_of),
        )


def _scanned(_: Any, y: Any, first_of: Any) -> Any:
    """Sums of segments by those of the whole, as neither numpy nor CuPy has a scan of segments."""
    sums = y.cumsum(dtype=np.uint32)
    return sums - (sums - y)[first_of]


def counts(host: np.ndarray, x: Any, place: Place) -> Iterator[Case]:
    size = len(host)
    for bins in (16, 256, 1000, 3072, 65536):
        theirs = place.peer(lambda module, y, bins=bins: module.histogram(y, bins, (0, 2**32))[0], host)
        yield f"histogram of {bins} bins", place.call(std.histogram, x, bins), 4 * size, theirs
    equal = place.array(np.zeros(size, np.uint32))
    yield "histogram of 256 bins, equal elements", place.call(std.histogram, equal, 256), 4 * size, None
    octets = host.view(np.uint8)
    given = place.array(octets)
    yield "histogram of bytes", place.call(std.histogram, given, 256, 0, 256), 4 * size, None
    if size <= 1 << 24:
        counted = place.peer(lambda module, y: module.bincount(y), octets)
        yield "bincount of bytes", place.call(std.bincount, given), 4 * size, counted


def indexed(host: np.ndarray, x: Any, place: Place) -> Iterator[Case]:
    size = len(host)
    places, zeros = host % np.uint32(size), np.zeros(size, np.uint32)
    index, out = place.array(places), place.array(zeros.copy())
    yield "gather", place.call(std.gather, x, index), 12 * size, place.peer(lambda _, y, i: y[i], host, places)
    yield "scatter", place.call(std.scatter, out, index, x), 12 * size, place.peer(_scatter, zeros, places, host)
    added = place.peer(_scatter_add, zeros, places, host)
    yield "scatter_add", place.call(std.scatter_add, out, index, x), 12 * size, added


def _scatter(_: Any, out: Any, index: Any, values: Any) -> Any:
    out[index] = values
    return out


def _scatter_add(module: Any, out: Any, index: Any, values: Any) -> Any:
    module.add.at(out, index, values)
    return out


def sorted_sets(host: np.ndarray, place: Place) -> Iterator[Case]:
    size = len(host) // 4
    values = host[:size]
    first, second = np.sort(values), np.sort(host[size : 2 * size])
    a, b, v = (place.array(each) for each in (first, second, values))
    found = place.peer(lambda module, a, v: module.searchsorted(a, v), first, values)
    yield "searchsorted", place.call(std.searchsorted, a, v), size, found
    for name in ("intersect1d", "union1d", "setdiff1d"):
        theirs = place.peer(lambda module, a, b, name=name: getattr(module, name)(a, b), first, second)
        yield name, place.call(getattr(std, name), a, b), 2 * size, theirs
    yield "unique", place.call(std.unique, v), size, place.peer(lambda module, v: module.unique(v), values)
    whole = place.peer(lambda module, v: module.unique(v, True, True, True), values)
    yield "unique with all", place.call(std.unique, v, True, True, True), size, whole
