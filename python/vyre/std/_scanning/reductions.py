"""Kernels and procedures of reductions: each workgroup reduces a tile, and the tiles' results are reduced in turn.

Where the order of the operands does not matter, an invocation takes elements that lie a workgroup apart, four words at
a time, so that loads of neighbours are next to each other. Otherwise it takes neighbours, in their order.

A processor runs a workgroup's invocations as the lanes of vectors, one vector after the other. There a workgroup of few
invocations reads its tile from the first element to the last, which is the order that processors fetch ahead.
"""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
import functools
from typing import Any

import vyre
from vyre import DataType, In, Out, boolean, i32, u32
from vyre.std._scanning.operators import Operator, value_of

__all__ = ["LANES", "ROW_TILE", "by_rows", "ordered", "reduce_rows", "reducer", "strided"]

LANES = 256
UNROLL = 8  # loads that are under way together
_COLUMNS = 16  # values that are left after the first of two rounds
_LARGE = 1 << 25  # elements from which on an invocation takes several turns, which reads from more places at a time
_TURNS = 4
ROW_TILE = 1 << 15  # elements that a workgroup reads row after row
_ROW = 32  # elements
_MOST_OF_A_GPU = 4096  # invocations of a workgroup: GPUs allow 2,048 at most, processors 65,536


def converted(value: Any, element: DataType, truth: bool) -> Any:
    """An element as one of the reduction's type."""
    if truth:
        return vyre.select(value != 0, vyre.u32(1), vyre.u32(0))
    return value_of(element, value)


def combined(op: Operator, values: Any) -> Any:
    """The values from the first to the last."""
    total = values[0]
    for k in vyre.unroll(range(1, len(values))):
        total = op.combine(total, values[k])
    return total


def tree(op: Operator, total: Any, active: Any) -> Any:
    """Combine one value of each of the first `active` invocations in their order; invocation 0 has the result."""
    part = vyre.shared(op.element, LANES)
    t = vyre.lid(0)
    part[t] = total
    for step in (1, 2, 4, 8, 16, 32, 64, 128):
        vyre.barrier()
        at = 2 * step * t
        if at + step < active:
            part[at] = op.combine(part[at], part[at + step])
    vyre.barrier()
    return part[0]


