"""Matrices of integers: their transposes and their products modulo 2^32."""

from __future__ import annotations

from typing import Any

import numpy as np

from vyre import Array, ProcedureArray, u8, u32
from vyre._base.refused import must_be
from vyre.errors import BindingError
from vyre.std._calls.declared import At, Unpack, argument, step
from vyre.std._calls.host import elements, one_place, place_of, refuse_unlike
from vyre.std._calls.recorded import recorded
from vyre.std._graphs.matmul import multiplier
from vyre.std._graphs.transpose import transposer
from vyre.std.sorting import KEYS, unsigned, viewed, where_of

__all__ = ["matmul", "transpose"]

_FACTORS = ["uint32", "uint8"]


@step
def transpose(x: np.ndarray | Array | ProcedureArray, **at: Unpack[At]) -> Any:
    """The matrix with rows and columns exchanged, in memory too.

    Args:
        x: a matrix, an array of two axes, of uint32, int32, uint64, uint8, int8, uint16 or int16.

    Gives: a new array of x's dtype, contiguous; a resident one for a resident one, without waiting.

    >>> import numpy as np
    >>> transpose(np.array([[1, 2, 3], [4, 5, 6]], np.uint8), backend="cpu")
    array([[1, 4],
           [2, 5],
           [3, 6]], dtype=uint8)
    """
    x = elements(x, argument(at, "x"), KEYS, axes=2)
    place = place_of(at, x)
    words, element = unsigned(x)
    return viewed(transposer(element)(recorded(words), **where_of(place)), x.dtype)


@step
def matmul(
    a: np.ndarray | Array | ProcedureArray,
    b: np.ndarray | Array | ProcedureArray,
    **at: Unpack[At],
) -> Any:
    """The product of two matrices modulo 2^32.

    Args:
        a: a matrix of m rows and k columns, of uint32 or uint8.
        b: a matrix of k rows and n columns, of a's dtype.

    Gives: a matrix of m rows and n columns, of uint32; a resident one for resident ones, without waiting. Sums of
        fewer than 66,052 products of uint8 are exact.

    >>> import numpy as np
    >>> a = np.array([[1, 2], [3, 4]], np.uint32)
    >>> matmul(a, a, backend="cpu")
    array([[ 7, 10],
           [15, 22]], dtype=uint32)
    """
    a = elements(a, argument(at, "a"), _FACTORS, axes=2)
    b = elements(b, argument(at, "b"), _FACTORS, axes=2)
    if a.dtype != b.dtype:
        raise must_be(argument(at, "b"), f"a matrix of {a.dtype}", f"one of {b.dtype}", BindingError)
    refuse_unlike(b, f"the rows of {argument(at, 'b')}", a, "columns of `a`", 0, 1)
    place = one_place(at, a, b)
    element = u32 if a.dtype == np.uint32 else u8
    return multiplier(element)(recorded(a), recorded(b), **where_of(place))
