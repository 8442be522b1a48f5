"""The host's side of the library's calls: the checks of arguments, and the way to the device and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import vyre
from vyre import _core
from vyre._arrays.dlpack import numpy_of
from vyre._arrays.given import check_array
from vyre._base.refused import BESIDE_RESIDENT, IN_PROCEDURE, must_be, must_have, no_place, not_ascending, other_device
from vyre._base.text import as_count, shown, type_of
from vyre._core import Array
from vyre._default import check_backend, place
from vyre._procedure.arrays import ProcedureArray
from vyre._procedure.recorder import Recorder, active
from vyre._procedure.sizes import known_difference
from vyre.errors import ArgumentError, BindingError, VyreError
from vyre.std._calls.declared import STEPS, At, argument, name_of
from vyre.std._calls.recorded import RecordedArray, recorded

__all__ = [
    "Place",
    "bytes_of",
    "check_order",
    "count_of",
    "elements",
    "flag_of",
    "host_bytes",
    "is_empty",
    "one_place",
    "place_of",
    "refuse_descent",
    "refuse_empty",
    "refuse_in_body",
    "refuse_other_length",
    "refuse_unlike",
    "waited",
]


_MOST_ELEMENTS = 2**32 - 1
_MOST_AXES = 3  # of an array of a procedure


class Place(NamedTuple):
    """Where a call runs, and whether its results come back to the host.

    Attributes:
        backend, device: as for vyre.array.
        on_host: whether the call has no resident array, so that it gives numpy arrays.
        is_step: whether the call stands in the body of a procedure, whose arrays it takes and gives.
    """

    backend: str | None
    device: int | vyre.Device | None
    on_host: bool
    is_step: bool = False

    def array(self, value: Any) -> Any:
        """The values on the device; a resident array, or one of a procedure, as it is."""
        if self.is_step:
            return recorded(value)
        if isinstance(value, Array):
            return value
        return _core._array(np.ascontiguousarray(value).reshape(np.shape(value)), self.backend, self.device)

    def empty(self, shape: Sequence[int] | int, dtype: Any) -> Array:
        """A new resident array of zeros."""
        extents = [shape] if isinstance(shape, int) else list(shape)
        return _core._empty(extents, np.dtype(dtype), self.backend, self.device)

    def result(self, array: Any) -> Any:
        """What the call gives: numpy's array on the host, else the resident one, or that of the procedure."""
        return array.numpy() if self.on_host else array


def place_of(at: At, *values: Any) -> Place:
    """Where a call runs: with the first resident array among its arguments, else where it says.

    Raises: BindingError for arrays of two devices, ArgumentError for a place beside resident arrays, and in the body
        of a procedure for calls that cannot be steps.
    """
    backend, device = at["backend"], at["device"]
    recorder = active()
    if recorder is not None:
        return _place_of_step(recorder, at)
    resident = [each for each in values if isinstance(each, Array)]
    if not resident:
        if backend is not None:
            check_backend(backend, argument(at, "backend"))
        if isinstance(device, str):
            wanted = "an index into vyre.devices(), or one of its elements"
            raise must_be(argument(at, "device"), wanted, shown(device))
        return Place(*place(backend, device), True)
    for name, value in (("backend", backend), ("device", device)):
        if value is not None:
            raise no_place(argument(at, name), BESIDE_RESIDENT)
    first = resident[0]
    for each in resident:
        if (each.backend, each.device) != (first.backend, first.device):
            raise other_device(name_of(at), first, each)
    return Place(first.backend, first.device, False)


def _place_of_step(recorder: Recorder, at: At) -> Place:
    if name_of(at) not in STEPS:
        raise no_step(name_of(at), ArgumentError)
    for name, value in (("backend", at["backend"]), ("device", at["device"])):
        if value is not None:
            raise no_place(argument(at, name), IN_PROCEDURE)
    return Place(None, None, on_host=False, is_step=True)


def waited(array: Array, where: str) -> np.ndarray:
    """The elements of an array that the call reads from the device before it goes on.

    Raises: ArgumentError while a vyre.graph() is recorded, which runs nothing.
    """
    try:
        return array.numpy()
    except ArgumentError:
        raise no_place(f"{where}, which reads from the device on its way,", "in a graph") from None


def is_empty(x: Any) -> bool:
    """Whether an array is known to have no elements; the length of a procedure's array is seldom known."""
    return isinstance(x.shape[0], int) and not x.shape[0]


def refuse_empty(x: Any, where: str) -> None:
    """Refuse an array of no elements with an ArgumentError: at once, or where a procedure is planned for its arrays."""
    error = must_have(where, "an element or more", "none")
    if is_empty(x):
        raise error
    if not isinstance(x.shape[0], int):
        vyre.require(x.shape[0] > 0, str(error))


def refuse_descent(x: np.ndarray, where: str) -> None:
    """Refuse numbers that do not ascend with an ArgumentError that tells the first two that fall."""
    k = _core._first_descent(x)
    if k is not None:
        raise not_ascending(where, x[k - 1], x[k], k)


def refuse_other_length(x: Any, axis: int, extent: int, where: str, wanted: str) -> None:
    """Refuse an array that is not ``extent`` long along an axis: at once with a BindingError that tells its shape, or
    with an ArgumentError where a procedure is planned for its arrays."""
    error = must_have(where, wanted, f"shape {x.shape}", BindingError)
    if not isinstance(x.shape[axis], int):
        vyre.require(x.shape[axis] == extent, str(error))
    elif x.shape[axis] != extent:
        raise error


