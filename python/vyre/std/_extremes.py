"""The index of the smallest or the largest element: a reduction of pairs of an element and its index."""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
import functools
from typing import Any

import numpy as np

import vyre
from vyre import DataType, In, Out, u32

__all__ = ["extreme_index"]

LANES = 256
EACH = 32  # elements of an invocation, a workgroup apart
AT_ONCE = 8  # of them are loaded before the first is looked at
_NONE = np.zeros(1, np.uint32)  # of the first level, whose places are the indices


def _is_before(op: str, value: Any, at: Any, best: Any, best_at: Any) -> Any:
    """Whether a value is better than the best one, or as good with a lower index."""
    better = value < best if op == "min" else value > best
    return vyre.logical_or(better, vyre.logical_and(value == best, at < best_at))


@functools.cache
def _kernel(op: str, element: DataType, first_level: bool) -> Any:
    @vyre.kernel(workgroup_size=LANES)
    def find(x: In[element], at: In[u32], best: Out[element], best_at: Out[u32]) -> None:
        t = vyre.lid(0)
        values, places = vyre.shared(element, LANES), vyre.shared(u32, LANES)
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

    return find


@functools.cache
def extreme_index(op: str, element: DataType) -> Any:
    """The procedure that gives the index of the first smallest ("min") or largest ("max") element of at least one."""
    first, again = _kernel(op, element, True), _kernel(op, element, False)

    @vyre.procedure(name=f"std.arg{op}_{element.name.lower()}")
    def find(x: In[element]) -> vyre.ProcedureArray:
        index = vyre.scratch(u32, 1, name="index")
        best = vyre.scratch(element, 1, name="best")
        one = vyre.ceil_div(x.length, LANES * EACH)
        two = vyre.ceil_div(one, LANES * EACH)
        with vyre.when(one <= 1):
            first(x, _NONE, best, index, workgroups=1)
        with vyre.otherwise():
            values, places = vyre.scratch(element, one, name="values"), vyre.scratch(u32, one, name="places")
            first(x, _NONE, values, places, workgroups=one)
            with vyre.when(two <= 1):
                again(values, places, best, index, workgroups=1)
            with vyre.otherwise():
                last_values = vyre.scratch(element, two, name="last_values")
                last_places = vyre.scratch(u32, two, name="last_places")
                again(values, places, last_values, last_places, workgroups=two)
                again(last_values, last_places, best, index, workgroups=1)
        return index

    return find
