"""Numbers as arrays of the element types, each element with its own value; and what to write where that cannot be.

Nothing is converted silently: numpy's own conversions drop fractions and wrap around.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import numpy as np

from vyre import _core
from vyre._text import shown
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["assigned", "conversion", "exact", "fitting", "holding", "natural", "one_of", "sequence"]

# numpy's names of the integer elements, each with vyre's, in the order in which one is proposed for integers.
_INTEGERS = {
    row.dtype: row.text for row in _core._tables["types"] if row.components == 1 and row.kind in ("unsigned", "signed")
}


def exact(values: Any, dtype: np.dtype[Any], where: str) -> np.ndarray:
    """``values`` as an array of an integer or bool dtype, or an ArgumentError that names ``where``.

    Integers of any width are taken when every one of them fits; floats are refused, whole ones too.
    """
    if _core._is_masked(values):
        raise ArgumentError(
            f"{where} must be an array whose every element counts, got a masked array. "
            "Fix: write .filled(0) to give the masked elements a value."
        )
    array = _array(values, where)
    if array.dtype == dtype or (array.size == 0 and not hasattr(values, "dtype")):
        return array.astype(dtype, copy=False)
    if dtype == np.bool_:
        _refuse(f"{where} must be True or False for bool", array, 0, "write np.asarray(x) != 0")
    if array.dtype.kind == "b":
        _refuse(f"{where} must be integers for {dtype}", array, 0, f"write np.asarray(x).astype(np.{dtype})")
    if array.dtype.kind not in "iuO":
        _refuse_other(array, dtype, where)
    seen = _distinct(array)
    at = _outside(seen, dtype)
    if at is not None:
        low, high = _range(dtype)
        fix = "write values in that range"
        if array.dtype.kind in "iu":
            fix = f"write np.asarray(x).astype(np.{dtype}) for the low {8 * dtype.itemsize} bits of each"
        elif not _integer(seen.reshape(-1)[at]):
            fix = "pass integers, all rows of one length"
        _refuse(f"{where} must be integers from {low} to {high} for {dtype}", seen, at, fix)
    return array.astype(dtype)


def assigned(values: Any, dtype: np.dtype[Any], where: str) -> np.ndarray:
    """The values to write into an array of ``dtype``: an array of that very dtype, or numbers that fit it."""
    typed = hasattr(values, "dtype") and not isinstance(values, np.generic)
    if not typed:
        return exact(values, dtype, where)
    array = _array(values, where)
    if array.dtype != dtype:
        fix = conversion(array, dtype.name, "np.asarray(x)")
        raise ArgumentError(f"{where} must be of dtype {dtype}, got {_shown(array)}. Fix: {fix}.")
    return array


def natural(values: Any) -> str:
    """The expression that makes a vyre.Array of numbers whose dtype is missing, or is none that a buffer takes."""
    if isinstance(values, str):
        return "write vyre.array(values.encode()) for its bytes"
    try:
        array = _array(values, "")
    except ArgumentError:
        return "pass rows of one length"
    if array.dtype.kind == "b":
        return "write vyre.array(values, dtype=vyre.boolean)"
    if array.dtype.kind == "f" and (array.size or hasattr(values, "dtype")):
        kind = np.dtype("uint32")
        if _whole(array, kind):
            return "write vyre.array(np.asarray(values).astype(np.uint32))"
        rounded = "write vyre.array(np.rint(values).astype(np.uint32)), which rounds"
        return rounded if _inside(array, kind) else f"scale the values to 0 to 4294967295, then {rounded}"
    if not array.size:
        return "write vyre.array(values, dtype=vyre.u32)"
    for name, alias in _INTEGERS.items():
        if array.dtype.kind in "iuO" and _outside(array, np.dtype(name)) is None:
            return f"write vyre.array(values, dtype=vyre.{alias})"
    return "pass integers that one of uint32, int32 and uint64 holds, or an array of them"


def conversion(array: np.ndarray, wanted: str, name: str = "", resident: bool = False) -> str:
    """The expression that turns an array into dtype ``wanted``; ``name`` stands before ``.astype``.

    A ``resident`` one is a vyre.Array, made of numpy's.
    """
    array = _distinct(array)
    dtype = np.dtype(wanted)
    wanted = _code(dtype)
    made = "vyre.array({})".format if resident else str
    cast = made(f"{name}.astype(np.{wanted})")
    if array.dtype.kind == "f" and dtype.kind in "iu" and not _whole(array, dtype):
        rounded = made(f"np.rint({name or 'x'}).astype(np.{wanted})")
        if _inside(array, dtype):
            return f"write {rounded} to round, or {cast} to drop the fractions"
        low, high = _range(dtype)
        return f"scale its elements to {low} to {high}, then write {rounded}"
    if array.dtype.kind in "iu" and dtype.kind in "iu" and _outside(array, dtype) is not None:
        return f"write {cast} for the low {8 * dtype.itemsize} bits of each element: not every value fits {wanted}"
    if array.dtype.kind not in "iufb":
        return f"pass a vyre.Array of {wanted}" if resident else f"write an array of {wanted}"
    return f"write {cast}"


def fitting(values: Any, dtypes: Sequence[str]) -> str:
    """The first of integer dtypes that holds every number; if none does, the first one that has their signs."""
    try:
        array = _distinct(_array(values, ""))
    except ArgumentError:
        return dtypes[0]
    if array.dtype.kind == "f":
        tests = [_whole, _inside]
    else:
        tests = [lambda array, dtype: array.dtype.kind in "iuO" and _outside(array, dtype) is None]
    for holds in tests:
        for name in dtypes:
            if holds(array, np.dtype(name)):
                return name
    negative = array.size > 0 and array.dtype.kind in "if" and bool((array < 0).any())
    signed = [name for name in dtypes if np.dtype(name).kind == "i"]
    return signed[0] if negative and signed else dtypes[0]


def holding(arrays: Sequence[np.ndarray], dtypes: Sequence[str]) -> str | None:
    """The first of integer dtypes that holds every element of these arrays of integers, or None."""
    if any(array.dtype.kind not in "iu" for array in arrays):
        return None
    seen = [_distinct(array) for array in arrays]
    return next((name for name in dtypes if all(_outside(each, np.dtype(name)) is None for each in seen)), None)


def one_of(array: np.ndarray, dtypes: Sequence[str]) -> str:
    """The expression that turns an array into one of these integer dtypes, and keeps its numbers if one holds them."""
    wanted = fitting(array, dtypes)
    if array.dtype.kind in "iu" and _outside(_distinct(array), np.dtype(wanted)) is not None:
        low, high = _range(np.dtype(wanted))
        return f"bring its elements into {low} to {high}, then write .astype(np.{wanted})"
    return conversion(array, wanted)


def sequence(values: Any, wanted: str, resident: bool = False) -> str:
    """The expression that makes an array of dtype ``wanted`` of a list or another object without a dtype."""
    dtype = np.dtype(wanted)
    name = _code(dtype)
    made = f"np.array(x, dtype=np.{name})"
    try:
        array = _array(values, "")
    except ArgumentError:
        return f"write {f'vyre.array({made})' if resident else made} with rows of one length"
    integers = array.dtype.kind in "iu" or (array.dtype.kind == "O" and all(map(_integer, array.flat)))
    if array.dtype.kind == "f" and array.size:
        return conversion(array, wanted, "np.array(x)", resident)
    if array.size and not integers and array.dtype.kind != "b":
        return f"pass {'a vyre.Array' if resident else 'an array'} of {wanted}"
    if resident:
        # vyre.array converts no truths to numbers, nor numbers to truths.
        made = f"vyre.array(x, dtype=np.{name})" if integers and dtype.kind in "iu" else f"vyre.array({made})"
    if integers and dtype.kind in "iu" and _outside(array, dtype) is not None:
        low, high = _range(dtype)
        return f"write {made} with integers from {low} to {high}"
    return f"write {made}"


def _code(dtype: np.dtype[Any]) -> str:
    """The dtype's name in numpy's module."""
    return "bool_" if dtype == np.bool_ else dtype.name


def _array(values: Any, where: str) -> np.ndarray:
    """Convert with numpy. Python integers that no single dtype can hold stay objects, which are exact."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ArgumentError(
            f"{where} cannot be one array: {str(error).rstrip('.')}. Fix: pass numbers, all rows of one length."
        ) from None
    if array.dtype.kind == "f" and not hasattr(values, "dtype"):
        # Integers beside each other such as -1 and 2**63 became floats.
        objects = np.asarray(values, dtype=object)
        if array.size and all(map(_integer, objects.flat)):
            return objects
    return array


