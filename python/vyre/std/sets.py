"""Distinct elements, and sorted arrays as sets."""

from __future__ import annotations

from typing import Any

import numpy as np

from vyre import Array, DataType, ProcedureArray
from vyre._arrays.dtype_names import dtype_name
from vyre._base.refused import must_be, must_be_one_of
from vyre._base.text import as_count, shown
from vyre._base.types import INTEGERS
from vyre.std._calls.declared import At, Unpack, argument, step
from vyre.std._calls.host import Place, elements, flag_of, one_place, place_of, refuse_descent
from vyre.std._sorting.sets import comparer, merger, searcher
from vyre.std._sorting.unique import uniquer
from vyre.std._sorting.unique_rows import row_uniquer
from vyre.std.sorting import KEYS, flip_of, unsigned, viewed

__all__ = ["intersect1d", "searchsorted", "setdiff1d", "union1d", "unique"]


@step
def unique(
    x: np.ndarray | Array | ProcedureArray,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    **at: Unpack[At],
) -> Any:
    """The distinct elements in ascending order, or the distinct rows, by their first elements, then the next ones.

    Args:
        x: an array of one axis, of integers of 8 to 64 bits but int64, with at most 2^32 - 1 elements; with ``axis=0``
            one of up to three axes, of which rows are meant where the following says elements.
        return_index: whether to give the first position of each distinct element too.
        return_inverse: whether to give for each element of x where its value is in the result.
        return_counts: whether to give how often each distinct element occurs.
        axis: None or 0.

    Gives: a new array of x's dtype, or a tuple of it and what is asked for, in this order, as uint32. For a resident
        array a tuple of those and at last the count, a uint32 of one element, without waiting: the arrays are as
        long as x, with zeros behind the distinct elements.

    >>> import numpy as np
    >>> unique(np.array([5, 3, 5], np.uint32), return_inverse=True, backend="cpu")
    (array([3, 5], dtype=uint32), array([1, 0, 1], dtype=uint32))
    """
    if axis is not None and as_count(axis) != 0:
        raise must_be(argument(at, "axis"), "0 or None", shown(axis))
    array: Any = elements(x, argument(at, "x"), KEYS, 1 if axis is None else None)
    asked = {"return_index": return_index, "return_inverse": return_inverse, "return_counts": return_counts}
    flags = [flag_of(value, at, name) for name, value in asked.items()]
    place = place_of(at, array)
    keys, key = unsigned(array)
    find = uniquer(key, *flags) if array.ndim == 1 else row_uniquer(key, array.ndim, *flags)
    values, *others, count = find(place.array(keys), flip_of(array.dtype, False))
    results = [viewed(values, array.dtype), *others]
    if not place.on_host:
        return *results, count
    n = int(count.numpy()[0])
    inverse = (1 + bool(return_index)) if return_inverse else None
    found = [each.numpy() if k == inverse else each[:n].numpy() for k, each in enumerate(results)]
    return tuple(found) if len(found) > 1 else found[0]


@step
def searchsorted(
    a: np.ndarray | Array | ProcedureArray,
    v: np.ndarray | Array | ProcedureArray,
    side: str = "left",
    **at: Unpack[At],
) -> Any:
    """Where elements go in a sorted array so that it stays sorted.

    Args:
        a: an ascending array of one axis, of integers of 8 to 64 bits but int64, with at most 2^32 - 1 elements. A
            resident one is not checked, because that would wait; if it falls, the places mean nothing.
        v: an array of a's dtype.
        side: "left" for the first place, in front of equal elements, "right" for the last one, behind them.

    Gives: uint32 places, 0 to len(a), one for each element of v; a resident array for resident ones, without waiting.

    >>> import numpy as np
    >>> searchsorted(np.array([10, 20, 20], np.uint32), np.array([20, 5, 99], np.uint32), backend="cpu")
    array([1, 0, 3], dtype=uint32)
    """
    if not isinstance(side, str) or side not in ("left", "right"):
        raise must_be_one_of(argument(at, "side"), ["left", "right"], side)
    place, element, given = _both(("a", "v"), a, v, at)
    return place.result(searcher(element, side == "right")(*given))


@step
def intersect1d(
    a: np.ndarray | Array | ProcedureArray, b: np.ndarray | Array | ProcedureArray, **at: Unpack[At]
) -> Any:
    """The distinct elements that are in both of two sorted arrays.

    Args:
        a: an ascending array of one axis, of integers of 8 to 64 bits but int64, with at most 2^32 - 1 elements. sort
            gives one of any array. Resident ones are not checked, because that would wait; if one falls, the result
            means nothing.
        b: an ascending array of a's dtype.

    Gives: an ascending array of their dtype. For resident arrays (array, count) without waiting: an array as long as
        a, with zeros behind the elements, and a uint32 of one element.

    >>> import numpy as np
    >>> intersect1d(np.array([1, 2, 2, 4], np.uint32), np.array([2, 3, 4], np.uint32), backend="cpu")
    array([2, 4], dtype=uint32)
    """
    return _set(lambda element: comparer(element, True), a, b, at)


@step
def union1d(
    a: np.ndarray | Array | ProcedureArray,
    b: np.ndarray | Array | ProcedureArray,
    **at: Unpack[At],
) -> Any:
    """The distinct elements of two sorted arrays.

    Args, raises: as intersect1d; the two together have at most 2^32 - 1 elements.

    Gives: as intersect1d, for resident arrays an array as long as both together.

    >>> import numpy as np
    >>> union1d(np.array([1, 2, 2, 4], np.uint32), np.array([2, 3, 4], np.uint32), backend="cpu")
    array([1, 2, 3, 4], dtype=uint32)
    """
    return _set(merger, a, b, at)


@step
def setdiff1d(
    a: np.ndarray | Array | ProcedureArray,
    b: np.ndarray | Array | ProcedureArray,
    **at: Unpack[At],
) -> Any:
    """The distinct elements of a sorted array that another one has not.

    Args, gives and raises: as intersect1d.

    >>> import numpy as np
    >>> setdiff1d(np.array([1, 2, 2, 4], np.uint32), np.array([2, 3], np.uint32), backend="cpu")
    array([1, 4], dtype=uint32)
    """
    return _set(lambda element: comparer(element, False), a, b, at)


def _set(procedure_of: Any, a: Any, b: Any, at: At) -> Any:
    place, element, given = _both(("a", "b"), a, b, at)
    y, count = procedure_of(element)(*given)
    return y[: int(count.numpy()[0])].numpy() if place.on_host else (y, count)


def _both(names: tuple[str, str], a: Any, b: Any, at: At) -> tuple[Place, DataType, list[Any]]:
    """Two arrays of one dtype on the device."""
    a = elements(a, argument(at, names[0]), KEYS)
    b = elements(b, argument(at, names[1]), [dtype_name(a.dtype)])
    place = one_place(at, a, b)
    if place.on_host:
        for name, each in zip(names, (a, b), strict=True):
            if name != "v":
                refuse_descent(each, argument(at, name))
    return place, INTEGERS[dtype_name(a.dtype)], [place.array(each) for each in (a, b)]
