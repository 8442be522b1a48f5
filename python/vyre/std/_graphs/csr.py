"""Graphs in compressed sparse rows on a device: their checks, and the vertex that each edge leaves."""

from __future__ import annotations

from typing import Any

import vyre
from vyre import In, InOut, Out, u32
from vyre._arrays.dtype_names import dtype_name
from vyre._base.refused import must_be, must_have, not_ascending
from vyre._core import Array
from vyre.std._calls.declared import At, argument, name_of
from vyre.std._calls.host import Place, elements, place_of, waited

__all__ = ["graph_of", "sources_of"]

_NONE = 2**32 - 1


@vyre.kernel(workgroup_size=256)
def _check(offsets: In[u32], targets: In[u32], first: InOut[u32]) -> None:
    """The first offset below the one before it, or behind the targets; the first target that is no vertex."""
    i, n = vyre.gid(0), len(offsets) - 1
    if i < n:
        offset = offsets[i + 1]
        if vyre.logical_or(offset < offsets[i], offset > len(targets)):
            first.atomic_min(0, i + 1)
    if vyre.logical_and(i < len(targets), targets[i] >= n):
        first.atomic_min(1, i)


@vyre.kernel(workgroup_size=256)
def _begin_check(offsets: In[u32], first: Out[u32]) -> None:
    i = vyre.gid(0)
    if i < 2:
        first[i] = _NONE
    if i == 2:
        first[i] = offsets[0]
    if i == 3:
        first[i] = offsets[len(offsets) - 1]


@vyre.procedure(name="std.graph.check")
def _checked(offsets: In[u32], targets: In[u32]) -> vyre.ProcedureArray:
    """Places of mistakes, and the first and the last offset."""
    first = vyre.scratch(u32, 4, name="first")
    _begin_check(offsets, first, grid=4)
    _check(offsets, targets, first, grid=vyre.size_max(offsets.length - 1, targets.length))
    return first


@vyre.kernel(workgroup_size=256)
def sources_of(offsets: In[u32], sources: Out[u32]) -> None:
    """The vertex that each edge leaves: the last one whose edges begin no later, by a binary search."""
    edge = vyre.gid(0)
    low, high = vyre.u32(0), len(offsets)  # of the offsets, how many are no greater than the edge
    while low < high:
        middle = low + (high - low) // 2
        if offsets[middle] <= edge:
            low = middle + 1
        else:
            high = middle
    if edge < len(sources):
        sources[edge] = low - 1


def graph_of(offsets: Any, targets: Any, at: At) -> tuple[Array, Array, Place]:
    """The arrays of a graph on the device, checked.

    The check runs on the device, and the call waits for what it finds.

    Raises: BindingError for arrays of other types, ArgumentError for rows that are no graph.
    """
    where = name_of(at)
    offsets = elements(offsets, argument(at, "offsets"), ["uint32", "int32"])
    targets = elements(targets, argument(at, "targets"), ["uint32", "int32"])
    place = place_of(at, offsets, targets)
    if offsets.shape[0] == 0:
        raise must_have(f"argument `offsets` of {where}", "an element or more", "none")
    made = [place.array(each) for each in (offsets, targets)]
    rows, edges = (each if dtype_name(each.dtype) == "uint32" else each.view(u32) for each in made)
    wrong, outside, begin, end = waited(_checked(rows, edges), where).tolist()
    if begin != 0:
        raise must_have(f"argument `offsets` of {where}", "a first element of 0", begin)
    if wrong != _NONE:
        before, after = made[0][wrong - 1 : wrong + 1].numpy().tolist()
        if not 0 <= after <= edges.shape[0]:
            element = f"element {wrong} of argument `offsets` of {where}"
            raise must_be(element, f"a number from 0 to {edges.shape[0]}", after)
        raise not_ascending(f"argument `offsets` of {where}", before, after, wrong)
    if end != edges.shape[0]:
        raise must_have(
            f"argument `offsets` of {where}", f"a last element of {edges.shape[0]}, the number of targets", end
        )
    if outside != _NONE:
        target = int(made[1][outside : outside + 1].numpy()[0])
        raise must_be(
            f"element {outside} of argument `targets` of {where}", f"a vertex below {rows.shape[0] - 1}", target
        )
    return rows, edges, place
