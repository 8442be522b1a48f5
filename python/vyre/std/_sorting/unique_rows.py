"""The procedure of distinct rows: stable sorts by each column, the last one first, and then as for elements."""

# No `from __future__ import annotations`: the annotations name types of the functions that make procedures.
import functools
import math
from typing import Any

import vyre
from vyre import DataType, In, InOut, Out, u32, u64
from vyre.std._scanning.compaction import compactor, row_taker
from vyre.std._sorting.sorter import sorter
from vyre.std._sorting.unique import taker, tell_runs

__all__ = ["row_uniquer"]


@vyre.kernel(workgroup_size=256)
def _start(order: Out[u32], first: Out[u32]) -> None:
    i = vyre.gid(0)
    if i < len(order):
        order[i] = i
        first[i] = vyre.u32(i == 0)


@functools.cache
def _column(key: DataType) -> Any:
    @vyre.kernel(workgroup_size=256)
    def load_column(x: In[key], order: In[u32], width: u32, column: u32, keys: Out[key]) -> None:
        i = vyre.gid(0)
        if i < len(keys):
            keys[i] = x[order[i] * width + column]

    return load_column


@functools.cache
def _marker(key: DataType) -> Any:
    @vyre.kernel(workgroup_size=256)
    def mark_rows(x: In[key], order: In[u32], width: u32, first: InOut[u32]) -> None:
        """Mark the rows with an element that the row before has not; an invocation compares one element."""
        i = vyre.gid(0)
        if width <= i and i < len(x):
            row, column = i // width, i % width
            if x[order[row] * width + column] != x[order[row - 1] * width + column]:
                first.atomic_max(row, 1)

    return mark_rows


@functools.cache
def row_uniquer(key: DataType, axes: int, index: bool, inverse: bool, counts: bool) -> Any:
    """The procedure `procedure(x, flip)` for the rows of an array of unsigned keys, as `uniquer` for elements."""
    flips: Any = u64 if key is u64 else u32
    told = [name for name, asked in (("index", index), ("inverse", inverse), ("counts", counts)) if asked]

    @vyre.procedure(name="_".join(["std.unique.rows", key.name.lower(), str(axes), *told]))
    def find(x: In[key, axes], flip: flips) -> tuple[vyre.ProcedureArray, ...]:
        n, width, elements = x.length, math.prod(x.shape[1:]), x.ravel()
        order, later, first, starts = (
            vyre.scratch(u32, n, name=name) for name in ("order", "later", "first", "starts")
        )
        keys, sorted_keys = vyre.scratch(key, n, name="keys"), vyre.scratch(key, n, name="sorted_keys")
        _start(order, first, grid=n)
        for turn in vyre.times(width):
            _column(key)(elements, order, width, width - 1 - turn, keys, grid=n)
            sorter(key, u32)(keys, order, flip, out=(sorted_keys, later))
            vyre.swap(order, later)
        _marker(key)(elements, order, width, first, grid=elements.length)
        count = vyre.scratch(u32, 1, name="count")
        compactor(None, u32)(first, out=(starts, count))
        positions = vyre.scratch(u32, n, name="positions")
        taker(u32)(order, starts, count, positions, grid=n)
        values = vyre.scratch(key, *x.shape, name="values")
        row_taker(key)(elements, width, positions, count, values.ravel(), grid=elements.length)
        others = [vyre.scratch(u32, n, name=name) for name in told if name != "index"]
        tell_runs([False, inverse, counts], order, first, starts, count, others)
        return values, *([positions] if index else []), *others, count

    return find
