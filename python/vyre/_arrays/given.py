"""What calls of kernels, of procedures and of the library check of an argument alike: arrays and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._arrays.dtype_names import dtype_name
from vyre._base.refused import must_be, must_have
from vyre._base.text import shown, type_of
from vyre._base.types import TYPES
from vyre._core import Array, DataType
from vyre.errors import BindingError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["bits_given", "check_array", "check_writable"]


def check_array(
    where: str,
    value: Any,
    dtypes: Sequence[str],
    axes: int,
    lanes: Sequence[int] = (),
    kinds: Any = (np.ndarray, Array),
) -> None:
    """Refuse what is no array, and an array of another dtype or shape.

    Args:
        where: what messages call the argument.
        dtypes: the names of those that it may have.
        axes: without the one of a vector's lanes.
        kinds: the classes of arrays that are taken.

    Raises: BindingError.
    """
    wanted = f"an array of {' or '.join(filter(None, (', '.join(dtypes[:-1]), dtypes[-1])))}"
    if not isinstance(value, kinds):
        got = shown(value) if isinstance(value, (int, float, np.generic)) else type_of(value)
        raise must_be(where, wanted, got, BindingError)
    if _core._is_masked(value):
        raise must_be(where, "an array without a mask", "a masked array", BindingError)
    if dtype_name(value.dtype) not in dtypes or not value.dtype.isnative:
        if value.dtype.kind == "f":
            raise BindingError(
                f"{where} must be {wanted}, got one of {value.dtype}. "
                f"Fix: pass x.astype(np.{dtypes[0]}) in place of `x`, which loses fractions."
            )
        raise must_be(where, wanted, f"one of {value.dtype}", BindingError)
    if value.ndim != axes + len(lanes) or tuple(value.shape[axes:]) != tuple(lanes):
        if type(value) is np.matrix and axes == 1:  # slices and ravel() of it have two axes as well
            raise BindingError(
                f"{where} must have 1 axis, got a numpy.matrix, which has 2. "
                "Fix: pass np.asarray(x).ravel() in place of `x`."
            )
        shape = f" and shape (..., {lanes[0]})" if lanes else ""
        raise must_have(where, f"{axes} ax{'is' if axes == 1 else 'es'}{shape}", f"shape {value.shape}", BindingError)


def check_writable(where: str, array: np.ndarray) -> None:
    """Refuse an array of the host that a call cannot write.

    Raises: BindingError.
    """
    if not (array.flags.writeable and array.flags.c_contiguous):
        how = "read-only" if not array.flags.writeable else "not C-contiguous"
        raise BindingError(f"{where} is written, and the array is {how}. Fix: pass a writable, C-contiguous array.")


def bits_given(where: str, element: DataType | None, value: Any, or_else: str = "") -> int:
    """The bits of a number of an element type; ``or_else`` is what messages say may be given besides.

    Raises: BindingError for a value that the type does not hold, and for a truth value that is meant as a number or
        the reverse.
    """
    assert element is not None
    bits = _core._bits_given(element, value)
    if bits is None:
        raise must_be(where, or_else + TYPES[element].wanted, shown(value), BindingError)
    return bits
