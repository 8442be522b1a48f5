"""How many elements of a mask each tile of it selects.

Neighbours load neighbouring vectors of 16 bytes, several each, so that enough bytes are under way. An invocation keeps
what two tiles select in the halves of one word, and the invocations of a tile add theirs in workgroup memory.
"""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
import functools
from typing import Any

import vyre
from vyre import DataType, In, Out, u8, u32, vec4u32
from vyre.std._scanning.mask_bits import nonzero_bytes, rest_bits

__all__ = ["count_tiles"]

LANES = 256
VECTORS = 4  # of an invocation, a multiple of two
_HALF = 0xFFFF


def _bytes(mask: DataType) -> int:
    return 1 if mask is u8 else 4


def _wide_mask(selected: Any, mask: DataType) -> Any:
    """The whole vectors of a mask of u8 or u32."""
    each = 16 // _bytes(mask)
    return selected[: selected.length // each * each].view(vec4u32)


def _of_vector(vector: Any, mask: DataType) -> Any:
    """How many elements of a vector of the mask are not 0."""
    lanes = [vector.x, vector.y, vector.z, vector.w]
    if mask is u8:
        bits = vyre.u32(0)
        for k in vyre.unroll(range(4)):
            bits |= nonzero_bytes(lanes[k]) >> k
        return vyre.popcount(bits)
    selected = vyre.u32(0)
    for k in vyre.unroll(range(4)):
        selected += vyre.u32(lanes[k] != 0)
    return selected


def _behind(words: Any, first: Any, rest: Any, mask: DataType) -> Any:
    """How many elements behind the last whole vector, which begins at word `first`, are not 0."""
    selected = vyre.popcount(rest_bits(rest))
    if mask is u8:
        for j in vyre.unroll(range(3)):
            selected += vyre.popcount(nonzero_bytes(words[first + j]))
    return selected


@functools.cache
def _counter(mask: DataType, tile: int) -> Any:
    load = u32 if mask is u8 else vec4u32
    of_tile = tile * _bytes(mask) // 16  # vectors
    share, across = max(1, of_tile // LANES), min(of_tile, LANES)  # vectors of an invocation, and invocations
    vectors, tiles = max(VECTORS, share), LANES // across
    rows = vectors // share  # of tiles
    pairs = (rows + 1) // 2

    @vyre.kernel(workgroup_size=LANES)
    def count_of_tiles(wide: In[vec4u32], words: In[load], rest: In[mask], counts: Out[u32]) -> None:
        sums = vyre.shared(u32, pairs * tiles)
        t, w = vyre.lid(0), vyre.wid(0)
        at = [(w * vectors + k) * LANES + t for k in vyre.unroll(range(vectors))]
        loaded = [wide[i] for i in at]
        selected = []
        for k in vyre.unroll(range(vectors)):
            some = _of_vector(loaded[k], mask)
            if at[k] == len(wide):
                some += _behind(words, 4 * at[k], rest, mask)
            selected.append(some << 16 * (k // share % 2))
        for k in vyre.unroll(range(pairs)):
            pair = vyre.u32(0)
            for each in vyre.unroll(selected[2 * share * k : 2 * share * (k + 1)]):
                pair += each
            sums.atomic_add(k * tiles + t // across, pair)
        vyre.barrier()
        if t < rows * tiles:
            row = t // tiles
            counts[w * (rows * tiles) + t] = sums[row // 2 * tiles + t % tiles] >> 16 * (row % 2) & _HALF

    return count_of_tiles


def count_tiles(mask: DataType, tile: int, selected: Any, words: Any, rest: Any) -> Any:
    """Record the count of the selected elements of each tile; gives an array of as many words as there are tiles.

    Args:
        tile: the elements of a tile, a power of two below 2^16, of at least 64 bytes of the mask.
        selected: the mask. `words` are its whole words, or vectors where it is of u32, and `rest` what is behind them.
    """
    tiles = vyre.ceil_div(selected.length, tile)
    counts = vyre.scratch(u32, tiles, name="counts")
    of_group = max(tile, VECTORS * LANES * 16 // _bytes(mask)) // tile
    groups = vyre.ceil_div(tiles, of_group)
    _counter(mask, tile)(_wide_mask(selected, mask), words, rest, counts, workgroups=groups)
    return counts
