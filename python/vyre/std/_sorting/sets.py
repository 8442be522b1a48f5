"""Kernels and procedures on sorted arrays: searches, distinct elements, and what two arrays have in common."""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
import functools
from typing import Any

import vyre
from vyre import DataType, In, Out, u32
from vyre._procedure.vouched import vouched
from vyre.std._scanning.compaction import compactor

__all__ = ["comparer", "distinct", "marker", "merger", "searcher"]


def rank_in(a: Any, value: Any, right: bool) -> Any:
    """How many elements of a sorted array are less than a value, or with `right` not greater; a binary search."""
    low, high = vyre.u32(0), len(a)
    while low < high:
        middle = low + (high - low) // 2
        element = a[middle]
        if element <= value if right else element < value:
            low = middle + 1
        else:
            high = middle
    return low


@functools.cache
def searcher(element: DataType, right: bool) -> Any:
    """The procedure `procedure(a, v)` -> where each element of v goes in the sorted array a."""

    @vyre.kernel(workgroup_size=256)
    def search(a: In[element], v: In[element], y: Out[u32]) -> None:
        i = vyre.gid(0)
        if i < len(y):
            y[i] = rank_in(a, v[i], right)

    @vyre.procedure(name=f"std.searchsorted.{element.name.lower()}_{'right' if right else 'left'}")
    def searchsorted(a: In[element], v: In[element]) -> vyre.ProcedureArray:
        y = vyre.scratch(u32, v.length, name="y")
        search(a, v, y, grid=v.length)
        return y

    return searchsorted


@functools.cache
def marker(element: DataType) -> Any:
    """The kernel that marks the first of equal neighbours."""

    @vyre.kernel(workgroup_size=256)
    def mark_first(x: In[element], first: Out[u32]) -> None:
        i = vyre.gid(0)
        if i < len(first):
            first[i] = vyre.u32(i == 0 or x[i] != x[i - 1])

    return mark_first


@functools.cache
def distinct(element: DataType) -> Any:
    """The procedure `procedure(x)` -> the distinct elements of a sorted array, and how many there are."""

    @vyre.procedure(name=f"std.distinct.{element.name.lower()}")
    def of_sorted(x: In[element]) -> Any:
        first = vyre.scratch(u32, x.length, name="first")
        marker(element)(x, first, grid=x.length)
        return compactor(element, u32)(x, first)

    return of_sorted


@functools.cache
def comparer(element: DataType, common: bool) -> Any:
    """The procedure `procedure(a, b)` -> the distinct elements of a that b has, or has not, and how many there are."""

    @vyre.kernel(workgroup_size=256)
    def mark(a: In[element], b: In[element], chosen: Out[u32]) -> None:
        i = vyre.gid(0)
        if i < len(a):
            value = a[i]
            found = vyre.u32(0)
            if i == 0 or value != a[i - 1]:
                at = rank_in(b, value, False)
                found = vyre.u32(at < len(b) and b[at] == value)
                if not common:
                    found = 1 - found
            chosen[i] = found

    @vyre.procedure(name=f"std.{'intersect1d' if common else 'setdiff1d'}.{element.name.lower()}")
    def compare(a: In[element], b: In[element]) -> Any:
        chosen = vyre.scratch(u32, a.length, name="chosen")
        mark(a, b, chosen, grid=a.length)
        return compactor(element, u32)(a, chosen)

    return compare


@functools.cache
def merger(element: DataType) -> Any:
    """The procedure `procedure(a, b)` -> the distinct elements of both sorted arrays, and how many there are."""

    @vyre.kernel(workgroup_size=256)
    def place(x: In[element], other: In[element], merged: Out[element], right: vyre.const) -> None:
        i = vyre.gid(0)
        if i < len(x):
            value = x[i]
            merged[i + rank_in(other, value, right)] = value

    @vouched
    @vyre.procedure(name=f"std.union1d.{element.name.lower()}")
    def merge(a: In[element], b: In[element]) -> Any:
        merged = vyre.scratch(element, a.length + b.length, name="merged")
        place(a, b, merged, False, grid=a.length)
        place(b, a, merged, True, grid=b.length)
        return distinct(element)(merged)

    return merge
