"""Kernels and procedures that choose each element by itself: by a condition, or between two numbers."""

# No `from __future__ import annotations`: the kernels' annotations name types of the functions that make them.
import functools
import math
from typing import Any

import vyre
from vyre import DataType, In, Out
from vyre._base.types import TYPES

__all__ = ["chooser", "clipper"]


@functools.cache
def chooser(element: DataType, condition: DataType, axes: int, is_number: tuple[bool, bool]) -> Any:
    """The procedure `procedure(chosen, x, y)` -> the elements of x where a condition is not 0, else those of y.

    Args:
        condition: the type of the condition's elements.
        is_number: whether x is a number for all elements, and whether y is one.
    """
    is_truth, (x_alone, y_alone) = condition is DataType.Bool, is_number
    x_row: Any = TYPES[element].value if x_alone else In[element]
    y_row: Any = TYPES[element].value if y_alone else In[element]
    x_given: Any = x_row if x_alone else In[element, axes]
    y_given: Any = y_row if y_alone else In[element, axes]

    @vyre.kernel(workgroup_size=256)
    def choose(chosen: In[condition], x: x_row, y: y_row, z: Out[element]) -> None:
        i = vyre.gid(0)
        if i < len(z):
            first, second = x if x_alone else x[i], y if y_alone else y[i]
            z[i] = vyre.select(chosen[i] if is_truth else chosen[i] != 0, first, second)

    names = ["number" if alone else "array" for alone in is_number]

    @vyre.procedure(name=f"std.where.{element.name.lower()}_{'_'.join(names)}_by_{condition.name.lower()}_{axes}")
    def where(chosen: In[condition, axes], x: x_given, y: y_given) -> vyre.ProcedureArray:
        z = vyre.scratch(element, *chosen.shape, name="z")
        first, second = x if x_alone else x.ravel(), y if y_alone else y.ravel()
        choose(chosen.ravel(), first, second, z.ravel(), grid=math.prod(chosen.shape))
        return z

    return where


@functools.cache
def clipper(element: DataType, axes: int) -> Any:
    """The procedure `procedure(x, low, high)` -> the elements between two numbers, `high` where low is greater."""
    value: Any = TYPES[element].value

    @vyre.kernel(workgroup_size=256)
    def limit(x: In[element], low: value, high: value, y: Out[element]) -> None:
        i = vyre.gid(0)
        if i < len(y):
            y[i] = vyre.clamp(x[i], low, high)

    @vyre.procedure(name=f"std.clip.{element.name.lower()}_{axes}")
    def clip(x: In[element, axes], low: value, high: value) -> vyre.ProcedureArray:
        y = vyre.scratch(element, *x.shape, name="y")
        limit(x.ravel(), low, high, y.ravel(), grid=math.prod(x.shape))
        return y

    return clip
