"""The compaction of 32-bit elements by vectors of four, for arrays of many tiles.

Neighbours load neighbouring vectors and words of the mask, before they know where the elements go. The selected
elements of a tile are moved together in workgroup memory and stored next to each other.
"""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
import functools
from typing import Any

import vyre
from vyre import DataType, In, Out, u8, u32, vec4u32
from vyre.std._mask_bits import bits_of_four, rest_bits
from vyre.std._radix import sum_before

__all__ = ["TILE", "count_many", "move_vectors"]

THREADS = 256
TILE = 4 * THREADS  # a vector for each invocation; tiles of two and four take longer on an NVIDIA H200
_GROUP = 32  # invocations that count a tile
_TILES = 8  # tiles that a workgroup counts


@functools.cache
def count_many(mask: DataType) -> Any:
    """The kernel that counts the selected elements of each tile."""
    load = u32 if mask is u8 else vec4u32
    words_of_tile = TILE // 4

    @vyre.kernel(workgroup_size=_GROUP * _TILES)
    def count_tiles(words: In[load], rest: In[mask], counts: Out[u32]) -> None:
        sums = vyre.shared(u32, _TILES)
        t = vyre.lid(0)
        group = t // _GROUP
        tile = vyre.wid(0) * _TILES + group
        selected = vyre.u32(0)
        at = [tile * words_of_tile + t % _GROUP + _GROUP * k for k in vyre.unroll(range(words_of_tile // _GROUP))]
        loaded = [words[i] for i in at]
        for k in vyre.unroll(range(words_of_tile // _GROUP)):
            selected += vyre.popcount(bits_of_four(loaded[k], mask))
            if at[k] == len(words):
                selected += vyre.popcount(rest_bits(rest))
        sums.atomic_add(group, selected)
        vyre.barrier()
        if t < _TILES:
            counts[vyre.wid(0) * _TILES + t] = sums[t]

    return count_tiles


@functools.cache
def move_vectors(element: DataType, mask: DataType) -> Any:
    """The kernel that moves the selected elements; `before` has those up to the end of each tile. Zeros follow."""
    load = u32 if mask is u8 else vec4u32

    @vyre.kernel(workgroup_size=THREADS)
    def move_tiles(
        quads: In[vec4u32],
        x: In[element],
        words: In[load],
        rest: In[mask],
        before: In[u32],
        y: Out[element],
        count: Out[u32],
    ) -> None:
        t, tile = vyre.lid(0), vyre.wid(0)
        # Elements that are not selected go to the end, where nothing reads them.
        held = vyre.shared(u32, TILE + THREADS)
        sums = vyre.shared(u32, 2 * THREADS)
        at = vyre.gid(0)
        word = words[at]
        four = quads[at]
        lanes = [four.x, four.y, four.z, four.w]
        bits = bits_of_four(word, mask)
        if at == len(words):
            bits |= rest_bits(rest)
            for j in vyre.unroll(range(3)):
                lanes[j] = vyre.u32(x[4 * at + j])
        rank = sum_before(sums, vyre.popcount(bits), THREADS)
        for j in vyre.unroll(range(4)):
            one = bits >> j & 1
            held[(rank & (TILE - 1)) if one else TILE + t] = lanes[j]
            rank += one
        if t == THREADS - 1:
            sums[0] = rank
        vyre.barrier()
        total = sums[0]
        everything = before[len(before) - 1]
        place = before[tile] - total
        if tile == 0 and t == 0:
            count[0] = everything
        behind = everything + (tile * TILE - place) - total
        for j in vyre.unroll(range(4)):
            k = t + THREADS * j
            value = element(held[k] if k < total else 0)
            y[vyre.select(k < total, place, behind) + k] = value

    return move_tiles
