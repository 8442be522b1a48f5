"""The largest elements of an array."""

from __future__ import annotations

from typing import Any

import numpy as np

import vyre
from vyre import Array, ProcedureArray
from vyre._base.refused import must_be
from vyre.std._calls.declared import At, Unpack, argument, step
from vyre.std._calls.host import check_order, count_of, elements, place_of
from vyre.std._calls.recorded import recorded
from vyre.std._sorting.selection import selector
from vyre.std.sorting import KEYS, flip_of, unsigned, viewed, where_of

__all__ = ["topk"]


@step
def topk(x: np.ndarray | Array | ProcedureArray, k: int, **at: Unpack[At]) -> tuple[Any, Any]:
    """The k largest elements, the largest first, and their positions.

    Args:
        x: an array of one axis, of integers of 8 to 64 bits but int64, with at most 2^32 - 1 elements.
        k: how many, from 0 to the length of x.

    Gives: (values, positions), arrays of k elements of x's dtype and of uint32; resident ones for a resident one,
        without waiting. Of equal elements the first position comes first.

    Raises: BindingError, ArgumentError (for k too), CapabilityError, DeviceMemoryError, DeviceError.

    >>> import numpy as np
    >>> topk(np.array([3, 9, 4, 9], np.uint32), 3, backend="cpu")
    (array([9, 9, 4], dtype=uint32), array([1, 3, 2], dtype=uint32))
    """
    check_order(isinstance(x, int) and hasattr(k, "dtype"), at, "x", "k")
    x = elements(x, argument(at, "x"), KEYS)
    count = k if isinstance(k, vyre.Size) else count_of(k, argument(at, "k"), 0, 2**32 - 1)
    place = place_of(at, x)
    error = must_be(argument(at, "k"), f"at most {x.shape[0]}, the elements of `x`", count)
    if place.is_step:
        vyre.require(count <= x.shape[0], str(error))
    elif count > len(x):
        raise error
    keys, key = unsigned(x)
    values, positions = selector(key)(recorded(keys), count, flip_of(x.dtype, True), **where_of(place))
    return viewed(values, x.dtype), positions
