"""The index of the smallest or the largest element: a reduction of pairs of an element and its index."""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
import functools
from typing import Any

import vyre
from vyre import DataType, In, Out, u32, vec4u32
from vyre._base.types import RANGES
from vyre.std._scanning.operators import of_vector

__all__ = ["extreme_index"]

LANES = 256
EACH = 32  # elements of an invocation, a workgroup apart
AT_ONCE = 8  # of them are loaded before the first is looked at
_LARGE = 1 << 22  # elements from which on an invocation takes several turns of AT_ONCE vectors
_TURNS = 4


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


def _best_of(op: str, lanes: list[Any]) -> Any:
    best = vyre.min if op == "min" else vyre.max
    return functools.reduce(best, lanes)


@functools.cache
def _of_vectors(op: str, element: DataType, turns: int) -> Any:
    """The first level: an invocation keeps the best value and its vector of four words, and finds the lane at the end.

    Its vectors ascend, so that one as good as the best so far does not come first.
    """
    width = 16 // element.min_bytes()
    least, greatest = RANGES[element]
    worst = greatest if op == "min" else least

    @vyre.kernel(workgroup_size=LANES)
    def find_in_vectors(vectors: In[vec4u32], rest: In[element], best: Out[element], best_at: Out[u32]) -> None:
        t = vyre.lid(0)
        begin = vyre.wid(0) * (LANES * AT_ONCE * turns) + t
        vector = min(begin, len(vectors) - 1)
        value = _best_of(op, of_vector(vectors[vector], element))
        for turn in range(turns):
            first = begin + turn * (LANES * AT_ONCE)
            loaded = [vectors[first + LANES * j] for j in vyre.unroll(range(AT_ONCE))]
            for j in vyre.unroll(range(AT_ONCE)):
                other = _best_of(op, of_vector(loaded[j], element))
                if first + LANES * j < len(vectors) and (other < value if op == "min" else other > value):
                    value = other
                    vector = first + LANES * j
        lanes = of_vector(vectors[vector], element)
        place = u32(width - 1)
        for k in vyre.unroll(range(width - 2, -1, -1)):
            place = vyre.select(lanes[k] == value, vyre.u32(k), place)
        place += width * vector
        if len(vectors) == 0:
            value = element(worst)
            place = u32(2**32 - 1)
        if vyre.wid(0) == 0 and t < len(rest):
            other = rest[t]
            at = width * len(vectors) + t
            if _is_before(op, other, at, value, place):
                value = other
                place = at
        _write_best(op, value, place, best, best_at)

    return find_in_vectors


@functools.cache
def _of_pairs(op: str, element: DataType) -> Any:
    """The other levels: values and their places."""

    @vyre.kernel(workgroup_size=LANES)
    def find(x: In[element], at: In[u32], best: Out[element], best_at: Out[u32]) -> None:
        t = vyre.lid(0)
        begin = vyre.wid(0) * (LANES * EACH)
        start = vyre.min(begin + t, len(x) - 1)
        value, place = x[start], at[start]
        for turn in range(EACH // AT_ONCE):
            here = begin + t + LANES * AT_ONCE * turn
            others = [x[here + LANES * j] for j in vyre.unroll(range(AT_ONCE))]
            wheres = [at[here + LANES * j] for j in vyre.unroll(range(AT_ONCE))]
            for j in vyre.unroll(range(AT_ONCE)):
                if here + LANES * j < len(x) and _is_before(op, others[j], wheres[j], value, place):
                    value = others[j]
                    place = wheres[j]
        _write_best(op, value, place, best, best_at)

    return find


@functools.cache
def extreme_index(op: str, element: DataType) -> Any:
    """The procedure that gives the index of the first smallest ("min") or largest ("max") element of at least one."""
    again = _of_pairs(op, element)
    width = 16 // element.min_bytes()

    @vyre.procedure(name=f"std.arg{op}_{element.name.lower()}")
    def find(x: In[element]) -> vyre.ProcedureArray:
        index = vyre.scratch(u32, 1, name="index")
        best = vyre.scratch(element, 1, name="best")
        n = x.length
        vectors, rest = x.view(vec4u32), x[n // width * width :]
        turns = vyre.size_select(n > _LARGE, _TURNS, 1)
        groups = vyre.size_max(1, vyre.ceil_div(vectors.length, LANES * AT_ONCE * turns))
        with vyre.when(groups <= 1):
            _of_vectors(op, element, 1)(vectors, rest, best, index, workgroups=1)
        with vyre.otherwise():
            values, places = vyre.scratch(element, groups, name="values"), vyre.scratch(u32, groups, name="places")
            with vyre.when(n > _LARGE):
                _of_vectors(op, element, _TURNS)(vectors, rest, values, places, workgroups=groups)
            with vyre.otherwise():
                _of_vectors(op, element, 1)(vectors, rest, values, places, workgroups=groups)
            _rest_of_levels(again, values, places, best, index)
        return index

    return find


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
