"""The procedures of distinct elements: sort, mark the first of equal neighbours, and move those together."""

# No `from __future__ import annotations`: the annotations name types of the functions that make procedures.
import functools
from typing import Any

import vyre
from vyre import DataType, In, Out, u32, u64
from vyre._procedure.vouched import vouched
from vyre.std._scanning.compaction import compactor, sum_before
from vyre.std._scanning.operators import operator_of
from vyre.std._scanning.reductions import LANES
from vyre.std._scanning.scans import scanner
from vyre.std._sorting.sets import distinct, marker
from vyre.std._sorting.sorter import sorter

__all__ = ["ALONE", "taker", "tell_runs", "uniquer"]

_EACH = 8  # neighbours of an invocation where one workgroup does all
ALONE = LANES * _EACH  # elements up to which it does


@functools.cache
def _alone(element: DataType) -> Any:
    @vyre.kernel(workgroup_size=LANES)
    def find_runs(
        x: In[element],
        order: In[u32],
        values: Out[element],
        index: Out[u32],
        inverse: Out[u32],
        lengths: Out[u32],
        count: Out[u32],
    ) -> None:
        """All that is told of the runs of a sorted array; what is not asked for has a length of 0."""
        starts = vyre.shared(u32, ALONE)
        t, n = vyre.lid(0), len(x)
        first = t * _EACH
        own = [x[first - 1]] + [x[first + j] for j in vyre.unroll(range(_EACH))]
        begins = []
        for j in vyre.unroll(range(_EACH)):
            i = first + j
            begins.append(vyre.select(vyre.logical_and(i < n, vyre.logical_or(i == 0, own[j] != own[j + 1])), 1, 0))
        heads = begins[0]
        for j in vyre.unroll(range(1, _EACH)):
            heads += begins[j]
        run, total = sum_before(heads)
        for j in vyre.unroll(range(_EACH)):
            i = first + j
            at = order[i]
            if begins[j] != 0:
                starts[run] = i
                values[run] = own[j + 1]
                index[run] = at
            run += begins[j]
            if i < n:
                inverse[at] = run - 1
        vyre.barrier()
        if t == 0:
            count[0] = total
        for j in vyre.unroll(range(_EACH)):
            k = t + LANES * j
            length = vyre.u32(0)
            if k < total:
                end = n
                if k + 1 < total:
                    end = starts[k + 1]
                length = end - starts[k]
            else:
                values[k] = 0
                index[k] = 0
            lengths[k] = length

    return find_runs


@functools.cache
def taker(element: DataType) -> Any:
    @vyre.kernel(workgroup_size=256)
    def take(x: In[element], starts: In[u32], count: In[u32], y: Out[element]) -> None:
        """The elements with which runs begin, and zeros behind them."""
        i = vyre.gid(0)
        if i < len(y):
            y[i] = x[vyre.select(i < count[0], starts[i], vyre.u32(2**32 - 1))]

    return take


@vyre.kernel(workgroup_size=256)
def _measure(starts: In[u32], count: In[u32], lengths: Out[u32]) -> None:
    """The lengths of runs, and zeros behind them."""
    i, n = vyre.gid(0), count[0]
    if i < len(lengths):
        length = vyre.u32(0)
        if i < n:
            length = (starts[i + 1] if i + 1 < n else len(lengths)) - starts[i]
        lengths[i] = length


@vyre.kernel(workgroup_size=256)
def _number(order: In[u32], runs: In[u32], inverse: Out[u32]) -> None:
    """For each position the number of its run; `runs` counts those up to each place of the sorted array."""
    i = vyre.gid(0)
    if i < len(order):
        inverse[order[i]] = runs[i] - 1


def _of_few(key: DataType, asked: list[bool], x: Any, flip: Any, results: list[Any], count: Any) -> None:
    """Sort, and find all in one dispatch."""
    if asked[0] or asked[1]:
        ordered, order = sorter(key, u32, positions=True)(x, flip)
    else:
        ordered, order = sorter(key)(x, flip), vyre.scratch(u32, 0, zeros=True, name="order")
    given = iter(results[1:])
    others = [next(given) if each else vyre.scratch(u32, 0, name="unasked") for each in asked]
    _alone(key)(ordered, order, results[0], *others, count, workgroups=1)


def _of_many(key: DataType, asked: list[bool], x: Any, flip: Any, results: list[Any], count: Any) -> None:
    n = x.length
    if not any(asked):
        distinct(key)(sorter(key)(x, flip), out=(results[0], count))
        return
    order = None
    if asked[0] or asked[1]:
        ordered, order = sorter(key, u32, positions=True)(x, flip)
    else:
        ordered = sorter(key)(x, flip)
    first = vyre.scratch(u32, n, name="first")
    starts = vyre.scratch(u32, n, name="starts")
    marker(key)(ordered, first, grid=n)
    compactor(None, u32)(first, out=(starts, count))
    taker(key)(ordered, starts, count, results[0], grid=n)
    tell_runs(asked, order, first, starts, count, results[1:])


def tell_runs(asked: list[bool], order: Any, first: Any, starts: Any, count: Any, results: list[Any]) -> None:
    """Fill what is asked of the runs of a sorted array.

    Args:
        order: the position that each element had, for the first two results.
        first, starts, count: the first elements of runs are marked, their places, and how many they are.
    """
    n, given = first.length, iter(results)
    index, inverse, counts = asked
    if index:
        taker(u32)(order, starts, count, next(given), grid=n)
    if inverse:
        runs = scanner(operator_of("add", u32, None, "vyre.std.unique"), True)(first)
        _number(order, runs, next(given), grid=n)
    if counts:
        _measure(starts, count, next(given), grid=n)


@functools.cache
def uniquer(key: DataType, index: bool, inverse: bool, counts: bool, alone: int = ALONE) -> Any:
    """The procedure `procedure(x, flip)` for unsigned keys, sorted by their exclusive or with `flip`.

    Args:
        alone: keys up to which one workgroup does all behind the sort, ALONE or fewer; the result does not depend on
            it.

    Gives: the distinct keys; where they are asked for, the first position of each, the number of each element's key
    among them, and how often each occurs; then how many there are. All but the number of each element are as long as
    x, with zeros behind.
    """
    flips: Any = u64 if key is u64 else u32
    asked = [index, inverse, counts]
    told = [name for name, each in zip(("index", "inverse", "counts"), asked, strict=True) if each]

    @vouched
    @vyre.procedure(name="_".join(["std.unique", key.name.lower(), *told]))
    def find(x: In[key], flip: flips) -> tuple[vyre.ProcedureArray, ...]:
        n = x.length
        results = [vyre.scratch(key, n, name="values"), *(vyre.scratch(u32, n, name=name) for name in told)]
        count = vyre.scratch(u32, 1, name="count")
        with vyre.when(n <= alone):
            _of_few(key, asked, x, flip, results, count)
        with vyre.otherwise():
            _of_many(key, asked, x, flip, results, count)
        return *results, count

    return find
