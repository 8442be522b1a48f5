"""Arrays that stay on a device: ``array`` and ``empty`` make what programs are called with."""

from __future__ import annotations

import itertools
import sys
from typing import TYPE_CHECKING

from vyre import _core
from vyre._base.calls import explain_calls
from vyre._base.refused import must_be, must_have, no_memory
from vyre._base.text import shown
from vyre._base.types import NUMPY, OF_DTYPE
from vyre._default import place
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import numpy as np
    from numpy.typing import DTypeLike

    from vyre._core import Array, DataType
    from vyre._devices import Device
    from vyre._kernel.typed import ElementType

__all__ = ["array", "empty"]

# numpy's, before its version 2.
_MOST_AXES = 32

_NAMES = " or ".join(", ".join(OF_DTYPE).rsplit(", ", 1))


def array(
    values: Any,
    dtype: DTypeLike | ElementType | None = None,
    *,
    backend: str | None = None,
    device: int | Device | None = None,
) -> Array:
    """Copy values to a device, where they stay.

    Args:
        values: a numpy array of uint32, int32, uint64, bool, uint8, int8, uint16 or int16, bytes, a vyre.Array, an
            array of another library that speaks DLPack and lies on the host (torch, jax, pyarrow) or that lies on a
            CUDA device (torch, CuPy, jax, numba), or numbers, which need a dtype.
        dtype: of the array: a numpy dtype or a DataType. None takes that of ``values``. Integers of another width are
            taken where every one fits, and nothing else is converted.
        backend, device: where, as for vyre.run.

    Returns: a vyre.Array of the same shape.

    Raises: ArgumentError, CapabilityError (more than the device gives at once), DeviceMemoryError, DeviceError.

    >>> import numpy as np
    >>> a = array(np.arange(3, dtype=np.uint32), backend="cpu")
    >>> a.numpy()
    array([0, 1, 2], dtype=uint32)
    """
    import numpy as np

    from vyre import _values
    from vyre._arrays.cuda import speaks_cuda, take
    from vyre._arrays.dlpack import from_dlpack, speaks_dlpack

    where = "argument `values` of vyre.array"
    if _core._is_masked(values):
        raise must_be(where, "an array whose every element counts", "a masked array")
    if isinstance(values, (bytes, bytearray)):
        values = np.frombuffer(values, np.uint8)
    elif isinstance(values, _core.Array):
        values = values.numpy()
    elif speaks_cuda(values):
        taken = take(values, where, ArgumentError, written=False)
        if dtype is None and _is_cuda(*place(backend, device)):
            copied = taken.array.copy()
            taken.give_back()
            return copied
        values = taken.array.numpy()
    elif speaks_dlpack(values):
        values = from_dlpack(values, where, ArgumentError)
    elif not hasattr(values, "dtype") and not isinstance(values, memoryview) and dtype is None:
        raise must_be(where, "an array, or values beside dtype=, such as dtype=vyre.u32", type(values).__name__)
    try:
        if dtype is None:
            host = _as_array(values, where)
        else:
            host = _values.exact(values, _dtype(dtype, "vyre.array"), where)
        host = np.ascontiguousarray(host).reshape(host.shape)
    except MemoryError as error:
        raise no_memory("the host", f"the values of vyre.array: {error}") from None
    if isinstance(dtype, _core.DataType) and host.shape[host.ndim - len(NUMPY[dtype][1]) :] != NUMPY[dtype][1]:
        raise must_have("argument `values` of vyre.array", f"shape (..., {NUMPY[dtype][1][0]}) for {dtype}", host.shape)
    made = _core._array(host, *place(backend, device))
    if "logging" in sys.modules:
        from vyre._base import log

        log.debug("vyre.array copied %d bytes to %s", host.nbytes, made.backend)
    return made


def empty(
    shape: int | Sequence[int],
    dtype: DTypeLike | ElementType = "uint32",
    *,
    backend: str | None = None,
    device: int | Device | None = None,
) -> Array:
    """Make an array on a device. Its elements are zeros: vyre never reads memory that was not written.

    Args:
        shape: elements along each axis, or of the only one.
        dtype: a numpy dtype, or a DataType; one of vectors adds their axis.
        backend, device: where, as for vyre.run.

    Raises: ArgumentError, CapabilityError (more than the device gives at once), DeviceMemoryError, DeviceError.

    >>> import vyre
    >>> empty(2, vyre.vec4u32, backend="cpu")
    <vyre.Array of uint32 with shape (2, 4) on cpu: [[0, 0, 0, 0],
     [0, 0, 0, 0]]>
    """
    return zeroed(shape, dtype, backend, device, "vyre.empty")


