"""Selections by a mask: the selected elements, their positions, and both parts of an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from vyre import Array, DataType, ProcedureArray, boolean, u8, u32
from vyre._arrays.dtype_names import dtype_name
from vyre._base.types import OF_DTYPE
from vyre.std._calls.declared import At, Unpack, argument, step
from vyre.std._calls.host import Place, check_order, elements, one_place, place_of, refuse_unlike
from vyre.std._scanning.compaction import compactor, row_compactor
from vyre.std.sorting import KEYS, unsigned, viewed

__all__ = ["compact", "nonzero", "partition"]

_MASKS = ["bool", "uint8", "int8", "uint32", "int32"]


@step
def compact(
    x: np.ndarray | Array | ProcedureArray,
    mask: np.ndarray | Array | ProcedureArray,
    **at: Unpack[At],
) -> Any:
    """The elements whose mask is not 0, in their order; of an array of several axes the rows.

    Args:
        x: an array of one to three axes, of bool or of integers of 8 to 64 bits but int64, with at most 2^32 - 1
            elements.
        mask: one for each row, of bool, uint8, int8, uint32 or int32, and for an x of bool of bool. On a device a mask
            of uint8 moves the fewest bytes.

    Gives: a new array of x's dtype. For resident arrays (array, count) without waiting: an array as long as x, with
        zeros behind the selected elements, and a uint32 of one element. Of a resident array `a[mask]` is the selected
        elements alone, and waits.

    Source: G. Blelloch, Prefix Sums and Their Applications, 1990, section 1.5.

    >>> import numpy as np
    >>> x = np.array([5, 6, 7, 8], np.uint32)
    >>> compact(x, x % 2 == 0, backend="cpu")
    array([6, 8], dtype=uint32)
    """
    place, (y, count) = _selected(False, x, mask, at, [*KEYS, "bool"], None)
    return y[: int(count.numpy()[0])].numpy() if place.on_host else (y, count)


@step
def nonzero(mask: np.ndarray | Array | ProcedureArray, **at: Unpack[At]) -> Any:
    """The positions of the elements that are not 0, in ascending order.

    Args:
        mask: an array of one axis, of bool, uint8, int8, uint32 or int32, with at most 2^32 - 1 elements.

    Gives: a uint32 array. For a resident array (array, count) without waiting, as compact does.

    Raises: as compact.

    >>> import numpy as np
    >>> nonzero(np.array([0, 3, 0, 1], np.uint32), backend="cpu")
    array([1, 3], dtype=uint32)
    """
    selected, kind = mask_of(mask, argument(at, "mask"))
    place = place_of(at, selected)
    y, count = compactor(None, kind)(place.array(selected))
    return y[: int(count.numpy()[0])].numpy() if place.on_host else (y, count)


@step
def partition(
    x: np.ndarray | Array | ProcedureArray,
    mask: np.ndarray | Array | ProcedureArray,
    **at: Unpack[At],
) -> tuple[Any, Any]:
    """The elements whose mask is not 0, followed by the others, each part in its order.

    Args:
        x: an array of one axis, of integers of 8 to 64 bits but int64, with at most 2^32 - 1 elements.
        mask: as for compact.

    Gives: (array, count): a new array of x's length and dtype, and how many elements are selected, an int; for
        resident arrays a resident uint32 of one element, without waiting.

    >>> import numpy as np
    >>> x = np.array([5, 6, 7, 8], np.uint32)
    >>> partition(x, x % 2 == 0, backend="cpu")
    (array([6, 8, 5, 7], dtype=uint32), 2)
    """
    place, (y, count) = _selected(True, x, mask, at, KEYS, 1)
    return (y.numpy(), int(count.numpy()[0])) if place.on_host else (y, count)


def mask_of(mask: Any, where: str) -> tuple[Any, DataType]:
    """A mask as an array of u8, u32 or boolean, and which of them."""
    mask = elements(mask, where, _MASKS)
    if mask.dtype == bool and not isinstance(mask, np.ndarray):
        return mask, boolean
    words, _ = unsigned(mask.view(np.uint8) if mask.dtype == bool else mask)
    return words, u8 if mask.dtype.itemsize == 1 else u32


def _is_mask(x: Any) -> bool:
    return hasattr(x, "dtype") and x.dtype == bool


def _selected(
    rest_too: bool, x: Any, mask: Any, at: At, dtypes: list[str], axes: int | None
) -> tuple[Place, tuple[Any, Any]]:
    check_order(_is_mask(x) and hasattr(mask, "dtype") and not _is_mask(mask), at, "x", "mask")
    x = elements(x, argument(at, "x"), dtypes, axes)
    mask, kind = mask_of(mask, argument(at, "mask"))
    place = one_place(at, x, mask)
    refuse_unlike(mask, argument(at, "mask"), x, "elements of `x`")
    if x.ndim > 1 or x.dtype == bool:
        made = row_compactor(OF_DTYPE[dtype_name(x.dtype)], x.ndim, kind)(place.array(x), place.array(mask))
        return place, made
    words, element = unsigned(x)
    y, count = compactor(element, kind, rest_too)(place.array(words), place.array(mask))
    return place, (viewed(y, x.dtype), count)