def refuse_unlike(a: Any, where: str, b: Any, of: str, axis_of_a: int = 0, axis_of_b: int = 0) -> None:
    """Refuse arrays of two lengths: with a BindingError where these are known to differ, as n and n - 1 of a procedure
    are, and where a procedure is planned for its arrays with an ArgumentError.

    Args:
        where, of: what messages call the array ``a``, and what ``b`` has.
    """
    lengths = a.shape[axis_of_a], b.shape[axis_of_b]
    error = must_have(where, f"one for each of the {lengths[1]} {of}", lengths[0], BindingError)
    difference = known_difference(*lengths)
    if difference is None:
        vyre.require(lengths[0] == lengths[1], str(error))
    elif difference != 0:
        raise error


def elements(value: Any, where: str, dtypes: Sequence[str], axes: int | None = 1) -> Any:
    """An argument that is an array of one of these dtypes; numpy's arrays come back C-contiguous.

    Arrays of other libraries, whose memory DLPack gives, are taken for numpy's. ``axes`` of None takes one to three.

    Raises: BindingError, ArgumentError for one that has to be copied and is too long.

    >>> elements(np.arange(3, dtype=np.uint32), "argument `x` of sum", ["uint32"])
    array([0, 1, 2], dtype=uint32)
    """
    if isinstance(value, ProcedureArray):
        if active() is None:
            _refuse_recorded(value, where)
        value = RecordedArray(value)
    if not isinstance(value, RecordedArray):
        value = numpy_of(value, where, BindingError)
    kinds = np.ndarray, Array, RecordedArray
    if axes is None:
        axes = min(max(value.ndim, 1), _MOST_AXES) if isinstance(value, kinds) else 1
    check_array(where, value, dtypes, axes, kinds=kinds)
    if isinstance(value, (Array, RecordedArray)) or value.flags.c_contiguous:
        return value
    if value.size > _MOST_ELEMENTS:  # before it is copied: a view that repeats elements may have any size
        raise must_have(where, f"at most {_MOST_ELEMENTS} elements", value.size)
    return np.ascontiguousarray(value)


def bytes_of(value: Any, where: str) -> Any:
    """An argument that is a string of bytes, as an array of uint8.

    Raises: BindingError.

    >>> bytes_of(b"abc", "argument `data` of crc32")
    array([97, 98, 99], dtype=uint8)
    """
    if isinstance(value, (bytes, bytearray)):
        return np.frombuffer(value, np.uint8)
    if isinstance(value, memoryview):
        if _is_released(value):
            raise must_be(where, "bytes or an array of uint8", "a memoryview that was released", BindingError)
        return np.frombuffer(value.tobytes() if not value.contiguous else value.cast("B"), np.uint8)
    value = numpy_of(value, where, BindingError)
    if isinstance(value, (np.ndarray, Array)):
        return elements(value, where, ["uint8"])
    _refuse_recorded(value, where)
    raise must_be(where, "bytes or an array of uint8", type_of(value), BindingError)


def _is_released(view: memoryview) -> bool:
    try:
        view.contiguous  # noqa: B018
    except ValueError:
        return True
    return False


def _refuse_recorded(value: Any, where: str) -> None:
    """A BindingError for an array in the body of a procedure, where the library's calls cannot be steps."""
    if isinstance(value, ProcedureArray):
        raise no_step(where, BindingError)


def no_step(where: str, kind: type[VyreError]) -> VyreError:
    """The error for a call that cannot be a step, or an argument of one, in the body of a procedure."""
    return kind(
        f"{where} stands in the body of a procedure, and the call cannot be a step. Fix: call it outside of the "
        "procedure, before or after, on a numpy array or a vyre.Array."
    )


def refuse_in_body(value: Any, where: str) -> None:
    """An ArgumentError for bytes of the host in the body of a procedure: the library's calls on them are no steps."""
    if active() is not None and not isinstance(value, ProcedureArray):
        raise no_step(where, ArgumentError)


def host_bytes(value: Any, where: str) -> bytes:
    """An argument that is a string of bytes of the host, such as a key.

    Raises: BindingError.

    >>> host_bytes(bytearray(b"abc"), "argument `key` of siphash24")
    b'abc'
    """
    if isinstance(value, Array):
        raise must_be(where, "bytes of the host", "a vyre.Array", BindingError)
    return bytes(bytes_of(value, where))


def check_order(is_swapped: bool, at: At, first: str, second: str) -> None:
    """A BindingError for a call whose first two arguments stand in each other's place."""
    if is_swapped:
        raise BindingError(
            f"{argument(at, first)} is what `{second}` takes, and `{second}` what `{first}` takes: "
            f"`{first}` comes first. Fix: write {name_of(at)}({first}, {second})."
        )


def flag_of(value: Any, at: At, name: str) -> bool:
    """An argument that is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise must_be(argument(at, name), "True or False", shown(value))
    return bool(value)


def one_place(at: At, *values: Any) -> Place:
    """The place of a call that takes no numpy arrays beside resident ones."""
    place = place_of(at, *values)
    for each in () if place.on_host or place.is_step else values:
        if isinstance(each, np.ndarray):
            wanted = "a resident array, as one of them is"
            raise must_be(f"each array of {name_of(at)}", wanted, "a numpy array", BindingError)
    return place


def count_of(value: Any, where: str, low: int, high: int) -> int:
    """An argument that is an integer of a range.

    Raises: ArgumentError.

    >>> count_of(np.int64(3), "argument `k` of topk", 0, 10)
    3
    """
    count = None if isinstance(value, np.ndarray) else as_count(value)
    if count is None or not low <= count <= high:
        raise must_be(where, f"an integer from {low} to {high}", shown(value))
    return count
