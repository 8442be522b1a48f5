"""Numbers as arrays of the element types, each element with its own value.

Nothing is converted silently: numpy's own conversions drop fractions and wrap around.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vyre import _core
from vyre._base.refused import must_be
from vyre._base.text import shown

if TYPE_CHECKING:
    from typing import Any

__all__ = ["assigned", "exact"]


def exact(values: Any, dtype: np.dtype[Any], where: str) -> np.ndarray:
    """``values`` as an array of an integer or bool dtype, or an ArgumentError that names ``where``.

    Integers of any width are taken when every one of them fits; floats are refused, whole ones too.
    """
    if _core._is_masked(values):
        raise must_be(where, "an array without a mask", "a masked array")
    array = _array(values, where)
    if array.dtype == dtype or (array.size == 0 and not hasattr(values, "dtype")):
        return array.astype(dtype, copy=False)
    wanted, wrong = f"integers for {dtype}", 0
    if dtype == np.bool_:
        wanted = "True or False for bool"
    elif array.dtype.kind in "iuO":
        # An axis that repeats one element is cut to that element: such a view may have any size.
        seen = array[(..., *(slice(1) if stride == 0 else slice(None) for stride in array.strides))]
        at = _outside(seen, dtype)
        if at is None:
            return array.astype(dtype)
        array, wrong = seen, at
        wanted = f"integers from {np.iinfo(dtype).min} to {np.iinfo(dtype).max} for {dtype}"
    raise must_be(where, wanted, _shown(array, wrong))


def assigned(values: Any, dtype: np.dtype[Any], where: str) -> np.ndarray:
    """The values to write into an array of ``dtype``: an array of that very dtype, or numbers that fit it."""
    typed = hasattr(values, "dtype") and not isinstance(values, np.generic)
    if not typed:
        return exact(values, dtype, where)
    array = _array(values, where)
    if array.dtype != dtype:
        got = f"one of {array.dtype} with shape {array.shape}"
        raise must_be(where, f"an array of {dtype}", got)
    return array


def _array(values: Any, where: str) -> np.ndarray:
    """Convert with numpy. Python integers that no single dtype can hold stay objects, which are exact."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise must_be(where, "numbers, all rows of one length", str(error).rstrip(".")) from None
    if array.dtype.kind == "f" and not hasattr(values, "dtype"):
        # Integers beside each other such as -1 and 2**63 became floats.
        objects = np.asarray(values, dtype=object)
        if array.size and all(map(_is_integer, objects.flat)):
            return objects
    return array


def _is_integer(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _outside(array: np.ndarray, dtype: np.dtype[Any]) -> int | None:
    """The flat index of the first element that is no integer in the dtype's range."""
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    flat = array.reshape(-1)
    if array.dtype.kind == "O":
        return next((index for index, item in enumerate(flat) if not (_is_integer(item) and low <= item <= high)), None)
    if not array.size or (low <= flat.min().item() and flat.max().item() <= high):
        return None
    return int(np.argmax((flat < low) | (flat > high)))


def _shown(array: np.ndarray, at: int) -> str:
    """The element that is wrong, and where it stands."""
    if not array.size:
        return f"an array of {array.dtype} with shape {array.shape}"
    item = array.flat[at]
    place = f" at {list(map(int, np.unravel_index(at, array.shape)))}" if array.ndim else ""
    return f"{shown(item.item() if isinstance(item, np.generic) else item)}{place}"
