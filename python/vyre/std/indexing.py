"""Elements by given indices: loads, stores and sums."""

from __future__ import annotations

from typing import Any

import numpy as np

from vyre import Array, ProcedureArray, u32
from vyre._arrays.dtype_names import dtype_name
from vyre._base.refused import must_be
from vyre.errors import BindingError
from vyre.std._calls.declared import At, Unpack, argument, step
from vyre.std._calls.host import elements, one_place, refuse_unlike
from vyre.std._calls.recorded import recorded
from vyre.std._scanning.indexing import adder, gatherer, scatterer
from vyre.std._scanning.operators import TYPES
from vyre.std.sorting import KEYS, unsigned, viewed

__all__ = ["gather", "scatter", "scatter_add"]


@step
def gather(
    x: np.ndarray | Array | ProcedureArray,
    index: np.ndarray | Array | ProcedureArray,
    **at: Unpack[At],
) -> Any:
    """The elements at given indices; 0 for an index beyond the end.

    Args:
        x: an array of one axis, of integers of 8 to 64 bits but int64, with at most 2^32 - 1 elements.
        index: an array of uint32.

    Gives: an array of index's length and x's dtype; a resident one for resident ones, without waiting.

    >>> import numpy as np
    >>> gather(np.array([10, 20, 30], np.uint32), np.array([2, 0, 7], np.uint32), backend="cpu")
    array([30, 10,  0], dtype=uint32)
    """
    x = elements(x, argument(at, "x"), KEYS)
    index = elements(index, argument(at, "index"), ["uint32"])
    place = one_place(at, x, index)
    words, element = unsigned(x)
    return place.result(viewed(gatherer(element)(place.array(words), place.array(index)), x.dtype))


@step
def scatter(
    out: np.ndarray | Array | ProcedureArray,
    index: np.ndarray | Array | ProcedureArray,
    values: np.ndarray | Array | ProcedureArray,
    **at: Unpack[At],
) -> Any:
    """Store values at given indices; of equal indices the last position wins.

    Args:
        out: an array of one axis, of integers of 8 to 64 bits but int64. numpy's is copied and not written, a
            resident one is written.
        index: an array of uint32. Nothing is stored at an index beyond the end of `out`.
        values: one for each index, of out's dtype.

    Gives: a new numpy array; the resident array `out`, without waiting. The device needs 4 more bytes for each element
        of `out`.

    >>> import numpy as np
    >>> out, index, values = np.zeros(4, np.uint32), np.array([1, 3, 1], np.uint32), np.array([7, 8, 9], np.uint32)
    >>> scatter(out, index, values, backend="cpu")
    array([0, 9, 0, 8], dtype=uint32)
    """
    out, index, values, place = _given(KEYS, out, index, values, at)
    words, element = unsigned(out)
    result = place.array(words)
    scatterer(element)(result, place.array(index), place.array(unsigned(values)[0]))
    return viewed(result.numpy(), out.dtype) if place.on_host else recorded(out)


@step
def scatter_add(
    out: np.ndarray | Array | ProcedureArray,
    index: np.ndarray | Array | ProcedureArray,
    values: np.ndarray | Array | ProcedureArray,
    **at: Unpack[At],
) -> Any:
    """Add values to the elements at given indices, modulo 2 to the bits of the type.

    Args:
        out: an array of one axis, of uint32, int32 or uint64. numpy's is copied and not written, a resident one is
            written.
        index, values: as for scatter.

    Gives: a new numpy array; the resident array `out`, without waiting.

    Raises: as scatter.

    >>> import numpy as np
    >>> out, index, values = np.zeros(4, np.uint32), np.array([1, 3, 1], np.uint32), np.array([7, 8, 9], np.uint32)
    >>> scatter_add(out, index, values, backend="cpu")
    array([ 0, 16,  0,  8], dtype=uint32)
    """
    out, index, values, place = _given(list(TYPES), out, index, values, at)
    words, element = unsigned(values)
    result = place.array(unsigned(out)[0])
    adder(element)(result.view(u32), place.array(index), place.array(words))
    return viewed(result.numpy(), out.dtype) if place.on_host else recorded(out)


def _given(dtypes: list[str], out: Any, index: Any, values: Any, at: At) -> tuple[Any, ...]:
    out = elements(out, argument(at, "out"), dtypes)
    index = elements(index, argument(at, "index"), ["uint32"])
    values = elements(values, argument(at, "values"), [dtype_name(out.dtype)])
    place = one_place(at, out, index, values)
    if place.is_step and isinstance(out, np.ndarray):
        raise must_be(argument(at, "out"), "an array that the procedure writes", "a table", BindingError)
    refuse_unlike(values, argument(at, "values"), index, "indices")
    return out, index, values, place
