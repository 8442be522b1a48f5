"""Arrays that stay on a device: ``array`` and ``empty`` make what programs are called with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre import _core
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import DTypeLike

    from vyre._core import Array, DataType
    from vyre._run import Device

__all__ = ["array", "empty"]

# The dtype of a DataType's elements, and the axes that one element adds.
_NUMPY: dict[DataType, tuple[str, tuple[int, ...]]] = {
    _core.DataType.U32: ("uint32", ()),
    _core.DataType.I32: ("int32", ()),
    _core.DataType.U64: ("uint64", ()),
    _core.DataType.Bool: ("bool", ()),
    _core.DataType.Bytes: ("uint8", ()),
    _core.DataType.Vec2U32: ("uint32", (2,)),
    _core.DataType.Vec4U32: ("uint32", (4,)),
}


def array(
    values: Any,
    dtype: DTypeLike | DataType | None = None,
    *,
    backend: str | None = None,
    device: int | Device | None = None,
) -> Array:
    """Copy values to a device, where they stay.

    Args:
        values: a numpy array of uint32, int32, uint64, bool or uint8, bytes, a vyre.Array, anything that speaks
            DLPack on the host (a torch tensor), or numbers, which need a dtype.
        dtype: what to convert to: a numpy dtype or a DataType. None takes the array's own.
        backend, device: where, as for vyre.run.

    Returns: a vyre.Array of the same shape.

    Raises: ArgumentError, CapabilityError (more than the device gives at once), DeviceMemoryError, DeviceError.

    >>> import numpy as np
    >>> a = array(np.arange(3, dtype=np.uint32), backend="cpu")
    >>> a.numpy()
    array([0, 1, 2], dtype=uint32)
    """
    import numpy as np

    if isinstance(values, np.ma.MaskedArray):
        raise ArgumentError(
            "argument `values` of vyre.array must be an array whose every element counts, got a masked array. "
            "Fix: write .filled(0) to give the masked elements a value."
        )
    if isinstance(values, (bytes, bytearray, memoryview)):
        values = np.frombuffer(values, np.uint8)
    elif isinstance(values, _core.Array):
        values = values.numpy()
    elif not hasattr(values, "dtype") and dtype is None:
        raise ArgumentError(
            f"argument `values` of vyre.array must be an array, or come with a dtype, got {type(values).__name__}. "
            "Fix: write vyre.array(values, dtype=vyre.u32)."
        )
    elif not isinstance(values, (np.ndarray, np.generic)) and hasattr(values, "__dlpack__"):
        values = np.from_dlpack(values)
    wanted = _NUMPY[dtype][0] if isinstance(dtype, _core.DataType) else dtype
    try:
        host = np.ascontiguousarray(np.asarray(values, dtype=wanted)).reshape(np.shape(values))
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(
            f"argument `values` of vyre.array cannot be an array of {np.dtype(wanted)}: {error}. "
            "Fix: pass numbers that it holds, all rows of one length."
        ) from None
    if isinstance(dtype, _core.DataType) and host.shape[host.ndim - len(_NUMPY[dtype][1]) :] != _NUMPY[dtype][1]:
        raise ArgumentError(
            f"argument `values` of vyre.array must have shape (..., {_NUMPY[dtype][1][0]}) for {dtype}, "
            f"got {host.shape}. "
            f"Fix: write .reshape(-1, {_NUMPY[dtype][1][0]})."
        )
    return _core._array(host, *_place(backend, device, "vyre.array"))


def empty(
    shape: int | Sequence[int],
    dtype: DTypeLike | DataType = "uint32",
    *,
    backend: str | None = None,
    device: int | Device | None = None,
) -> Array:
    """Make an array on a device. Its elements are zeros: nothing in vyre reads what nobody wrote.

    Args:
        shape: elements along each axis, or of the only one.
        dtype: a numpy dtype, or a DataType; one of vectors adds their axis.
        backend, device: where, as for vyre.run.

    Raises: ArgumentError, CapabilityError (more than the device gives at once), DeviceMemoryError, DeviceError.

    >>> import vyre
    >>> empty(2, vyre.vec4u32, backend="cpu")
    <vyre.Array of uint32 with shape (2, 4) on cpu>
    """
    import numpy as np

    axes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    for extent in axes:
        if isinstance(extent, bool) or not isinstance(extent, (int, np.integer)) or not 0 <= extent < 2**48:
            raise ArgumentError(
                f"argument `shape` of vyre.empty must be counts from 0 to 2^48 - 1, got {shape!r}. "
                "Fix: write a count, or a tuple of them."
            )
    added: tuple[int, ...] = ()
    if isinstance(dtype, _core.DataType):
        dtype, added = _NUMPY[dtype]
    try:
        wanted = np.dtype(dtype)
    except TypeError:
        raise ArgumentError(
            f"argument `dtype` of vyre.empty must be a numpy dtype or a vyre.DataType, got {dtype!r}. "
            "Fix: write np.uint32."
        ) from None
    return _core._empty([int(extent) for extent in axes + added], wanted, *_place(backend, device, "vyre.empty"))


def _place(backend: str | None, device: int | Device | None, function: str) -> tuple[str | None, int | None]:
    """What the core takes, from either way to name a device."""
    named = getattr(device, "backend", None)
    if named is not None and backend not in (None, named):
        raise ArgumentError(
            f"argument `device` of {function} must be a device of backend {backend!r}, got one of {named!r}. "
            "Fix: leave `backend` out, or leave `device` out."
        )
    return backend or named, device if named is None else device.index
