"""Elements that are chosen one by one: by a condition, or between two numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from vyre import Array, DataType, ProcedureArray, Size
from vyre._arrays.dtype_names import dtype_name
from vyre._base.refused import must_be
from vyre._base.text import shown
from vyre._base.types import INTEGERS, OF_DTYPE, TYPES, number_of
from vyre.errors import BindingError
from vyre.std._calls.declared import At, Unpack, argument, step
from vyre.std._calls.host import elements, one_place, place_of, refuse_unlike
from vyre.std._scanning.choices import chooser, clipper

__all__ = ["clip", "where"]


@step
def where(
    condition: np.ndarray | Array | ProcedureArray,
    x: np.ndarray | Array | ProcedureArray | int,
    y: np.ndarray | Array | ProcedureArray | int,
    **at: Unpack[At],
) -> Any:
    """The elements of x where a condition is not 0, and elsewhere those of y.

    Args:
        condition: an array of one to three axes, of bool or of integers of 8 to 64 bits but int64, with at most
            2^32 - 1 elements.
        x, y: arrays of the condition's shape and of one dtype, as for `condition`, or a number for all elements. One
            of the two is an array.

    Gives: a new array of their dtype; a resident one for resident ones, without waiting.

    >>> import numpy as np
    >>> x = np.array([5, 6, 7, 8], np.uint32)
    >>> where(x > 6, x, 0, backend="cpu")
    array([0, 0, 7, 8], dtype=uint32)
    """
    chosen: Any = elements(condition, argument(at, "condition"), list(OF_DTYPE), None)
    alone = _is_number(x), _is_number(y)
    if all(alone):
        raise must_be(argument(at, "x"), "an array, because `y` is a number", shown(x), BindingError)
    given: list[Any] = [x, y]
    dtypes = list(OF_DTYPE)
    for k in (1, 0) if alone[0] else (0, 1):  # the dtype of an array is that of a number beside it
        name = argument(at, "xy"[k])
        if alone[k]:
            given[k] = _number(given[k], name, OF_DTYPE[dtypes[0]], "an array, or ")
            continue
        given[k] = elements(given[k], name, dtypes, chosen.ndim)
        dtypes = [dtype_name(given[k].dtype)]
        for axis in range(chosen.ndim):
            refuse_unlike(given[k], f"{name} on axis {axis}", chosen, "rows of `condition`", axis, axis)
    place = one_place(at, chosen, *(given[k] for k in (0, 1) if not alone[k]))
    choose = chooser(OF_DTYPE[dtypes[0]], OF_DTYPE[dtype_name(chosen.dtype)], chosen.ndim, alone)
    values = (given[k] if alone[k] else place.array(given[k]) for k in (0, 1))
    return place.result(choose(place.array(chosen), *values))


@step
def clip(
    x: np.ndarray | Array | ProcedureArray, min: int | None = None, max: int | None = None, **at: Unpack[At]
) -> Any:
    """The elements, none less than one number and none greater than another.

    Args:
        x: an array of one to three axes, of integers of 8 to 64 bits but int64, with at most 2^32 - 1 elements.
        min: the least element, a number of x's dtype; None is no limit.
        max: the greatest one, which every element is where `min` is greater.

    Gives: a new array of x's shape and dtype; a resident one for a resident one, without waiting.

    >>> import numpy as np
    >>> clip(np.array([1, 5, 9], np.uint32), 2, 6, backend="cpu")
    array([2, 5, 6], dtype=uint32)
    """
    array: Any = elements(x, argument(at, "x"), list(INTEGERS), None)
    element = INTEGERS[dtype_name(array.dtype)]
    info = TYPES[element]
    low = info.least if min is None else _number(min, argument(at, "min"), element)
    high = info.greatest if max is None else _number(max, argument(at, "max"), element)
    place = place_of(at, array)
    return place.result(clipper(element, array.ndim)(place.array(array), low, high))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.generic, Size))


def _number(value: Any, where: str, element: DataType, or_else: str = "") -> Any:
    """A number that the type holds; in a procedure it may be a size."""
    number = value if isinstance(value, Size) else number_of(element, value)
    if number is None:
        raise must_be(where, or_else + TYPES[element].wanted, shown(value))
    return number
