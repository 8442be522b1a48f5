"""The host's side of the library's calls: the checks of arguments, and the way to the device and back."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Set
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vyre import _core
from vyre._arrays.dlpack import numpy_of
from vyre._arrays.dtype_names import dtype_name
from vyre._base.text import as_count, device_of, shown
from vyre._core import Array
from vyre._default import place
from vyre._devices import check_backend
from vyre._procedure.arrays import ProcedureArray
from vyre._procedure.blocks import require
from vyre._procedure.recorder import active
from vyre._procedure.sizes import known_difference
from vyre.errors import ArgumentError, BindingError
from vyre.std._calls.declared import STEPS, At, argument, name_of
from vyre.std._calls.recorded import RecordedArray, recorded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre._devices import Device
    from vyre._procedure.recorder import Recorder

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
    "refuse_empty",
    "refuse_in_body",
    "refuse_other_length",
    "refuse_unlike",
]


_MOST_ELEMENTS = 2**32 - 1


class Place(NamedTuple):
    """Where a call runs, and whether its results come back to the host.

    Attributes:
        backend, device: as for vyre.array.
        on_host: whether the call has no resident array, so that it gives numpy arrays.
        is_step: whether the call stands in the body of a procedure, whose arrays it takes and gives.
    """

    backend: str | None
    device: int | Device | None
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

    Args:
        at: of the call.
        values: the arrays that it got.

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
            check_backend(backend, argument(at, "backend"), "None takes the best one")
        if isinstance(device, str):
            fix = f'write backend="{device}"' if device in _core._tables["backends"] else "leave it out"
            raise ArgumentError(
                f"{argument(at, 'device')} must be an index into vyre.devices(), or one of its "
                f"elements, got {shown(device)}. Fix: {fix}."
            )
        return Place(*place(backend, device), True)
    for name, value in (("backend", backend), ("device", device)):
        if value is not None:
            raise ArgumentError(
                f"{argument(at, name)} is for numpy arrays; resident ones are used where they are. "
                f"Fix: leave `{name}` out."
            )
    first = resident[0]
    for each in resident:
        if (each.backend, each.device) != (first.backend, first.device):
            raise BindingError(
                f"{name_of(at)} got arrays of two devices: {device_of(first)} and "
                f"{device_of(each)}. Fix: make all with the same `backend` and `device`."
            )
    return Place(first.backend, first.device, False)


def _place_of_step(recorder: Recorder, at: At) -> Place:
    if name_of(at) not in STEPS:
        raise ArgumentError(
            f"{name_of(at)} is called in the body of procedure `{recorder.name}`, and cannot be a "
            "step. Fix: call it outside of the procedure, before or after, on a numpy array or a "
            "vyre.Array."
        )
    for name, value in (("backend", at["backend"]), ("device", at["device"])):
        if value is not None:
            raise ArgumentError(
                f"{argument(at, name)} is given in a procedure, which runs as a whole. "
                f"Fix: give `{name}` to the procedure's call."
            )
    return Place(None, None, on_host=False, is_step=True)


def is_empty(x: Any) -> bool:
    """Whether an array is known to have no elements; the length of a procedure's array is seldom known."""
    return isinstance(x.shape[0], int) and not x.shape[0]


def refuse_empty(x: Any, message: str) -> None:
    """Refuse an array of no elements with an ArgumentError: at once, or where a procedure is planned for its arrays."""
    if is_empty(x):
        raise ArgumentError(message)
    if not isinstance(x.shape[0], int):
        require(x.shape[0] > 0, message)


def refuse_other_length(x: Any, axis: int, extent: int, problem: str, fix: str, got: str = "got") -> None:
    """Refuse an array that is not ``extent`` long along an axis: at once with a BindingError that tells its shape, or
    with an ArgumentError where a procedure is planned for its arrays."""
    if not isinstance(x.shape[axis], int):
        require(x.shape[axis] == extent, f"{problem}. Fix: {fix}.")
    elif x.shape[axis] != extent:
        raise BindingError(f"{problem}, {got} {x.shape}. Fix: {fix}.")


