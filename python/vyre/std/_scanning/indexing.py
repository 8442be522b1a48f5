"""Kernels and procedures that load and store elements by given indices.

Where several positions of a scatter have one index, the last position wins: each index first keeps the greatest
position that has it, by an atomic whose order has no effect. Then each element of `out` fetches the value of its last
position, so that the stores are consecutive. Where `out` is much longer than the indices, each position stores its
value instead if it is the last one, so that the other elements are not visited.
"""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
import functools
from typing import Any

import vyre
from vyre import DataType, In, InOut, Out, u32

__all__ = ["SPARSE", "adder", "gatherer", "scatterer"]

SPARSE = 8  # elements of `out` for each index from which on positions store their values


@functools.cache
def gatherer(element: DataType) -> Any:
    """The procedure `procedure(x, index)` -> the elements at these indices, 0 beyond the end."""

    @vyre.kernel(workgroup_size=256)
    def load(x: In[element], index: In[u32], y: Out[element]) -> None:
        i = vyre.gid(0)
        if i < len(y):
            y[i] = x[index[i]]

    @vyre.procedure(name=f"std.gather.{element.name.lower()}")
    def gather(x: In[element], index: In[u32]) -> vyre.ProcedureArray:
        y = vyre.scratch(element, index.length, name="y")
        load(x, index, y, grid=index.length)
        return y

    return gather


@vyre.kernel(workgroup_size=256)
def _find_last(index: In[u32], last: InOut[u32]) -> None:
    """The last position of each index, and 1."""
    i = vyre.gid(0)
    if i < len(index):
        at = index[i]
        if at < len(last):
            last.atomic_max(at, i + 1)


@functools.cache
def scatterer(element: DataType, sparse: int = SPARSE) -> Any:
    """The procedure `procedure(out, index, values)` that stores the values in `out`.

    Positions store their values where `out` has more than `sparse` elements for each index.
    """

    @vyre.kernel(workgroup_size=256)
    def store(index: In[u32], values: In[element], last: In[u32], out: InOut[element]) -> None:
        i = vyre.gid(0)
        if i < len(index):
            at = index[i]
            if last[at] == i + 1:
                out[at] = values[i]

    @vyre.kernel(workgroup_size=256)
    def fetch(values: In[element], last: In[u32], out: InOut[element]) -> None:
        i = vyre.gid(0)
        if i < len(out):
            position = last[i]
            if position != 0:
                out[i] = values[position - 1]

    @vyre.procedure(name=f"std.scatter.{element.name.lower()}")
    def scatter(out: InOut[element], index: In[u32], values: In[element]) -> None:
        last = vyre.scratch(u32, out.length, zeros=True, name="last")
        _find_last(index, last, grid=index.length)
        with vyre.when(out.length > index.length * sparse):
            store(index, values, last, out, grid=index.length)
        with vyre.otherwise():
            fetch(values, last, out, grid=out.length)

    return scatter


@functools.cache
def adder(element: DataType) -> Any:
    """The procedure `procedure(out, index, values)` that adds u32 or u64 values to `out`, which is given as u32."""
    wide = element.min_bytes() > 4

    @vyre.kernel(workgroup_size=256)
    def add(index: In[u32], values: In[element], out: InOut[u32]) -> None:
        i = vyre.gid(0)
        if i < len(index):
            at, value = index[i], values[i]
            if not wide:
                if at < len(out):
                    out.atomic_add(at, value)
            elif at < len(out) // 2:
                # Each carry of the lower half is added to the upper half: the sum of both does not depend on an order.
                before = out.atomic_add(2 * at, value.lo)
                carried = vyre.u32(before + value.lo < before)
                out.atomic_add(2 * at + 1, value.hi + carried)

    @vyre.procedure(name=f"std.scatter_add.{element.name.lower()}")
    def scatter_add(out: InOut[u32], index: In[u32], values: In[element]) -> None:
        add(index, values, out, grid=index.length)

    return scatter_add
