"""The procedures of distinct elements: sort, mark the first of equal neighbours, and move those together."""

# No `from __future__ import annotations`: the annotations name types of the functions that make procedures.
import functools
from typing import Any

import vyre
from vyre import DataType, In, Out, u32, u64
from vyre.std._compaction import compactor
from vyre.std._operators import operator_of
from vyre.std._scans import scanner
from vyre.std._sets import distinct, marker
from vyre.std._sorter import sorter

__all__ = ["uniquer"]


@functools.cache
def _taker(element: DataType) -> Any:
    @vyre.kernel(workgroup_size=256)
    def take(x: In[element], starts: In[u32], count: In[u32], y: Out[element]):
        """The elements with which runs begin, and zeros behind them."""
        i = vyre.gid(0)
        if i < len(y):
            y[i] = x[vyre.select(i < count[0], starts[i], vyre.u32(2**32 - 1))]

    return take


@vyre.kernel(workgroup_size=256)
def _measure(starts: In[u32], count: In[u32], lengths: Out[u32]):
    """The lengths of runs, and zeros behind them."""
    i, n = vyre.gid(0), count[0]
    if i < len(lengths):
        length = vyre.u32(0)
        if i < n:
            length = (starts[i + 1] if i + 1 < n else len(lengths)) - starts[i]
        lengths[i] = length


@vyre.kernel(workgroup_size=256)
def _number(order: In[u32], runs: In[u32], inverse: Out[u32]):
    """For each position the number of its run; `runs` counts those up to each place of the sorted array."""
    i = vyre.gid(0)
    if i < len(order):
        inverse[order[i]] = runs[i] - 1


@functools.cache
def uniquer(key: DataType, index: bool, inverse: bool, counts: bool) -> Any:
    """The procedure `procedure(x, flip)` for unsigned keys, sorted by their exclusive or with `flip`.

    Gives: the distinct keys; where they are asked for, the first position of each, the number of each element's key
    among them, and how often each occurs; then how many there are. All but the number of each element are as long as
    x, with zeros behind.
    """
    flips = u64 if key is u64 else u32
    asked = {"index": index, "inverse": inverse, "counts": counts}
    name = "_".join(["std.unique", key.name.lower(), *(each for each, wanted in asked.items() if wanted)])

    @vyre.procedure(name=name)
    def find(x: In[key], flip: flips):
        n = x.length
        if not (index or inverse or counts):
            return distinct(key)(sorter(key)(x, flip))
        if index or inverse:
            ordered, order = sorter(key, u32, positions=True)(x, flip)
        else:
            ordered = sorter(key)(x, flip)
        first = vyre.scratch(u32, n, name="first")
        marker(key)(ordered, first, grid=n)
        starts, count = compactor(None, u32)(first)
        values = vyre.scratch(key, n, name="values")
        _taker(key)(ordered, starts, count, values, grid=n)
        results = [values]
        if index:
            results.append(vyre.scratch(u32, n, name="index"))
            _taker(u32)(order, starts, count, results[-1], grid=n)
        if inverse:
            runs = scanner(operator_of("add", u32, None, "vyre.std.unique"), True)(first)
            results.append(vyre.scratch(u32, n, name="inverse"))
            _number(order, runs, results[-1], grid=n)
        if counts:
            results.append(vyre.scratch(u32, n, name="lengths"))
            _measure(starts, count, results[-1], grid=n)
        return *results, count

    return find
