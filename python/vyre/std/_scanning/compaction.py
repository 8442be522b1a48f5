"""Kernels and procedures that move the selected elements of an array together, in their order.

The selected elements of each tile are counted, the counts are summed, and then each tile moves its elements. A
workgroup lists in workgroup memory which of its elements go where, so that what it stores is next to each other.
"""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
import functools
import math
from typing import Any

import vyre
from vyre import DataType, In, Out, boolean, i32, u8, u32, vec4u32
from vyre._procedure.vouched import vouched
from vyre.std._scanning.mask_bits import bits_of_four, rest_bits
from vyre.std._scanning.mask_counts import count_tiles
from vyre.std._scanning.operators import operator_of
from vyre.std._scanning.reductions import LANES
from vyre.std._scanning.scans import scanner
from vyre.std._scanning.vector_compaction import TILE, move_vectors

__all__ = ["compactor", "row_compactor", "row_taker", "sum_before"]

EACH = 8  # elements of an invocation, a power of two from 4 on: tiles then divide 2^32, and no index wraps around
_NOWHERE = 2**32 - 1  # beyond the end of every array
_REACH = 192  # how far behind an invocation the last step of sum_before looks


def sum_before(value: Any) -> Any:
    """The sum of the values of all invocations before this one, of 256, and that of all; four steps of four sums."""
    side = LANES + _REACH
    sums = vyre.shared(u32, 2 * side)  # before each half there are zeros
    t = vyre.lid(0) + _REACH
    total = value
    for k in vyre.unroll(range(4)):
        step, base = 4**k, k % 2 * side
        sums[base + t] = total
        vyre.barrier()
        total += sums[base + t - step] + sums[base + t - 2 * step] + sums[base + t - 3 * step]
    sums[t] = total
    vyre.barrier()
    return total - value, sums[_REACH + LANES - 1]


