"""Sorts, selections, matrices and alignments, for race.py.

Sorts count elements, transposes bytes (read and written), products multiplications, and alignments cells of the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import std, u32
from vyre.std._matmul import Tiling, multiplier
from vyre.std._sorter import sorter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Case = tuple[str, Callable[[], Any], float, Callable[[], Any] | None]

_LARGE = 1 << 26  # elements for which other tiles are tried, on a GPU of 48 KiB of workgroup memory
TILES = (1024, 4096)
TILINGS = (
    Tiling(64, 64, 8, 8, 4),
    Tiling(64, 64, 8, 8, 8),
    Tiling(64, 64, 16, 4, 4),
    Tiling(128, 64, 8, 8, 4),
    Tiling(128, 128, 8, 8, 8),
    Tiling(128, 128, 16, 8, 8),
)


def cases(size: int, **where: Any) -> Iterator[Case]:
    peer = _peer(where)
    rng = np.random.default_rng(1)
    words = rng.integers(0, 2**32, size, dtype=np.uint32)
    x, of_peer = vyre.array(words, **where), peer.array(words)
    yield f"sort of {size} u32", lambda: std.sort(x), size, lambda: peer.sort(of_peer)
    half, half_of_peer = x[: size // 2], of_peer[: size // 2]
    yield (
        f"sort_pairs of {size // 2} u32",
        lambda: std.sort_pairs(half, half),
        size // 2,
        _sort_pairs(half_of_peer, peer),
    )
    yield f"argsort of {size // 2} u32", lambda: std.argsort(half), size // 2, lambda: peer.argsort(half_of_peer)
    wide = x.view(vyre.u64)
    yield f"sort of {size // 2} u64", lambda: std.sort(wide), size // 2, lambda: peer.sort(of_peer.view(np.uint64))
    equal, equal_of_peer = vyre.zeros(size, **where), peer.zeros(size, np.uint32)
    yield f"sort of {size} equal u32", lambda: std.sort(equal), size, lambda: peer.sort(equal_of_peer)
    for n in (16, 512, 4096, min(65536, size)):
        few, few_of_peer = x[:n], of_peer[:n]
        yield f"sort of {n} u32", lambda few=few: std.sort(few), n, lambda few=few_of_peer: peer.sort(few)
    yield (
        f"topk of 100 of {size} u32",
        lambda: std.topk(x, 100),
        size,
        lambda: peer.partition(of_peer, size - 100),
    )
    side = int(size**0.5) // 2 * 2
    for given in (words[: side * side], words.view(np.uint8)[: side * side]):
        square = given.reshape(side, side)
        matrix, matrix_of_peer = vyre.array(square, **where), peer.array(square)
        yield (
            f"transpose of {side} x {side} {given.dtype}",
            lambda matrix=matrix: std.transpose(matrix),
            2 * given.nbytes,
            lambda matrix=matrix_of_peer: peer.ascontiguousarray(matrix.T),
        )
    for n in sorted({min(1024, side // 4), min(4096, side // 4)}):
        a, a_of_peer = x[: n * n].reshape(n, n), of_peer[: n * n].reshape(n, n)
        product = (lambda a=a_of_peer: a @ a) if n <= 1024 else None
        yield f"matmul of {n} x {n} u32", lambda a=a: std.matmul(a, a), n**3, product
        narrow = vyre.array(words[: n * n].astype(np.uint8).reshape(n, n), **where)
        yield f"matmul of {n} x {n} u8", lambda a=narrow: std.matmul(a, a), n**3, None
    length = min(size // 16, 100_000)
    strings = [vyre.array(rng.integers(0, 4, length, dtype=np.uint8), **where) for _ in range(2)]
    yield f"edit_distance of {length} bytes", lambda: std.edit_distance(*strings), length**2, _edit_distance(strings)
    yield (
        f"smith_waterman of {length // 4} bytes",
        lambda: std.smith_waterman(*(s[: length // 4] for s in strings)),
        (length // 4) ** 2,
        None,
    )
    if size >= _LARGE:
        yield from tilings(x)


def _sort_pairs(keys: Any, peer: Any) -> Callable[[], Any]:
    """Keys as values of their own, which the peer sorts by their positions."""

    def call() -> Any:
        order = peer.argsort(keys, **({"kind": "stable"} if peer is np else {}))
        return keys[order], keys[order]

    return call


def _edit_distance(strings: list[vyre.Array]) -> Callable[[], Any] | None:
    """The distance by rapidfuzz, which takes 64 cells of the table in one step."""
    try:
        from rapidfuzz.distance import Levenshtein
    except ImportError:
        return None
    a, b = (each.numpy().tobytes() for each in strings)
    return lambda: Levenshtein.distance(a, b)


def tilings(x: vyre.Array) -> Iterator[Case]:
    """The same sort and product by other tiles, to choose them by."""
    size, half = len(x), x[: len(x) // 2]
    for tile in TILES:
        yield f"sort, tiles of {tile}", lambda tile=tile: sorter(u32, tile=tile)(x, 0), size, None
        pairs = sorter(u32, u32, tile=tile)
        yield f"sort of pairs, tiles of {tile}", lambda pairs=pairs: pairs(half, half, 0), size // 2, None
    n = min(1024, int(size**0.5) // 4)
    a = x[: n * n].reshape(n, n)
    for tiling in TILINGS:
        product = multiplier(u32, tiling, tiling)
        yield f"matmul of {n} x {n}, {tuple(tiling)}", lambda product=product: product(a, a), n**3, None


def _peer(where: dict[str, Any]) -> Any:
    """CuPy on a GPU, where it is installed; else numpy."""
    if where.get("backend") in (None, "vulkan", "cuda"):
        try:
            import cupy
        except ImportError:
            return np
        return cupy
    return np