def zeroed(
    shape: int | Sequence[int],
    dtype: DTypeLike | DataType,
    backend: str | None,
    device: int | Device | None,
    function: str,
) -> Array:
    """An array of zeros, as messages of ``function`` tell."""
    if isinstance(shape, int) and isinstance(dtype, int):
        raise must_be(f"argument `dtype` of {function}", "a numpy dtype or a vyre.DataType", shown(dtype))
    extents, wanted = extents_of(shape, dtype, function), _dtype(dtype, function)
    return _core._empty(extents, wanted, *place(backend, device))


class PlannedCount:
    """A count that is not known until a procedure is planned."""

    __slots__ = ()


def extents_of(shape: int | Sequence[int], dtype: DTypeLike | DataType, function: str) -> list[int]:
    """The elements along each axis, and along the one that a DataType of vectors adds."""
    import numpy as np

    # This takes one more than the limit and no further, because a user's own class of list may have no end.
    axes = tuple(itertools.islice(shape, _MOST_AXES + 1)) if isinstance(shape, (tuple, list)) else (shape,)
    for extent in axes:
        if isinstance(extent, bool) or not isinstance(extent, (int, np.integer)) or not 0 <= extent < 2**48:
            if isinstance(extent, PlannedCount):
                raise ArgumentError(
                    f"argument `shape` of {function} has the size {shown(extent)}, which is not known until the "
                    "procedure is planned. Fix: write vyre.scratch(vyre.u32, n, zeros=True), an array of the procedure."
                )
            raise must_be(f"argument `shape` of {function}", "counts from 0 to 2^48 - 1", shown(shape))
    if len(axes) > _MOST_AXES:
        raise must_have(f"argument `shape` of {function}", f"at most {_MOST_AXES} axes", "more")
    added = NUMPY[dtype][1] if isinstance(dtype, _core.DataType) else ()
    return [int(extent) for extent in axes + added]


def _is_cuda(backend: str | None, device: int | Device | None) -> bool:
    """Whether a place is backend `cuda`'s, or none is named and calls go there."""
    if backend is not None:
        return backend == "cuda"
    if isinstance(device, int):
        return [row["backend"] for row in _core._devices()][device : device + 1] == ["cuda"]
    if device is not None:
        return getattr(device, "backend", None) == "cuda"
    return _core._default_backend()[0] == "cuda"


def _nearest(wanted: np.dtype[Any], function: str) -> str:
    """Return the Fix for a dtype that no element has."""
    if function != "Array.astype":
        return "write np.uint32"
    if wanted.kind in "fc":
        return f"write a.numpy().astype(np.{wanted.name}), for an array `a`: programs have no {wanted.name}"
    if wanted.name == "int64":
        return "write np.uint64, which keeps the bits, or np.int32"
    return "write np.uint32"


def _dtype(dtype: DTypeLike | ElementType, function: str) -> np.dtype[Any]:
    import numpy as np

    try:
        wanted = np.dtype(NUMPY[dtype][0] if isinstance(dtype, _core.DataType) else dtype)
    except Exception:  # numpy has many for what it cannot read
        raise must_be(f"argument `dtype` of {function}", "a numpy dtype or a vyre.DataType", shown(dtype)) from None
    if wanted.name not in OF_DTYPE or not wanted.isnative:
        raise must_be(f"argument `dtype` of {function}", f"{_NAMES}, or a vyre.DataType", wanted)
    return wanted


def _as_array(values: Any, where: str) -> np.ndarray:
    import numpy as np

    try:
        return np.asarray(values)
    except ArgumentError as error:  # of one of our arrays, with a Fix of its own
        raise ArgumentError(f"{where} cannot be an array: {error}") from None
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(
            f"{where} cannot be an array: {error}. Fix: pass numbers that it holds, all rows of one length."
        ) from None


explain_calls(globals())