def _bits(words: Any, rest: Any, first: Any, each: int, mask: DataType) -> Any:
    """A bit for each of an invocation's elements; `rest` has the last elements, which are no whole word."""
    loaded = [words[first + k] for k in vyre.unroll(range(each // 4))]
    bits = vyre.u32(0)
    for k in vyre.unroll(range(each // 4)):
        bits |= bits_of_four(loaded[k], mask) << 4 * k
        if first + k == len(words):
            bits |= rest_bits(rest) << 4 * k
    return bits


@functools.cache
def _mover(element: DataType | None, mask: DataType, rest_too: bool, each: int, alone: bool) -> Any:
    load = u32 if mask is u8 else vyre.vec4u32
    source, stored = element or mask, element or u32

    @vyre.kernel(workgroup_size=LANES)
    def move_tiles(
        x: In[source], words: In[load], rest: In[mask], before: In[u32], y: Out[stored], count: Out[u32]
    ) -> None:
        """Move each tile's elements; `before` has the selected elements up to the end of each tile."""
        t, tile = vyre.lid(0), vyre.wid(0)
        order = vyre.shared(u32, LANES * each)
        bits = _bits(words, rest, vyre.gid(0) * (each // 4), each, mask)
        rank, total = sum_before(vyre.popcount(bits))
        for j in vyre.unroll(range(each)):
            if bits >> j & 1:
                order[rank] = t * each + j
                rank += 1
            elif rest_too:
                order[total + t * each + j - rank] = t * each + j
        vyre.barrier()
        start = tile * (LANES * each)
        place, everything = vyre.u32(0), total
        if not alone:
            everything = before[len(before) - 1]
            place = before[tile] - total
        if tile == 0 and t == 0:
            count[0] = everything
        behind = everything + (start - place) - total
        at = [order[t + LANES * j] + start for j in vyre.unroll(range(each))]
        if not rest_too:
            at = [vyre.select(t + LANES * j < total, at[j], vyre.u32(_NOWHERE)) for j in vyre.unroll(range(each))]
        if element is None:
            values = at if rest_too else [vyre.select(i == _NOWHERE, vyre.u32(0), i) for i in at]
        else:
            values = [x[i] for i in at]
        for j in vyre.unroll(range(each)):
            k = t + LANES * j
            y[vyre.select(k < total, place, behind) + k] = values[j]

    return move_tiles


@functools.cache
def compactor(element: DataType | None, mask: DataType, rest_too: bool = False, each: int = EACH) -> Any:
    """The procedure that gives an array's selected elements in order, and how many there are.

    Args:
        element: the type of the elements; None gives the positions of the selected ones.
        mask: the type of the mask, u8, u32 or boolean; an element is selected where it is not 0.
        rest_too: whether the others follow the selected ones, in their order; otherwise zeros follow.
        each: elements of an invocation, a power of two from 4 on; the result does not depend on it.

    Gives: `procedure(x, mask)`, or `procedure(mask)` for positions -> (an array of the mask's length, one u32).
    """
    tile = LANES * each
    form = "partition" if rest_too else "compact"
    name = f"std.{form}.{'positions' if element is None else element.name.lower()}_by_{mask.name.lower()}"
    sums = scanner(operator_of("add", u32, None, "vyre.std.compact"), True)
    given, mask = mask, u32 if mask is boolean else mask

    vectors = element in (u32, i32) and not rest_too

    def by_vectors(x: Any, selected: Any, words: Any, rest: Any, y: Any, count: Any) -> None:
        before = sums(count_tiles(mask, TILE, selected, words, rest))
        quads = x[: selected.length // 4 * 4].view(vec4u32)
        tiles = vyre.ceil_div(selected.length, TILE)
        move_vectors(element, mask)(quads, x, words, rest, before, y, count, workgroups=tiles)

    def record(x: Any, selected: Any) -> tuple[Any, Any]:
        n = selected.length
        y = vyre.scratch(element or u32, n, name="y")
        count = vyre.scratch(u32, 1, name="count")
        words, rest = selected.view(u32 if mask is u8 else vyre.vec4u32), selected[n // 4 * 4 :]
        source = rest if element is None else x  # positions need no array
        with vyre.when(n <= tile):
            none = vyre.scratch(u32, 0, name="none")
            _mover(element, mask, rest_too, each, True)(source, words, rest, none, y, count, workgroups=1)
        with vyre.otherwise():
            if vectors:
                by_vectors(x, selected, words, rest, y, count)
            else:
                before = sums(count_tiles(mask, tile, selected, words, rest))
                move = _mover(element, mask, rest_too, each, False)
                move(source, words, rest, before, y, count, workgroups=vyre.ceil_div(n, tile))
        return y, count

    if element is None:

        @vouched
        @vyre.procedure(name=name)
        def positions(selected: In[given]) -> Any:
            return record(None, selected.view(mask))

        return positions

    @vouched
    @vyre.procedure(name=name)
    def compact(x: In[element], selected: In[given]) -> Any:
        return record(x, selected.view(mask))

    return compact


@functools.cache
def row_taker(element: DataType) -> Any:
    """The kernel that gives the rows of an array at counted positions, and zeros behind them."""

    @vyre.kernel(workgroup_size=256)
    def take_rows(x: In[element], width: u32, positions: In[u32], count: In[u32], y: Out[element]) -> None:
        i = vyre.gid(0)
        if i < len(y):
            row = i // width
            at = positions[row] * width + (i - row * width)
            y[i] = x[vyre.select(row < count[0], at, vyre.u32(_NOWHERE))]

    return take_rows


@functools.cache
def row_compactor(element: DataType, axes: int, mask: DataType) -> Any:
    """The procedure `procedure(x, mask)` -> (the selected rows of x and zeros, how many they are)."""

    @vyre.procedure(name=f"std.compact.rows_{element.name.lower()}_{axes}_by_{mask.name.lower()}")
    def compact_rows(x: In[element, axes], selected: In[mask]) -> Any:
        positions, count = compactor(None, mask)(selected)
        y = vyre.scratch(element, *x.shape, name="y")
        width = math.prod(x.shape[1:])
        row_taker(element)(x.ravel(), width, positions, count, y.ravel(), grid=math.prod(x.shape))
        return y, count

    return compact_rows
