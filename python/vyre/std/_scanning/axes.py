"""Kernels and procedures that move the elements of an array along one of its axes, or of all together.

An array is read as ``outer`` parts of ``n`` rows of ``inner`` elements, where `n` is the length of the axis. Every
invocation makes one element of the result: it takes its place apart, and loads the element of another row.
"""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
import functools
import math
import operator
from typing import Any

import vyre
from vyre import DataType, In, Out, u32

__all__ = ["differ", "joiner", "length_along", "mover"]


def length_along(shape: tuple[Any, ...], axis: int | None) -> Any:
    """The length of an axis; None is that of all elements as one axis."""
    return math.prod(shape) if axis is None else shape[axis]


def _inner(shape: tuple[Any, ...], axis: int | None) -> Any:
    """The elements of a row."""
    return 1 if axis is None else math.prod(shape[axis + 1 :])


def _apart(i: Any, inner: Any, n: Any, is_first: bool, is_last: bool) -> tuple[Any, Any, Any]:
    """The part, the row and the element of the row at a place; the first and the last axis need fewer divisions."""
    row, column, outer = i, 0, 0
    if not is_last:
        row = i // inner
        column = i - row * inner  # the remainder, without another division
    if not is_first:
        outer = row // n
        row -= outer * n
    return outer, row, column


def _is_edge(axes: int, axis: int | None) -> tuple[bool, bool]:
    return axis in (None, 0), axis in (None, axes - 1)


def _flipped(row: Any, before: Any, amount: Any) -> Any:
    return before - 1 - row


def _rolled(row: Any, before: Any, amount: Any) -> Any:
    left = before - amount  # rows up to the end; row + amount could wrap around
    return vyre.select(row < left, row + amount, row - left)


def _repeated(row: Any, before: Any, amount: Any) -> Any:
    return row // amount


_ROWS = {"flip": _flipped, "roll": _rolled, "repeat": _repeated}


@functools.cache
def mover(call: str, element: DataType, axes: int, axis: int | None) -> Any:
    """The procedure `procedure(x, amount)` that gives the rows of an array at other places.

    Args:
        call: "flip" reverses them, "roll" begins with row `amount`, and "repeat" gives each `amount` times.
        axis: None is all elements as one axis, which is the shape of what "repeat" gives.
    """
    row_of, is_first, is_last = _ROWS[call], *_is_edge(axes, axis)

    @vyre.kernel(workgroup_size=256)
    def move(x: In[element], inner: u32, before: u32, after: u32, amount: u32, y: Out[element]) -> None:
        """Args: before, after: the length of the axis in x and in y."""
        i = vyre.gid(0)
        if i < len(y):
            outer, row, column = _apart(i, inner, after, is_first, is_last)
            at = outer * before + row_of(row, before, amount)
            y[i] = x[at if is_last else at * inner + column]

    @vyre.procedure(name=_name(call, element, axes, axis))
    def moved(x: In[element, axes], amount: u32) -> vyre.ProcedureArray:
        n, shape = length_along(x.shape, axis), [*x.shape]
        after = n
        if call == "repeat":
            after = n * amount
            shape = [after] if axis is None else [*shape[:axis], after, *shape[axis + 1 :]]
        y = vyre.scratch(element, *shape, name="y")
        move(x.ravel(), _inner(x.shape, axis), n, after, amount, y.ravel(), grid=math.prod(shape))
        return y

    return moved


@functools.cache
def differ(element: DataType, axes: int, axis: int) -> Any:
    """The procedure `procedure(x)` -> each row subtracted from the next one, of truths whether they differ."""
    is_first, is_last = _is_edge(axes, axis)
    subtract = operator.xor if element is DataType.Bool else operator.sub

    @vyre.kernel(workgroup_size=256)
    def difference(x: In[element], inner: u32, after: u32, y: Out[element]) -> None:
        i = vyre.gid(0)
        if i < len(y):
            outer, row, column = _apart(i, inner, after, is_first, is_last)
            at = outer * (after + 1) + row
            if not is_last:
                at = at * inner + column
            y[i] = subtract(x[at + (1 if is_last else inner)], x[at])

    @vyre.procedure(name=_name("diff", element, axes, axis))
    def diff(x: In[element, axes]) -> vyre.ProcedureArray:
        after = vyre.size_max(x.shape[axis], 1) - 1
        shape = [*x.shape[:axis], after, *x.shape[axis + 1 :]]
        y = vyre.scratch(element, *shape, name="y")
        difference(x.ravel(), _inner(x.shape, axis), after, y.ravel(), grid=math.prod(shape))
        return y

    return diff


@functools.cache
def joiner(element: DataType, axes: int, axis: int) -> Any:
    """The procedure `procedure(a, b)` -> the rows of `a`, and then those of `b`."""
    is_first, is_last = _is_edge(axes, axis)

    @vyre.kernel(workgroup_size=256)
    def join(a: In[element], b: In[element], inner: u32, first: u32, second: u32, y: Out[element]) -> None:
        """Args: first, second: the length of the axis in a and in b."""
        i = vyre.gid(0)
        if i < len(y):
            outer, row, column = _apart(i, inner, first + second, is_first, is_last)
            in_a, in_b = outer * first + row, outer * second + row - first
            if not is_last:
                in_a, in_b = in_a * inner + column, in_b * inner + column
            y[i] = a[in_a] if row < first else b[in_b]

    @vyre.procedure(name=_name("concatenate", element, axes, axis))
    def concatenate(a: In[element, axes], b: In[element, axes]) -> vyre.ProcedureArray:
        first, second = a.shape[axis], b.shape[axis]
        shape = [*a.shape[:axis], first + second, *a.shape[axis + 1 :]]
        y = vyre.scratch(element, *shape, name="y")
        join(a.ravel(), b.ravel(), _inner(a.shape, axis), first, second, y.ravel(), grid=math.prod(shape))
        return y

    return concatenate


def _name(call: str, element: DataType, axes: int, axis: int | None) -> str:
    along = "all" if axis is None else axis
    return f"std.{call}.{element.name.lower()}_{along}_of_{axes}"
