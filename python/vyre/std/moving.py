"""Elements moved along an axis: concatenated, flipped, repeated, rolled, and subtracted from their neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from vyre import Array, ProcedureArray, Size, size_max
from vyre._arrays.dtype_names import dtype_name
from vyre._base.refused import must_be, must_have
from vyre._base.text import as_count, shown, type_of
from vyre._base.types import OF_DTYPE
from vyre.std._calls.declared import At, Unpack, argument, step
from vyre.std._calls.host import count_of, elements, one_place, place_of, refuse_unlike
from vyre.std._scanning.axes import differ, joiner, length_along, mover

__all__ = ["concatenate", "diff", "flip", "repeat", "roll"]

_MOST_DIFFERENCES = 1000


@step
def concatenate(arrays: Any, axis: int = 0, **at: Unpack[At]) -> Any:
    """Arrays one after the other.

    Args:
        arrays: a list of arrays of one to three axes, of bool or of integers of 8 to 64 bits but int64. They have one
            dtype, and one shape but for the axis; all together have at most 2^32 - 1 elements.
        axis: along which they follow one another; a negative one counts from the last.

    Gives: a new array; a resident one for resident ones, without waiting.

    >>> import numpy as np
    >>> concatenate([np.array([1, 2], np.uint32), np.array([3], np.uint32)], backend="cpu")
    array([1, 2, 3], dtype=uint32)
    """
    if not isinstance(arrays, (list, tuple)):
        raise must_be(argument(at, "arrays"), "a list of arrays", type_of(arrays))
    if not arrays:
        raise must_have(argument(at, "arrays"), "an array or more", "none")
    where = f"each of {argument(at, 'arrays')}"
    first = elements(arrays[0], where, list(OF_DTYPE), None)
    axes, dtype = first.ndim, dtype_name(first.dtype)
    along = _axis(axis, first, at)
    given = [first, *(elements(each, where, [dtype], axes) for each in arrays[1:])]
    place = one_place(at, *given)
    for each in given[1:]:
        for k in set(range(axes)) - {along}:
            refuse_unlike(each, f"{where} on axis {k}", first, "rows of the first one", k, k)
    if len(given) == 1:
        return place.result(mover("roll", OF_DTYPE[dtype], axes, None)(place.array(first), 0))
    join, parts = joiner(OF_DTYPE[dtype], axes, along), [place.array(each) for each in given]
    while len(parts) > 1:  # by pairs: each element is moved as often as a list of this length is halved
        joined = [join(*parts[k : k + 2]) for k in range(0, len(parts) - 1, 2)]
        parts = [*joined, *parts[2 * len(joined) :]]
    return place.result(parts[0])


@step
def flip(x: np.ndarray | Array | ProcedureArray, axis: int | None = None, **at: Unpack[At]) -> Any:
    """The elements in reverse order along an axis.

    Args:
        x: an array of one to three axes, of bool or of integers of 8 to 64 bits but int64, with at most 2^32 - 1
            elements.
        axis: a negative one counts from the last; None is all of them.

    Gives: a new array of x's shape and dtype; a resident one for a resident one, without waiting.

    >>> import numpy as np
    >>> flip(np.array([[1, 2], [3, 4]], np.uint32), axis=0, backend="cpu")
    array([[3, 4],
           [1, 2]], dtype=uint32)
    """
    array, element, along = _given(x, axis, at)
    place = place_of(at, array)
    return place.result(mover("flip", element, array.ndim, along)(place.array(array), 0))


@step
def repeat(x: np.ndarray | Array | ProcedureArray, repeats: int, axis: int | None = None, **at: Unpack[At]) -> Any:
    """Each element, or each row along an axis, several times.

    Args:
        x: as for flip; so is the result, which has `repeats` times as many elements.
        repeats: how often, from 0 to 2^32 - 1.
        axis: a negative one counts from the last; None takes all elements as one axis, which the result has.

    Gives: a new array of x's dtype; a resident one for a resident one, without waiting.

    >>> import numpy as np
    >>> repeat(np.array([5, 6], np.uint32), 2, backend="cpu")
    array([5, 5, 6, 6], dtype=uint32)
    """
    array, element, along = _given(x, axis, at)
    times = repeats if isinstance(repeats, Size) else count_of(repeats, argument(at, "repeats"), 0, 2**32 - 1)
    place = place_of(at, array)
    return place.result(mover("repeat", element, array.ndim, along)(place.array(array), times))


@step
def roll(x: np.ndarray | Array | ProcedureArray, shift: int, axis: int | None = None, **at: Unpack[At]) -> Any:
    """The elements moved along an axis; those that leave it at one end come back at the other.

    Args:
        x: as for flip.
        shift: by how many places, towards the end, or towards the beginning if it is negative.
        axis: a negative one counts from the last; None takes all elements as one axis, and keeps the shape.

    Gives: a new array of x's shape and dtype; a resident one for a resident one, without waiting.

    >>> import numpy as np
    >>> roll(np.array([1, 2, 3, 4], np.uint32), 1, backend="cpu")
    array([4, 1, 2, 3], dtype=uint32)
    """
    array, element, along = _given(x, axis, at)
    places = shift if isinstance(shift, Size) else as_count(shift)
    if places is None:
        raise must_be(argument(at, "shift"), "an integer", shown(shift))
    place = place_of(at, array)
    n = length_along(array.shape, along)
    n = size_max(n, 1) if isinstance(n, Size) else max(n, 1)
    # A size has no sign, so that a shift towards the end is what is left of the length.
    begin = -places % n if isinstance(places, int) and places <= 0 else n - places % n
    return place.result(mover("roll", element, array.ndim, along)(place.array(array), begin))


@step
def diff(x: np.ndarray | Array | ProcedureArray, n: int = 1, axis: int = -1, **at: Unpack[At]) -> Any:
    """Each element subtracted from the next one along an axis, modulo 2 to the bits of the type.

    Args:
        x: as for flip. Of truths it tells whether neighbours differ.
        n: how many times the difference is taken, from 0 to 1,000; each time one row less is left.
        axis: a negative one counts from the last.

    Gives: a new array of x's dtype; a resident one for a resident one, without waiting.

    >>> import numpy as np
    >>> diff(np.array([1, 4, 9, 16], np.uint32), backend="cpu")
    array([3, 5, 7], dtype=uint32)
    """
    array, element, along = _given(x, axis, at, or_none=False)
    times = count_of(n, argument(at, "n"), 0, _MOST_DIFFERENCES)
    place = place_of(at, array)
    made = place.array(array)
    if not times:
        made = mover("roll", element, array.ndim, None)(made, 0)
    for _ in range(times):
        made = differ(element, array.ndim, along)(made)
    return place.result(made)


def _given(x: Any, axis: Any, at: At, or_none: bool = True) -> tuple[Any, Any, Any]:
    """An array, the type of its elements, and the axis."""
    x = elements(x, argument(at, "x"), list(OF_DTYPE), None)
    along = None if axis is None and or_none else _axis(axis, x, at)
    return x, OF_DTYPE[dtype_name(x.dtype)], along


def _axis(axis: Any, x: Any, at: At) -> int:
    return count_of(axis, argument(at, "axis"), -x.ndim, x.ndim - 1) % x.ndim
