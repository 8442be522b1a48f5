"""The memory of a ``vyre.Array`` as a numpy array without a copy, for ``np.asarray(array, copy=False)``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from vyre._core import Array

__all__ = ["shared"]


class _Uncopied:
    """An array whose memory DLPack gives or refuses. numpy before 2.1 has no argument that asks for this."""

    def __init__(self, array: Array) -> None:
        self._array = array

    def __dlpack__(self, **asked: Any) -> Any:
        return self._array.__dlpack__(**{**asked, "copy": False})

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()


def shared(array: Array, dtype: Any) -> np.ndarray[Any, Any]:
    """The memory itself, once the calls that write it are done.

    Raises: ArgumentError where the host does not reach it, or where another dtype is asked for.
    """
    if dtype is not None and np.dtype(dtype) != array.dtype:
        raise ArgumentError(
            f"elements of {array.dtype} are no elements of {np.dtype(dtype)} without a copy. Fix: leave out copy=False."
        )
    try:
        return np.from_dlpack(_Uncopied(array))
    except BufferError as error:
        raise ArgumentError(str(error)) from None