def in_any_order(op: Operator, total: Any, lanes: int = LANES) -> Any:
    """Combine one value of each invocation, of an operator that commutes; invocation 0 has the result.

    Two rounds of a few sums each have fewer barriers than a tree, and neighbours load neighbours.
    """
    part = vyre.shared(op.element, lanes)
    t = vyre.lid(0)
    part[t] = total
    vyre.barrier()
    if t < _COLUMNS:
        part[t] = combined(op, [part[t + _COLUMNS * k] for k in vyre.unroll(range(lanes // _COLUMNS))])
    vyre.barrier()
    result = value_of(op.element, op.identity)
    if t == 0:
        result = combined(op, [part[k] for k in vyre.unroll(range(_COLUMNS))])
    return result


def by_rows() -> Any:
    """Whether the device runs a workgroup on one processor, vector after vector."""
    return vyre.limit("workgroup_invocations") > _MOST_OF_A_GPU


@functools.cache
def strided(op: Operator, source: DataType, truth: bool, turns: int, unroll: int = UNROLL) -> Any:
    """The kernel for an operator that commutes, with an identity; words are loaded four at a time.

    Its tile has LANES * unroll * turns loads.
    """
    wide = source.min_bytes() == 4
    load = vyre.vec4u32 if wide else source
    element, identity = op.element, op.identity
    filled = identity == 0 and not truth  # loads beyond the end give the identity

    @vyre.kernel(workgroup_size=LANES)
    def reduce_tiles(x: In[load], rest: In[source], out: Out[element]) -> None:
        t = vyre.lid(0)
        begin = vyre.wid(0) * (LANES * unroll * turns) + t
        total = value_of(element, identity)
        if vyre.wid(0) == 0:
            if t < len(rest):
                total = op.combine(total, converted(rest[t], element, truth))
        for turn in range(turns):
            first = begin + turn * (LANES * unroll)
            loaded = [x[first + LANES * j] for j in vyre.unroll(range(unroll))]
            for j in vyre.unroll(range(unroll)):
                each = loaded[j]
                lanes = [each.x, each.y, each.z, each.w] if wide else [each]
                lanes = [vyre.i32(lane) for lane in lanes] if source is i32 else lanes
                value = combined(op, [converted(lane, element, truth) for lane in lanes])
                if filled:
                    total = op.combine(total, value)
                elif first + LANES * j < len(x):
                    total = op.combine(total, value)
        result = in_any_order(op, total)
        if t == 0:
            out[vyre.wid(0)] = result

    return reduce_tiles


@functools.cache
def row_reductions(op: Operator, source: DataType, truth: bool) -> Any:
    """The kernel that reduces whole rows and `rest`, for an operator that commutes, with an identity."""
    element = op.element

    @vyre.kernel(workgroup_size=_ROW)
    def reduce_rows(x: In[source], rest: In[source], out: Out[element]) -> None:
        t, tile = vyre.lid(0), vyre.wid(0)
        total = value_of(element, op.identity)
        if tile == 0:
            if t < len(rest):
                total = op.combine(total, converted(rest[t], element, truth))
        first = tile * ROW_TILE
        for row in range(vyre.min((len(x) - first) // _ROW, ROW_TILE // _ROW)):
            total = op.combine(total, converted(x[first + row * _ROW + t], element, truth))
        result = in_any_order(op, total, _ROW)
        if t == 0:
            out[tile] = result

    return reduce_rows


def reduce_rows(op: Operator, source: DataType, truth: bool, x: Any, out: Any, tiles: Any) -> None:
    """Reduce each tile of an array to one element of `out`.

    The first tile takes the elements behind the last whole row as well.
    """
    whole = x.length // _ROW * _ROW
    row_reductions(op, source, truth)(x[:whole], x[whole:], out, workgroups=tiles)


EACH = 16  # neighbours of an invocation


@functools.cache
def ordered(op: Operator, each: int = EACH) -> Any:
    """The kernel for any associative operator, in tiles of LANES * each; every workgroup has one element at least."""
    element = op.element

    @vyre.kernel(workgroup_size=LANES)
    def reduce_in_order(x: In[element], out: Out[element]) -> None:
        t = vyre.lid(0)
        begin = (vyre.wid(0) * LANES + t) * each
        total = x[begin]
        for k in range(1, each):
            if begin + k < len(x):
                total = op.combine(total, x[begin + k])
        left = len(x) - vyre.wid(0) * (LANES * each)
        result = tree(op, total, (left + (each - 1)) // each)
        if t == 0:
            out[vyre.wid(0)] = result

    return reduce_in_order


@functools.cache
def reducer(op: Operator, source: DataType | None = None, truth: bool = False, levels: int = 3) -> Any:
    """The procedure that reduces an array to an array of one element.

    Args:
        op: the operator. One without an identity needs an array that is not empty.
        source: the type of the array's elements, which are converted to op's; None for op's own.
        truth: whether 1 stands for an element that is not 0.
        levels: how often the tiles' results may be reduced in turn.
    """
    source = source or op.element
    name = f"std.reduce.{op.name}_{op.element.name.lower()}"
    name += "" if source is op.element and not truth else f"_of_{source.name.lower()}"
    inner = reducer(op, levels=levels - 1) if levels > 1 else None
    fast = op.commutes and op.identity is not None
    given, source = source, u32 if source is boolean else source

    @vyre.procedure(name=name)
    def reduce(x: In[given]) -> vyre.ProcedureArray:
        x = x.view(source)
        result = vyre.scratch(op.element, 1, name="result")
        n = x.length
        if not fast:
            _recorded(n, LANES * EACH, 1, lambda out, groups: ordered(op)(x, out, workgroups=groups), inner, op, result)
            return result
        wide = 4 if source.min_bytes() == 4 else 1
        words = x.view(vyre.vec4u32) if wide > 1 else x
        rest = x[n // wide * wide :]
        with vyre.when(by_rows()):
            _recorded(n, ROW_TILE, 1, functools.partial(reduce_rows, op, source, truth, x), inner, op, result)
        with vyre.otherwise():
            with vyre.when(n > _LARGE):
                _tiles(op, source, truth, _TURNS, words, rest, inner, result)
            with vyre.otherwise():
                _tiles(op, source, truth, 1, words, rest, inner, result)
        return result

    return reduce


def _tiles(
    op: Operator, source: DataType, truth: bool, turns: int, words: Any, rest: Any, inner: Any, result: Any
) -> None:
    kernel = strided(op, source, truth, turns)
    tile = LANES * UNROLL * turns
    _recorded(words.length, tile, 1, lambda out, groups: kernel(words, rest, out, workgroups=groups), inner, op, result)


def _recorded(n: Any, tile: int, least: int, reduce: Any, inner: Any, op: Operator, result: Any) -> None:
    """The steps for n items in tiles: into the result where one tile holds them, else by the inner levels."""
    groups = vyre.size_max(vyre.ceil_div(n, tile), least)
    if inner is None:
        reduce(result, groups)
        return
    with vyre.when(groups <= 1):
        reduce(result, groups)
    with vyre.otherwise():
        partial = vyre.scratch(op.element, groups, name="partial")
        reduce(partial, groups)
        inner(partial, out=result)
