"""Makes arrays as numpy does by other functions than ``array`` and ``empty``: of one value, of a range, like others.

Their values are made on the host and copied, once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre import _core
from vyre._arrays.array import _dtype, extents_of, zeroed
from vyre._base.calls import explain_calls
from vyre._base.refused import must_be, must_have, no_memory
from vyre._base.text import as_count, shown
from vyre._default import place

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    import numpy as np
    from numpy.typing import DTypeLike

    from vyre._core import Array, DataType
    from vyre._devices import Device

__all__ = ["arange", "empty_like", "full", "full_like", "zeros", "zeros_like"]

_MOST_ELEMENTS = 2**48


def zeros(
    shape: int | Sequence[int],
    dtype: DTypeLike | DataType = "uint32",
    *,
    backend: str | None = None,
    device: int | Device | None = None,
) -> Array:
    """Make an array of zeros on a device: ``vyre.empty`` under the name that numpy has for it.

    Args:
        shape: elements along each axis, or of the only one.
        dtype: a numpy dtype, or a DataType; one of vectors adds their axis.
        backend, device: where, as for vyre.run.

    Raises: ArgumentError, CapabilityError (more than the device gives at once), DeviceMemoryError, DeviceError.

    >>> import vyre
    >>> zeros((2, 3), backend="cpu").numpy()
    array([[0, 0, 0],
           [0, 0, 0]], dtype=uint32)
    """
    return zeroed(shape, dtype, backend, device, "vyre.zeros")


def full(
    shape: int | Sequence[int],
    value: Any,
    dtype: DTypeLike | DataType = "uint32",
    *,
    backend: str | None = None,
    device: int | Device | None = None,
) -> Array:
    """Make an array on a device whose elements all have one value.

    Args:
        shape: elements along each axis, or of the only one.
        value: an integer, or True or False for bool; or values for the last axes, as numpy broadcasts them.
        dtype: a numpy dtype, or a DataType; one of vectors adds their axis.
        backend, device: where, as for vyre.run.

    Raises: ArgumentError, CapabilityError (more than the device gives at once), DeviceMemoryError, DeviceError.

    >>> import vyre
    >>> full(3, -1, vyre.i32, backend="cpu").numpy()
    array([-1, -1, -1], dtype=int32)
    >>> full(2, (1, 2), vyre.vec2u32, backend="cpu").numpy()
    array([[1, 2],
           [1, 2]], dtype=uint32)
    """
    return _filled(shape, value, dtype, backend, device, "vyre.full")


def arange(
    start: int,
    stop: int | None = None,
    step: int = 1,
    dtype: DTypeLike | DataType = "uint32",
    *,
    backend: str | None = None,
    device: int | Device | None = None,
) -> Array:
    """Make an array on a device of the integers of Python's ``range``.

    Args:
        start, stop, step: as ``range`` takes them; one alone is the stop.
        dtype: one of integers, or its DataType.
        backend, device: where, as for vyre.run.

    Raises: ArgumentError (also when an integer does not fit), CapabilityError, DeviceMemoryError, DeviceError.

    >>> import vyre
    >>> arange(5, backend="cpu").numpy()
    array([0, 1, 2, 3, 4], dtype=uint32)
    >>> arange(4, -4, -3, vyre.i32, backend="cpu").numpy()
    array([ 4,  1, -2], dtype=int32)
    """
    import numpy as np

    wanted = _dtype(dtype, "vyre.arange")
    if wanted.kind not in "iu" or (isinstance(dtype, _core.DataType) and extents_of((), dtype, "vyre.arange")):
        raise must_be("argument `dtype` of vyre.arange", "one of integers", shown(dtype))
    given = {"start": start, "stop": stop, "step": step}
    counts = {name: as_count(value) for name, value in given.items() if not (name == "stop" and value is None)}
    for name, count in counts.items():
        if count is None or (name == "step" and count == 0):
            more = " other than 0" if name == "step" else ""
            raise must_be(f"argument `{name}` of vyre.arange", f"an integer{more}", shown(given[name]))
    ends = (0, counts["start"]) if stop is None else (counts["start"], counts["stop"])
    values = range(*ends, counts["step"])  # type: ignore[arg-type]
    limits = np.iinfo(wanted)
    # The first and the last are the least and the greatest; a range may have more than len() can tell.
    for value in (values[0], values[-1]) if values else ():
        if not limits.min <= value <= limits.max:
            raise must_have("vyre.arange", f"integers from {limits.min} to {limits.max} for {wanted}", shown(value))
    count = max(0, -(-(values.stop - values.start) // values.step))
    if count > _MOST_ELEMENTS:
        raise no_memory("a device", f"{count} elements")

    def make() -> np.ndarray:
        # Arithmetic modulo 2^64 gives every element exactly, whatever its sign.
        steps = np.arange(count, dtype=np.uint64) * np.uint64(values.step % 2**64)
        return (steps + np.uint64(values.start % 2**64)).astype(wanted)

    return _upload(make, count * wanted.itemsize, backend, device, "vyre.arange")


def empty_like(
    other: Array | np.ndarray,
    dtype: DTypeLike | DataType | None = None,
    *,
    backend: str | None = None,
    device: int | Device | None = None,
) -> Array:
    """Make an array of zeros with the shape and the dtype of another, on its device.

    Args:
        other: a vyre.Array, or a numpy array, whose place is the default.
        dtype: another dtype.
        backend, device: another place.

    Raises: ArgumentError, CapabilityError (more than the device gives at once), DeviceMemoryError, DeviceError.

    >>> import vyre
    >>> empty_like(vyre.array([1, 2], dtype=vyre.i32, backend="cpu"))
    <vyre.Array of int32 with shape (2,) on cpu: [0, 0]>
    """
    return _zeros_like(other, dtype, backend, device, "vyre.empty_like")


def zeros_like(
    other: Array | np.ndarray,
    dtype: DTypeLike | DataType | None = None,
    *,
    backend: str | None = None,
    device: int | Device | None = None,
) -> Array:
    """Make an array of zeros with the shape and the dtype of another, on its device.

    The arguments and errors are those of vyre.empty_like.

    >>> import vyre
    >>> zeros_like(vyre.array([[1], [2]], dtype=vyre.u32, backend="cpu")).numpy()
    array([[0],
           [0]], dtype=uint32)
    """
    return _zeros_like(other, dtype, backend, device, "vyre.zeros_like")


def full_like(
    other: Array | np.ndarray,
    value: Any,
    dtype: DTypeLike | DataType | None = None,
    *,
    backend: str | None = None,
    device: int | Device | None = None,
) -> Array:
    """Make an array of one value with the shape and the dtype of another, on its device.

    ``value`` is as for vyre.full, the other arguments and the errors are as for vyre.empty_like.

    >>> import vyre
    >>> full_like(vyre.array([1, 2], dtype=vyre.u64, backend="cpu"), 2**40).numpy()
    array([1099511627776, 1099511627776], dtype=uint64)
    """
    shape, wanted, where = _like(other, dtype, backend, device, "vyre.full_like")
    return _filled(shape, value, wanted, *where, "vyre.full_like")


def _zeros_like(
    other: Any, dtype: DTypeLike | DataType | None, backend: str | None, device: int | Device | None, function: str
) -> Array:
    shape, wanted, where = _like(other, dtype, backend, device, function)
    return zeroed(shape, wanted, *where, function)


def _like(
    other: Any, dtype: DTypeLike | DataType | None, backend: str | None, device: int | Device | None, function: str
) -> tuple[tuple[int, ...], Any, tuple[str | None, int | Device | None]]:
    """The shape, the dtype, and the backend and the device of what is like ``other``."""
    import numpy as np

    if not isinstance(other, (_core.Array, np.ndarray)):
        raise must_be(f"argument `other` of {function}", "a vyre.Array or a numpy array", shown(other))
    where: tuple[str | None, int | Device | None] = (backend, device)
    if where == (None, None) and isinstance(other, _core.Array):
        where = (other.backend, other.device)
    return other.shape, other.dtype if dtype is None else dtype, where


def _filled(
    shape: Any,
    value: Any,
    dtype: DTypeLike | DataType,
    backend: str | None,
    device: int | Device | None,
    function: str,
) -> Array:
    import numpy as np

    from vyre import _values

    extents, wanted = extents_of(shape, dtype, function), _dtype(dtype, function)
    host = _values.exact(value, wanted, f"argument `value` of {function}")
    try:
        spread = np.broadcast_to(host, extents)
    except (ValueError, MemoryError):
        if host.size == 1:
            raise no_memory("a device", f"shape {tuple(extents)}") from None
        raise must_have(f"argument `value` of {function}", f"shape {tuple(extents)} or ()", host.shape) from None
    return _upload(lambda: np.ascontiguousarray(spread).reshape(extents), spread.nbytes, backend, device, function)


def _upload(
    make: Callable[[], np.ndarray], size: int, backend: str | None, device: int | Device | None, function: str
) -> Array:
    try:
        host = make()
    except MemoryError:
        raise no_memory("the host", f"the values of {function} ({size} bytes)") from None
    return _core._array(host, *place(backend, device))


explain_calls(globals())
