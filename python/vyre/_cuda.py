"""Arrays of other libraries on CUDA devices, by the CUDA array interface: taken where they lie, and given so.

CuPy, PyTorch, numba and JAX have the interface. An array that vyre takes is ordered by its library's stream both ways:
vyre's work waits for what the stream had, and the stream waits for vyre's. An array that vyre gives is waited for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vyre import _core
from vyre._text import shown
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from typing import Any

    from vyre._core import Array

__all__ = ["Taken", "interface", "speaks_cuda", "take"]

_VERSION = 3
# What the interface calls the default stream of a library that names none.
_LEGACY_STREAM = 1


class Taken(NamedTuple):
    """An array of another library.

    Attributes:
        array: its memory, as an array on the device where it lies.
        stream: of its library, which must wait for what vyre does with it.
    """

    array: Array
    stream: int

    def give_back(self) -> None:
        """Make the library's stream wait for what was submitted with the array."""
        _core._cuda_hand_over(self.array, self.stream)


def speaks_cuda(value: Any) -> bool:
    """Whether an object is an array of another library that lies on a CUDA device."""
    kind = type(value)
    if issubclass(kind, (np.ndarray, np.generic, _core.Array)) or not hasattr(kind, "__cuda_array_interface__"):
        return False
    # torch's tensors on the host raise AttributeError.
    return getattr(value, "__cuda_array_interface__", None) is not None


def take(value: Any, where: str, error: type[Exception], *, written: bool) -> Taken:
    """An array of another library, without a copy.

    Args:
        where: what messages call it.
        error: what is raised when it cannot be taken.
        written: whether vyre will write it.
    """
    described = value.__cuda_array_interface__
    shape = tuple(int(extent) for extent in described["shape"])
    dtype = np.dtype(described["typestr"])
    address, is_read_only = described["data"]
    if not _is_contiguous(shape, dtype, described.get("strides")):
        raise error(f"{where} is not C-contiguous. Fix: pass a contiguous copy, as x.contiguous() or x.copy() gives.")
    if is_read_only and written:
        raise error(f"{where} is read-only, and the call writes it. Fix: pass a copy that may be written.")
    if described.get("mask") is not None:
        raise error(f"{where} has a mask. Fix: pass an array without one.")
    if "cuda" not in _core._available():
        reasons = " ".join(_core._unavailable().get("cuda", ["backend `cuda` does not work here."]))
        raise error(f"{where} lies on a CUDA device: {reasons}")
    stream = described.get("stream", _LEGACY_STREAM) if described.get("version", 0) >= _VERSION else _LEGACY_STREAM
    try:
        array = _core._cuda_adopt(int(address), list(shape), dtype, stream, value, where)
    except ArgumentError as refused:
        raise error(str(refused)) from None
    return Taken(array, _LEGACY_STREAM if stream is None else stream)


def _is_contiguous(shape: tuple[int, ...], dtype: np.dtype[Any], strides: tuple[int, ...] | None) -> bool:
    if strides is None or 0 in shape:
        return True
    step = dtype.itemsize
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent != 1 and stride != step:
            return False
        step *= extent
    return True


def interface(array: Array) -> dict[str, Any]:
    """What other libraries take an array on a CUDA device by; its work is waited for, so that they need no stream.

    Raises: AttributeError for an array of another backend, as libraries expect of one without the interface.
    """
    if array.backend != "cuda":
        raise AttributeError(f"an array of backend {shown(array.backend)} does not lie on a CUDA device")
    if array.dtype == bool:
        raise AttributeError("an array of bool takes four bytes an element on a device, and other libraries' one")
    array.wait()
    address = _core._cuda_address(array) if array.size else 0
    return {
        "shape": tuple(array.shape),
        "typestr": array.dtype.str,
        "data": (address, False),
        "strides": None,
        "version": _VERSION,
        "stream": None,
    }
