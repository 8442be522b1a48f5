"""The index of the smallest or the largest element: a reduction of pairs of an element and its index."""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
import functools
from typing import Any

import numpy as np

import vyre
from vyre import DataType, In, Out, i32, u32, vec4u32

__all__ = ["extreme_index"]

LANES = 256
EACH = 32  # elements of an invocation, a workgroup apart
AT_ONCE = 8  # of them are loaded before the first is looked at
_LARGE = 1 << 22  # elements from which on an invocation takes several turns of AT_ONCE vectors
_TURNS = 4
_NONE = np.zeros(1, np.uint32)  # of the first level, whose places are the indices


def _is_before(op: str, value: Any, at: Any, best: Any, best_at: Any) -> Any:
    """Whether a value is better than the best one, or as good with a lower index."""
    better = value < best if op == "min" else value > best
    return vyre.logical_or(better, vyre.logical_and(value == best, at < best_at))


def _write_best(op: str, value: Any, place: Any, best: Any, best_at: Any) -> None:
    """Write the best of all invocations' values and its index, as those of this workgroup."""
    t = vyre.lid(0)
    values, places = vyre.shared(best.element, LANES), vyre.shared(u32, LANES)
    values[t] = value
    places[t] = place
    for half in (128, 64, 32, 16, 8, 4, 2, 1):
        vyre.barrier()
        if t < half:
            if _is_before(op, values[t + half], places[t + half], values[t], places[t]):
                values[t] = values[t + half]
                places[t] = places[t + half]
    if t == 0:
        best[vyre.wid(0)] = values[0]
        best_at[vyre.wid(0)] = places[0]


def _lanes(four: Any, element: DataType) -> list[Any]:
    lanes = [four.x, four.y, four.z, four.w]
    return [vyre.i32(lane) for lane in lanes] if element is i32 else lanes


def _best_of(op: str, lanes: list[Any]) -> Any:
    best = vyre.min if op == "min" else vyre.max
    return best(best(lanes[0], lanes[1]), best(lanes[2], lanes[3]))


@functools.cache
def _of_quads(op: str, element: DataType, turns: int) -> Any:
    """The kernel for words by fours: an invocation keeps the best value and its vector, and finds the lane at the end.

    Its vectors ascend, so that one as good as the best so far does not come first.
    """

    @vyre.kernel(workgroup_size=LANES)
    def find_in_quads(quads: In[vec4u32], rest: In[element], best: Out[element], best_at: Out[u32]) -> None:
        t = vyre.lid(0)
        begin = vyre.wid(0) * (LANES * AT_ONCE * turns) + t
        vector = min(begin, len(quads) - 1)
        value = _best_of(op, _lanes(quads[vector], element))
        for turn in range(turns):
            first = begin + turn * (LANES * AT_ONCE)
            loaded = [quads[first + LANES * j] for j in vyre.unroll(range(AT_ONCE))]
            for j in vyre.unroll(range(AT_ONCE)):
                other = _best_of(op, _lanes(loaded[j], element))
                if first + LANES * j < len(quads) and (other < value if op == "min" else other > value):
                    value = other
                    vector = first + LANES * j
        x, y, z, _ = _lanes(quads[vector], element)
        place = 4 * vector
        place += vyre.select(x == value, 0, vyre.select(y == value, 1, vyre.select(z == value, 2, 3)))
        if vyre.wid(0) == 0 and t < len(rest):
            other = rest[t]
            if other < value if op == "min" else other > value:
                value = other
                place = 4 * len(quads) + t
        _write_best(op, value, place, best, best_at)

    return find_in_quads


@functools.cache
def _kernel(op: str, element: DataType, first_level: bool) -> Any:
    @vyre.kernel(workgroup_size=LANES)
    def find(x: In[element], at: In[u32], best: Out[element], best_at: Out[u32]) -> None:
        t = vyre.lid(0)
        begin = vyre.wid(0) * (LANES * EACH)
        start = vyre.min(begin + t, len(x) - 1)
        value = x[start]
        place = start if first_level else at[start]
        for turn in range(EACH // AT_ONCE):
            here = begin + t + LANES * AT_ONCE * turn
            others = [x[here + LANES * j] for j in vyre.unroll(range(AT_ONCE))]
            wheres = [here + LANES * j if first_level else at[here + LANES * j] for j in vyre.unroll(range(AT_ONCE))]
            for j in vyre.unroll(range(AT_ONCE)):
                if here + LANES * j < len(x) and _is_before(op, others[j], wheres[j], value, place):
                    value = others[j]
                    place = wheres[j]
        _write_best(op, value, place, best, best_at)

    return find


@functools.cache
def extreme_index(op: str, element: DataType) -> Any:
    """The procedure that gives the index of the first smallest ("min") or largest ("max") element of at least one."""
    first, again = _kernel(op, element, True), _kernel(op, element, False)

    @vyre.procedure(name=f"std.arg{op}_{element.name.lower()}")
    def find(x: In[element]) -> vyre.ProcedureArray:
        index = vyre.scratch(u32, 1, name="index")
        best = vyre.scratch(element, 1, name="best")
        n = x.length
        one = vyre.ceil_div(n, LANES * EACH)
        with vyre.when(one <= 1):
            first(x, _NONE, best, index, workgroups=1)
        with vyre.otherwise():
            values, places = vyre.scratch(element, one, name="values"), vyre.scratch(u32, one, name="places")
            if element.min_bytes() > 4:
                first(x, _NONE, values, places, workgroups=one)
                groups = one
            else:
                groups = _first_of_words(op, x, values, places)
            _rest_of_levels(again, values[:groups], places[:groups], best, index)
        return index

    return find


def _first_of_words(op: str, x: Any, values: Any, places: Any) -> Any:
    """The first level of many words: the best of each workgroup, and how many workgroups there are."""
    n = x.length
    quads, rest = x.view(vec4u32), x[n // 4 * 4 :]
    turns = vyre.size_select(n > _LARGE, _TURNS, 1)
    groups = vyre.ceil_div(quads.length, LANES * AT_ONCE * turns)
    with vyre.when(n > _LARGE):
        _of_quads(op, x.dtype, _TURNS)(quads, rest, values, places, workgroups=groups)
    with vyre.otherwise():
        _of_quads(op, x.dtype, 1)(quads, rest, values, places, workgroups=groups)
    return groups


def _rest_of_levels(again: Any, values: Any, places: Any, best: Any, index: Any) -> None:
    """The levels after the first; three are enough for every length."""
    two = vyre.ceil_div(values.length, LANES * EACH)
    with vyre.when(two <= 1):
        again(values, places, best, index, workgroups=1)
    with vyre.otherwise():
        last_values = vyre.scratch(best.dtype, two, name="last_values")
        last_places = vyre.scratch(u32, two, name="last_places")
        again(values, places, last_values, last_places, workgroups=two)
        again(last_values, last_places, best, index, workgroups=1)
