"""The compaction of 32-bit elements by vectors of four, for arrays of many tiles.

Neighbours load neighbouring vectors and words of the mask, before they know where the elements go. The selected
elements of a tile are moved together in workgroup memory and stored next to each other.
"""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
import functools
from typing import Any

import vyre
from vyre import DataType, In, Out, u8, u32, vec4u32
from vyre.std._scanning.mask_bits import bits_of_four, rest_bits

__all__ = ["TILE", "move_vectors"]

THREADS = 128  # 64 and 256 take longer on an NVIDIA H200
TILE = 4 * THREADS  # a vector for each invocation; tiles of two and four take longer there, too


def _rank(marks: Any, ahead: Any, bits: Any) -> Any:
    """How many elements are selected in front of this invocation's four, whose selected ones are `bits`.

    A word of `marks` has the bits of eight invocations, and `ahead` what is selected in front of each word.
    """
    t = vyre.lid(0)
    word, bit = t // 8, 4 * (t % 8)
    marks.atomic_or_(word, bits << bit)
    vyre.barrier()
    if t < THREADS // 8:
        selected = vyre.u32(0)
        for k in vyre.unroll(range(THREADS // 8 - 1)):
            selected += vyre.select(k < t, vyre.popcount(marks[k]), vyre.u32(0))
        ahead[t] = selected
    vyre.barrier()
    return ahead[word] + vyre.popcount(marks[word] & (vyre.u32(1) << bit) - 1)


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
        marks, ahead = vyre.shared(u32, THREADS // 8), vyre.shared(u32, THREADS // 8)
        end = vyre.shared(u32, 1)
        at = vyre.gid(0)
        word = words[at]
        four = quads[at]
        lanes = [four.x, four.y, four.z, four.w]
        bits = bits_of_four(word, mask)
        if at == len(words):
            bits |= rest_bits(rest)
            for j in vyre.unroll(range(3)):
                lanes[j] = vyre.u32(x[4 * at + j])
        rank = _rank(marks, ahead, bits)
        for j in vyre.unroll(range(4)):
            one = bits >> j & 1
            held[(rank & (TILE - 1)) if one else TILE + t] = lanes[j]
            rank += one
        if t == THREADS - 1:
            end[0] = rank
        vyre.barrier()
        total = end[0]
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
