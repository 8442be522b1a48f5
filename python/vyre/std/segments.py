"""Reductions and scans of the segments of an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from vyre import Array, ProcedureArray
from vyre._arrays.dtype_names import dtype_name
from vyre._base.refused import must_have
from vyre.std._calls.declared import At, Unpack, argument, name_of, step
from vyre.std._calls.host import Place, elements, one_place, refuse_descent, refuse_empty
from vyre.std._scanning.operators import TYPES, Operator, operator_of
from vyre.std._scanning.segments import segmented_reducer, segmented_scanner

__all__ = ["segmented_reduce", "segmented_scan"]


@step
def segmented_reduce(
    x: np.ndarray | Array | ProcedureArray,
    offsets: np.ndarray | Array | ProcedureArray,
    op: str,
    **at: Unpack[At],
) -> Any:
    """The elements of each segment combined by an associative operator, from the first to the last.

    Args:
        x: an array of one axis, of uint32, int32 or uint64, with at most 2^32 - 1 elements.
        offsets: n + 1 uint32 for n segments, ascending: segment i is ``x[offsets[i]:offsets[i + 1]]``. Resident ones
            are not checked, because that would wait; if they fall, the segments' values mean nothing.
        op: as for reduce.

    Gives: n elements of x's dtype; a resident array for resident ones, without waiting. An empty segment gives the
        identity of the operator: for "min" the largest number of the dtype, and 0 for a registered operation.

    Source: G. Blelloch, Prefix Sums and Their Applications, 1990, section 1.5: segmented scans.

    >>> import numpy as np
    >>> x = np.array([1, 2, 3, 4, 5], np.uint32)
    >>> segmented_reduce(x, np.array([0, 2, 2, 5], np.uint32), "add", backend="cpu")
    array([ 3,  0, 12], dtype=uint32)
    """
    place, operator, given = _arguments(x, offsets, op, at)
    return place.result(segmented_reducer(operator)(*given))


@step
def segmented_scan(
    x: np.ndarray | Array | ProcedureArray,
    offsets: np.ndarray | Array | ProcedureArray,
    op: str,
    **at: Unpack[At],
) -> Any:
    """Every element combined with the elements before it in its segment, by an associative operator.

    Args:
        x, offsets, op: as for segmented_reduce. Elements before the first offset are a segment too,
            and so are those from the last offset on.

    Gives: an array of x's length and dtype; a resident one for resident ones, without waiting.

    Raises, source: as segmented_reduce.

    >>> import numpy as np
    >>> x = np.array([1, 2, 3, 4, 5], np.uint32)
    >>> segmented_scan(x, np.array([0, 2, 2, 5], np.uint32), "add", backend="cpu")
    array([ 1,  3,  3,  7, 12], dtype=uint32)
    """
    place, operator, given = _arguments(x, offsets, op, at)
    return place.result(segmented_scanner(operator)(*given))


def _arguments(x: Any, offsets: Any, op: Any, at: At) -> tuple[Place, Operator, tuple[Any, Any]]:
    where = name_of(at)
    x = elements(x, argument(at, "x"), list(TYPES))
    offsets = elements(offsets, argument(at, "offsets"), ["uint32"])
    place = one_place(at, x, offsets)
    refuse_empty(offsets, f"argument `offsets` of {where}")
    if place.on_host:
        _check(offsets, len(x), where)
    operator = operator_of(op, TYPES[dtype_name(x.dtype)], None, where)
    return place, operator, (place.array(x), place.array(offsets))


def _check(offsets: np.ndarray, size: int, where: str) -> None:
    refuse_descent(offsets, f"argument `offsets` of {where}")
    if offsets[-1] > size:
        raise must_have(f"argument `offsets` of {where}", f"a last element of at most {size}", offsets[-1])
