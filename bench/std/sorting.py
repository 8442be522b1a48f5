"""Sorts, selections, matrices and alignments, for race.py.

Sorts count elements, transposes bytes (read and written), products multiplications, and alignments cells of the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import std, u32
from vyre.std._graphs.matmul import Tiling, multiplier
from vyre.std._sorting.sorter import sorter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from std_place import Place

    Case = tuple[str, Callable[[], Any], float, Callable[[], Any] | None]

_MATCH, _MISMATCH, _GAP = 2, -1, -1  # the costs of vyre.std.smith_waterman
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


def cases(size: int, place: Place) -> Iterator[Case]:
    rng = np.random.default_rng(1)
    words = rng.integers(0, 2**32, size, dtype=np.uint32)
    half, wide = words[: size // 2], words.view(np.uint64)
    sort = lambda module, y: module.sort(y)  # noqa: E731
    given = place.array(half)
    yield f"sort of {size} u32", place.call(std.sort, place.array(words)), size, place.peer(sort, words)
    pairs = place.peer(_sort_pairs, half)
    yield f"sort_pairs of {size // 2} u32", place.call(std.sort_pairs, given, given), size // 2, pairs
    order = place.peer(lambda module, y: module.argsort(y), half)
    yield f"argsort of {size // 2} u32", place.call(std.argsort, given), size // 2, order
    yield f"sort of {size // 2} u64", place.call(std.sort, place.array(wide)), size // 2, place.peer(sort, wide)
    equal = np.zeros(size, np.uint32)
    yield f"sort of {size} equal u32", place.call(std.sort, place.array(equal)), size, place.peer(sort, equal)
    for n in (16, 512, 4096, min(65536, size)):
        yield f"sort of {n} u32", place.call(std.sort, place.array(words[:n])), n, place.peer(sort, words[:n])
    most = place.peer(lambda module, y: module.partition(y, size - 100)[-100:], words)
    yield f"topk of 100 of {size} u32", place.call(std.topk, place.array(words), 100), size, most
    yield from of_matrices(words, place)
    yield from alignments(min(size // 16, 100_000), rng, place)
    if size >= _LARGE and not place.whole:
        yield from tilings(vyre.array(words, **place.where))


def of_matrices(words: np.ndarray, place: Place) -> Iterator[Case]:
    side = int(len(words) ** 0.5) // 2 * 2
    for given in (words[: side * side], words.view(np.uint8)[: side * side]):
        square = given.reshape(side, side)
        yield (
            f"transpose of {side} x {side} {given.dtype}",
            place.call(std.transpose, place.array(square)),
            2 * given.nbytes,
            place.peer(lambda module, y: module.ascontiguousarray(y.T), square),
        )
    for n in sorted({min(1024, side // 4), min(4096, side // 4)}):
        square = words[: n * n].reshape(n, n)
        a, narrow = place.array(square), place.array(square.astype(np.uint8))
        product = place.peer(lambda _, y: y @ y, square) if n <= 1024 else None
        yield f"matmul of {n} x {n} u32", place.call(std.matmul, a, a), n**3, product
        yield f"matmul of {n} x {n} u8", place.call(std.matmul, narrow, narrow), n**3, None


def alignments(length: int, rng: np.random.Generator, place: Place) -> Iterator[Case]:
    a, b = (rng.integers(0, 4, length, dtype=np.uint8) for _ in range(2))
    ours = place.call(std.edit_distance, place.array(a), place.array(b))
    yield f"edit_distance of {length} bytes", ours, length**2, _edit_distance(a.tobytes(), b.tobytes())
    a, b = a[: length // 4], b[: length // 4]
    ours = place.call(std.smith_waterman, place.array(a), place.array(b))
    yield f"smith_waterman of {len(a)} bytes", ours, len(a) ** 2, _smith_waterman(a, b)


def _sort_pairs(module: Any, keys: Any) -> Any:
    """Keys as values of their own, which the peer sorts by their positions."""
    order = module.argsort(keys, **({"kind": "stable"} if module is np else {}))
    return keys[order], keys[order]


def _edit_distance(a: bytes, b: bytes) -> Callable[[], Any] | None:
    """The distance by rapidfuzz, which takes 64 cells of the table in one step."""
    try:
        from rapidfuzz.distance import Levenshtein
    except ImportError:
        return None
    return lambda: Levenshtein.distance(a, b)


def _smith_waterman(a: np.ndarray, b: np.ndarray) -> Callable[[], Any] | None:
    """The score by parasail, with vectors of the processor and the costs that vyre.std has by default."""
    try:
        import parasail
    except ImportError:
        return None
    letters = "ACGT"
    first, second = ("".join(letters[each] for each in given) for given in (a, b))
    costs = parasail.matrix_create(letters, _MATCH, _MISMATCH)
    # Its striped functions give smaller scores where opening a gap costs what extending it does.
    return lambda: parasail.sw_scan_sat(first, second, -_GAP, -_GAP, costs).score


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