def refuse_unlike(a: Any, b: Any, message: str, axis_of_a: int = 0, axis_of_b: int = 0) -> None:
    """Refuse arrays of two lengths: with a BindingError where these are known to differ, as n and n - 1 of a procedure
    are, and where a procedure is planned for its arrays with an ArgumentError."""
    lengths = a.shape[axis_of_a], b.shape[axis_of_b]
    difference = known_difference(*lengths)
    if difference is None:
        require(lengths[0] == lengths[1], message)
    elif difference != 0:
        raise BindingError(message)


def elements(value: Any, where: str, dtypes: Sequence[str], axes: int = 1, flat: str = "write .ravel()") -> Any:
    """An argument that is an array of one of these dtypes; numpy's arrays come back C-contiguous.

    Arrays of other libraries, whose memory DLPack gives, are taken for numpy's.

    Args:
        flat: the Fix for an array of several axes where one is wanted.

    Raises: BindingError, ArgumentError for one that has to be copied and is too long.

    >>> elements(np.arange(3, dtype=np.uint32), "argument `x` of sum", ["uint32"])
    array([0, 1, 2], dtype=uint32)
    """
    wanted = f"{', '.join(dtypes[:-1])} or {dtypes[-1]}" if len(dtypes) > 1 else dtypes[0]
    if isinstance(value, ProcedureArray):
        if active() is None:
            _refuse_recorded(value, where)
        value = RecordedArray(value)
    if not isinstance(value, (np.ndarray, Array, RecordedArray)):
        value = numpy_of(value, where, BindingError)
    if not isinstance(value, (np.ndarray, Array, RecordedArray)):
        is_number = isinstance(value, (int, np.integer)) and dtypes[0] != "bool"
        got = shown(value) if is_number else f"an object of type {type(value).__name__[:80]}"
        raise BindingError(f"{where} must be an array of {wanted}, got {got}. Fix: {_array_of(value, dtypes)}.")
    if _core._is_masked(value):
        raise BindingError(f"{where} is a masked array. Fix: write .filled(0) to give the masked elements a value.")
    if dtype_name(value.dtype) not in dtypes or not value.dtype.isnative:
        fix = _converted(value, dtypes)
        raise BindingError(f"{where} must be an array of {wanted}, got one of {value.dtype}. Fix: {fix}.")
    if value.ndim != axes:
        fix = flat if axes == 1 else f"reshape it to {axes} axes"
        raise BindingError(
            f"{where} must have {axes} {'axis' if axes == 1 else 'axes'}, got shape {value.shape}. Fix: {fix}."
        )
    if isinstance(value, (Array, RecordedArray)) or value.flags.c_contiguous:
        return value
    if value.size > _MOST_ELEMENTS:  # before it is copied: a view that repeats elements may have any size
        raise ArgumentError(
            f"{where} has {value.size} elements, and an array has at most {_MOST_ELEMENTS}. "
            "Fix: process the data in parts."
        )
    return np.ascontiguousarray(value)


def _code(dtypes: Sequence[str]) -> str:
    """One of the dtypes in code, and what decides where there are several."""
    if dtypes[0] == "bool":  # numpy 1 has no np.bool
        return "bool)"
    return f"np.{dtypes[0]})" if len(dtypes) == 1 else "dtype) with one of these that holds its numbers"