def _integer(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _range(dtype: np.dtype[Any]) -> tuple[int, int]:
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max)


def _distinct(array: np.ndarray) -> np.ndarray:
    """The array with each axis that repeats one element cut to that element: such a view may have any size."""
    return array[(..., *(slice(1) if stride == 0 else slice(None) for stride in array.strides))]


def _outside(array: np.ndarray, dtype: np.dtype[Any]) -> int | None:
    """The flat index of the first element that is no integer in the dtype's range."""
    low, high = _range(dtype)
    flat = array.reshape(-1)
    if array.dtype.kind == "O":
        return next((index for index, item in enumerate(flat) if not (_integer(item) and low <= item <= high)), None)
    if not array.size or (low <= flat.min().item() and flat.max().item() <= high):
        return None
    return int(np.argmax((flat < low) | (flat > high)))


def _inside(array: np.ndarray, dtype: np.dtype[Any]) -> bool:
    """Whether every element of a float array fits once it is rounded."""
    return bool(np.isfinite(array).all()) and _outside(np.rint(array), dtype) is None


def _whole(array: np.ndarray, dtype: np.dtype[Any]) -> bool:
    """Whether every element of a float array is an integer that fits."""
    return _inside(array, dtype) and bool((np.rint(array) == array).all())


def _refuse_other(array: np.ndarray, dtype: np.dtype[Any], where: str) -> NoReturn:
    if array.dtype.kind == "f":
        seen = _distinct(array)
        flat = seen.reshape(-1)
        at = int(np.argmax(np.rint(flat) != flat)) if flat.size else 0  # 0 when all are whole
        _refuse(f"{where} must be integers for {dtype}", seen, at, conversion(array, dtype.name, "np.asarray(x)"))
    raise ArgumentError(f"{where} must be integers for {dtype}, got {_shown(array)}. Fix: pass an array of {dtype}.")


def _refuse(problem: str, array: np.ndarray, at: int, fix: str) -> NoReturn:
    if not array.size:
        raise ArgumentError(f"{problem}, got {_shown(array)}. Fix: {fix}.")
    item = array.reshape(-1)[at]
    place = f" at {list(map(int, np.unravel_index(at, array.shape)))}" if array.ndim else ""
    raise ArgumentError(
        f"{problem}, got {shown(item.item() if isinstance(item, np.generic) else item)}{place}. Fix: {fix}."
    )


def _shown(array: np.ndarray) -> str:
    return f"an array of {array.dtype} with shape {array.shape}"
