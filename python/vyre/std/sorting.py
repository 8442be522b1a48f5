"""Stable sorts of whole arrays: a radix sort, least significant digit first, and forms of one dispatch for few keys."""

from __future__ import annotations

from typing import Any

import numpy as np

import vyre
from vyre import DataType, u32
from vyre._arrays.dtype_names import dtype_name
from vyre._base.types import INTEGERS
from vyre._core import Array
from vyre._procedure.arrays import ProcedureArray
from vyre._procedure.making import with_elements
from vyre.std._calls.declared import At, Unpack, argument, step
from vyre.std._calls.host import elements, flag_of, one_place, refuse_unlike
from vyre.std._calls.recorded import recorded
from vyre.std._calls.routes import ROUTES
from vyre.std._scanning.operators import TYPES
from vyre.std._sorting.sorter import sorter

__all__ = ["argsort", "sort", "sort_pairs"]

KEYS = list(INTEGERS)


def unsigned(array: Any) -> tuple[Any, DataType]:
    """The elements as unsigned ones of as many bits, and their type."""
    name = "u" + dtype_name(array.dtype).removeprefix("u")
    return viewed(array, name), INTEGERS[name]


@step
def sort(x: np.ndarray | Array | ProcedureArray, descending: bool = False, **at: Unpack[At]) -> Any:
    """The elements in ascending order, or in descending order.

    Args:
        x: an array of one axis, of integers of 8 to 64 bits but int64, with at most 2^32 - 1 elements.
        descending: whether the largest comes first.

    Gives: a new array of x's dtype; a resident one for a resident one, without waiting. The device needs room for
        another array like x, and for 2,048 bytes of counters for every 2,048 elements.

    Source: the radix sort of D. Knuth, The Art of Computer Programming, volume 3, section 5.2.5, 8 bits a pass.

    >>> import numpy as np
    >>> sort(np.array([3, 1, 2], np.uint32), backend="cpu")
    array([1, 2, 3], dtype=uint32)
    >>> sort(np.array([3, -1, 2], np.int32), descending=True, backend="cpu")
    array([ 3,  2, -1], dtype=int32)
    """
    x = elements(x, argument(at, "x"), KEYS)
    keys, key, flip, where = _keys_of(x, descending, at)
    return viewed(sorter(key, exchange=_exchanges(keys))(keys, flip, **where), x.dtype)


@step
def argsort(
    x: np.ndarray | Array | ProcedureArray,
    descending: bool = False,
    **at: Unpack[At],
) -> Any:
    """The positions of the elements in their sorted order; of equal elements the first position comes first.

    Args:
        x: an array of one axis, of integers of 8 to 64 bits but int64, with at most 2^32 - 1 elements.
        descending: whether the largest element's position comes first.

    Gives: a new array of uint32 with x's length; a resident one for a resident one, without waiting.

    >>> import numpy as np
    >>> argsort(np.array([30, 10, 20, 10], np.uint32), backend="cpu")
    array([1, 3, 2, 0], dtype=uint32)
    """
    x = elements(x, argument(at, "x"), KEYS)
    keys, key, flip, where = _keys_of(x, descending, at)
    return sorter(key, u32, positions=True, exchange=_exchanges(keys))(keys, flip, **where)[1]


@step
def sort_pairs(
    keys: np.ndarray | Array | ProcedureArray,
    values: np.ndarray | Array | ProcedureArray,
    descending: bool = False,
    **at: Unpack[At],
) -> tuple[Any, Any]:
    """The keys in sorted order, and the values in the order of their keys.

    Args:
        keys: an array of one axis, of integers of 8 to 64 bits but int64, with at most 2^32 - 1 elements.
        values: one for each key, of uint32, int32 or uint64. Values of equal keys keep their order.
        descending: whether the largest key comes first.

    Gives: two new arrays, (keys, values); resident ones for resident ones, without waiting.

    >>> import numpy as np
    >>> sort_pairs(np.array([2, 1, 2], np.uint8), np.array([5, 6, 7], np.uint32), backend="cpu")
    (array([1, 2, 2], dtype=uint8), array([6, 5, 7], dtype=uint32))
    """
    values = elements(values, argument(at, "values"), list(TYPES))
    keys = elements(keys, argument(at, "keys"), KEYS)
    compared, key, flip, where = _keys_of(keys, descending, at, values)
    refuse_unlike(values, argument(at, "values"), keys, "keys")
    carried, value = unsigned(values)
    made = sorter(key, value, exchange=_exchanges(compared))(compared, recorded(carried), flip, **where)
    return viewed(made[0], keys.dtype), viewed(made[1], values.dtype)


def _exchanges(keys: Any) -> bool:
    return isinstance(keys, Array) and ROUTES[keys.backend].exchange


def _keys_of(x: Any, descending: Any, at: At, *others: Any) -> tuple[Any, Any, int, dict[str, Any]]:
    """The keys as unsigned ones, their type, `flip` of the procedure, and where it runs."""
    reverse = flag_of(descending, at, "descending")
    place = one_place(at, x, *others)
    keys, key = unsigned(x)
    return recorded(keys), key, flip_of(x.dtype, reverse), where_of(place)


def flip_of(dtype: Any, descending: bool) -> int:
    """The number whose exclusive or with a key orders signed keys as unsigned ones, and turns the order around."""
    bits = 8 * dtype.itemsize
    return (2**bits - 1 if descending else 0) ^ (2 ** (bits - 1) if dtype.kind == "i" else 0)


def where_of(place: Any) -> dict[str, Any]:
    """The keywords for the call of a procedure; resident arrays say themselves where they are."""
    return {"backend": place.backend, "device": place.device} if place.on_host else {}


def viewed(array: Any, dtype: Any) -> Any:
    """The elements of an array as those of another dtype of as many bits, which is the same memory."""
    name = np.dtype(dtype).name
    if isinstance(array, ProcedureArray):
        return with_elements(array, INTEGERS[name])
    if dtype_name(array.dtype) == name:
        return array
    if not isinstance(array, vyre.Array):
        return array.view(name)
    made = array.view(INTEGERS[name])  # which has one axis
    return made if array.ndim == 1 else made.reshape(*array.shape)