def _array_of(value: Any, dtypes: Sequence[str]) -> str:
    """What makes an array of a number, a list or another object that is no array."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        made = "write np.frombuffer(values, np.uint8)"
        return made if "uint8" in dtypes else f"{made}.astype({_code(dtypes)}"
    if value is None or isinstance(value, str):
        return f"pass an array of {dtypes[0]}"
    return f"write np.array({'[x]' if isinstance(value, (int, np.integer)) else 'values'}, {_code(dtypes)}"


def _converted(value: Any, dtypes: Sequence[str]) -> str:
    """What turns an array into one of the dtypes."""
    if isinstance(value, RecordedArray):
        return "convert it in a kernel"
    if list(dtypes) == ["uint8"]:
        return "write .view(np.uint8) for its bytes"
    return f"write .astype({_code(dtypes)}"


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
            raise BindingError(f"{where} is a memoryview that was released. Fix: pass it before it is released.")
        return np.frombuffer(value.tobytes() if not value.contiguous else value.cast("B"), np.uint8)
    if isinstance(value, str):
        raise BindingError(f"{where} must be bytes, got a str. Fix: write text.encode().")
    value = numpy_of(value, where, BindingError)
    if isinstance(value, (np.ndarray, Array)):
        return elements(value, where, ["uint8"])
    _refuse_recorded(value, where)
    fix = "pass bytes"
    if isinstance(value, os.PathLike):
        fix = "pass what it holds: path.read_bytes()"
    elif isinstance(value, io.IOBase):
        fix = "pass what it holds: file.read()"
    elif isinstance(value, (Iterator, Set)):
        fix = "pass bytes, or list(data) where it gives several byte strings"
    raise BindingError(
        f"{where} must be bytes or an array of uint8, got an object of type {type(value).__name__[:80]}. Fix: {fix}."
    )


def _is_released(view: memoryview) -> bool:
    try:
        view.contiguous  # noqa: B018
    except ValueError:
        return True
    return False


def _refuse_recorded(value: Any, where: str) -> None:
    """A BindingError for an array in the body of a procedure, where the library's calls cannot be steps."""
    if isinstance(value, ProcedureArray):
        raise BindingError(
            f"{where} is an array of a procedure, which has no elements while the procedure is recorded. "
            "Fix: call it outside of the procedure, before or after, on a numpy array or a vyre.Array."
        )


def refuse_in_body(value: Any, where: str) -> None:
    """An ArgumentError for bytes of the host in the body of a procedure: the library's calls on them are no steps."""
    recorder = active()
    if recorder is not None and not isinstance(value, ProcedureArray):
        raise ArgumentError(
            f"{where} is given in the body of procedure `{recorder.name}`, and the call cannot be a step. Fix: call it "
            "outside of the procedure, before or after, on a numpy array or a vyre.Array."
        )


def host_bytes(value: Any, where: str) -> bytes:
    """An argument that is a string of bytes of the host, such as a key.

    Raises: BindingError.

    >>> host_bytes(bytearray(b"abc"), "argument `key` of siphash24")
    b'abc'
    """
    if isinstance(value, Array):
        raise BindingError(f"{where} must be bytes of the host, got a vyre.Array. Fix: write array.numpy().")
    return bytes(bytes_of(value, where))


def check_order(is_swapped: bool, at: At, first: str, second: str) -> None:
    """A BindingError for a call whose first two arguments stand in each other's place."""
    if is_swapped:
        raise BindingError(
            f"{argument(at, first)} is what `{second}` takes, and `{second}` what `{first}` takes: "
            f"`{first}` comes first. Fix: write {name_of(at)}({first}, {second})."
        )


def flag_of(value: Any, at: At, name: str, other: bool = True) -> bool:
    """An argument that is True or False; ``other`` is what the Fix writes."""
    if not isinstance(value, (bool, np.bool_)):
        problem = f"{argument(at, name)} must be True or False, got {shown(value)}"
        raise ArgumentError(f"{problem}. Fix: write {name}={other}.")
    return bool(value)


def one_place(at: At, *values: Any) -> Place:
    """The place of a call that takes no numpy arrays beside resident ones."""
    place = place_of(at, *values)
    for each in () if place.on_host or place.is_step else values:
        if isinstance(each, np.ndarray):
            problem = f"{name_of(at)} got a numpy array beside a resident one"
            raise BindingError(f"{problem}. Fix: write vyre.array(x) for it.")
    return place


def count_of(value: Any, where: str, low: int, high: int) -> int:
    """An argument that is an integer of a range.

    Raises: ArgumentError.

    >>> count_of(np.int64(3), "argument `k` of topk", 0, 10)
    3
    """
    count = None if isinstance(value, np.ndarray) else as_count(value)
    if count is None or not low <= count <= high:
        raise ArgumentError(
            f"{where} must be an integer from {low} to {high}, got {shown(value)}. Fix: write an integer in that range."
        )
    return count
