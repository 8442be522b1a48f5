"""Scans: every element combined with all elements before it."""

from __future__ import annotations

from typing import Any

import numpy as np

from vyre import Array, ProcedureArray
from vyre._arrays.dtype_names import dtype_name
from vyre._base.refused import must_be
from vyre.std._calls.declared import At, Unpack, argument, step
from vyre.std._calls.host import check_order, elements, flag_of, place_of
from vyre.std._scanning.operators import TYPES, operator_of
from vyre.std._scanning.scans import scanner

__all__ = ["cumsum", "scan"]


@step
def scan(
    x: np.ndarray | Array | ProcedureArray,
    op: str = "add",
    inclusive: bool = True,
    **at: Unpack[At],
) -> Any:
    """Element i of the result combines the elements 0 to i by an associative operator; integers wrap around.

    Args:
        x: an array of one axis, of uint32, int32 or uint64, with at most 2^32 - 1 elements.
        op: "add", "mul", "min", "max", "and", "or", "xor", or the id of a registered associative operation of two
            elements.
        inclusive: False combines the elements 0 to i - 1, and element 0 is the operator's identity; a registered
            operation has none.

    Gives: an array of x's length and dtype; a resident one for a resident one, without waiting. On a GPU 3 n elements
        are moved.

    Source: reduce, then scan, of G. Blelloch, Prefix Sums and Their Applications, 1990.

    >>> import numpy as np
    >>> scan(np.array([3, 1, 2], np.uint32), backend="cpu")
    array([3, 4, 6], dtype=uint32)
    >>> scan(np.array([3, 1, 2], np.uint32), "max", inclusive=False, backend="cpu")
    array([0, 3, 3], dtype=uint32)
    """
    check_order(isinstance(x, str) and not isinstance(op, str), at, "x", "op")
    values: Any = elements(x, argument(at, "x"), list(TYPES))
    inclusive = flag_of(inclusive, at, "inclusive")
    operator = operator_of(op, TYPES[dtype_name(values.dtype)], None, "vyre.std.scan")
    if not inclusive and operator.identity is None:
        raise must_be(argument(at, "inclusive"), f"True for `{op}`, which has no identity", "False")
    place = place_of(at, values)
    return place.result(scanner(operator, inclusive)(place.array(values)))


@step
def cumsum(x: np.ndarray | Array | ProcedureArray, **at: Unpack[At]) -> Any:
    """The sums of the elements up to each one, modulo 2 to the bits of x's type.

    Args, gives and raises: as scan.

    >>> import numpy as np
    >>> cumsum(np.array([3, 1, 2], np.uint32), backend="cpu")
    array([3, 4, 6], dtype=uint32)
    """
    values: Any = elements(x, argument(at, "x"), list(TYPES))
    place = place_of(at, values)
    return place.result(
        scanner(operator_of("add", TYPES[dtype_name(values.dtype)], None, ""), True)(place.array(values))
    )
