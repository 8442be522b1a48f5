"""Arrays of other libraries on CUDA devices, by the CUDA array interface or DLPack: taken and given where they lie.

An array that vyre takes is ordered by its library's stream both ways: vyre's work waits for what the stream had, and
the stream waits for vyre's. An array that vyre gives by DLPack is ordered by the stream that the consumer names; by the
interface, which asks for none, it is waited for.
"""

from __future__ import annotations

import importlib
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vyre import _core
from vyre._arrays.dlpack import unread
from vyre._base.refused import must_be, must_have
from vyre._base.text import shown
from vyre.errors import ArgumentError, VyreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from vyre._core import Array

__all__ = ["Taken", "exported", "give_all_back", "interface", "jax_array", "speaks_cuda", "take"]

_VERSION = 3
# The default stream in both protocols. A library that names no stream uses it.
_LEGACY_STREAM = 1
# DLPack's kinds of devices, the stream of a consumer that orders its work itself, and the version that is spoken.
_HOST, _CUDA = 1, 2
_NO_ORDER = -1
_DLPACK = (1, 0)


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


def give_all_back(theirs: Iterable[tuple[object, Taken]], *, failed: bool = False) -> None:
    """Give the arrays of a call back to their libraries.

    A call that failed may have submitted a part of its work, so its arrays go back too; where nothing was submitted,
    the library's stream waits for what the device had anyhow. No other error takes the place of the call's: a device
    that was lost does nothing that a stream could wait for.
    """
    for _, taken in theirs:
        with suppress(VyreError) if failed else nullcontext():
            taken.give_back()


def speaks_cuda(value: Any) -> bool:
    """Whether an object is an array of another library that lies on a CUDA device."""
    kind = type(value)
    if issubclass(kind, (np.ndarray, np.generic, _core.Array)):
        return False
    if _interface_of(value) is not None:
        return True
    return _lies_on_cuda(value) and "cuda" in _core._available()


def _interface_of(value: Any) -> Mapping[str, Any] | None:
    """Return the CUDA array interface of an array; None for one on the host, where torch raises AttributeError."""
    if not hasattr(type(value), "__cuda_array_interface__"):
        return None
    described: Mapping[str, Any] | None = getattr(value, "__cuda_array_interface__", None)
    return described


def _lies_on_cuda(value: Any) -> bool:
    """Whether DLPack alone says so."""
    if not hasattr(type(value), "__dlpack__"):
        return False
    try:
        return int(value.__dlpack_device__()[0]) == _CUDA
    except Exception:  # what a producer raises is told where its array is read
        return False


def _make_ready(value: Any, described: Mapping[str, Any]) -> None:
    """Wait for an array of a library that names no stream and works on streams of its own, as jax does."""
    wait = getattr(type(value), "block_until_ready", None)
    if described.get("version", 0) < _VERSION and wait is not None:
        wait(value)


def _described(value: Any, where: str, error: type[Exception]) -> tuple[Mapping[str, Any], object]:
    """Describe an array in the words of the CUDA array interface. Also returns the object that keeps its memory."""
    described = _interface_of(value)
    if described is not None:
        _make_ready(value, described)
        return described, value
    try:
        try:
            capsule = value.__dlpack__(stream=_LEGACY_STREAM, max_version=_DLPACK)
        except TypeError:  # of a producer before DLPack 1.0
            capsule = value.__dlpack__(stream=_LEGACY_STREAM)
        described = _core._dlpack_opened(capsule)
    except Exception as raised:  # a producer may raise anything
        said = str(raised).strip().rstrip(".").partition("\n")[0] or type(raised).__name__
        raise unread(where, said, error) from None
    if not described["typestr"]:
        raise must_have(where, "elements that numpy has", "others", error)
    return {**described, "stream": _LEGACY_STREAM, "version": _VERSION}, described["owner"]


def take(value: Any, where: str, error: type[Exception], *, written: bool) -> Taken:
    """An array of another library, without a copy.

    Args:
        where: what messages call it.
        error: what is raised when it cannot be taken.
        written: whether vyre will write it.
    """
    described, owner = _described(value, where, error)
    shape = tuple(int(extent) for extent in described["shape"])
    dtype = np.dtype(described["typestr"])
    address, is_read_only = described["data"]
    if not _is_contiguous(shape, dtype, described.get("strides")):
        raise must_be(where, "a C-contiguous array", "another", error)
    if is_read_only and written:
        raise must_be(where, "a writable array", "a read-only one", error)
    if described.get("mask") is not None:
        raise must_be(where, "an array without a mask", "a masked array", error)
    if "cuda" not in _core._available():
        reasons = " ".join(_core._unavailable().get("cuda", ["backend `cuda` does not work here."]))
        raise error(f"{where} lies on a CUDA device: {reasons}")
    stream = described.get("stream", _LEGACY_STREAM) if described.get("version", 0) >= _VERSION else _LEGACY_STREAM
    try:
        array = _core._cuda_adopt(int(address), list(shape), dtype, stream, owner, where)
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


def exported(array: Array, asked: Mapping[str, Any]) -> object | None:
    """Return the DLPack capsule of an array on a CUDA device: its memory there, ordered by the consumer's stream.

    Args:
        asked: the arguments of ``Array.__dlpack__`` by name.

    Returns: the capsule; None where the host is asked for. numpy asks for it by naming neither stream nor device.

    Raises: BufferError for another device, ArgumentError for a stream that is none.
    """
    here = array.__dlpack_device__()
    wanted, stream, copied = asked.get("dl_device"), asked.get("stream"), asked.get("copy")
    if here[0] != _CUDA or (wanted is None and "stream" not in asked):
        return None
    if wanted is not None:
        kind, number = wanted
        if kind == _HOST:
            return None
        if (kind, number) != here:
            wanted = f"(1, 0), {here} or None"
            raise must_be("argument `dl_device` of Array.__dlpack__", wanted, (int(kind), number), BufferError)
    if stream is None:
        stream = _LEGACY_STREAM
    if isinstance(stream, bool) or not isinstance(stream, int) or stream == 0 or stream < _NO_ORDER:
        raise must_be(
            "argument `stream` of Array.__dlpack__", "a CUDA stream's handle, 1, 2, -1 or None", shown(stream)
        )
    if copied:
        array = array.copy()
    address = _core._cuda_address(array) if array.size else 0
    if stream != _NO_ORDER:
        _core._cuda_hand_over(array, stream)
    versioned = asked.get("max_version") is not None and asked["max_version"][0] >= _DLPACK[0]
    return _core._dlpack_capsule(array, address or 0, here, versioned, bool(copied))


def jax_array(array: Array) -> Callable[[], Any]:
    """Give ``jax.numpy.asarray`` an array on a CUDA device by DLPack, which keeps the memory.

    jax prefers it to the CUDA array interface, of which it keeps the address alone: the memory would go to the next
    array as soon as the vyre.Array is gone.

    Raises: AttributeError for an array that has no CUDA array interface.
    """
    _check_interface(array)

    def made() -> Any:
        return importlib.import_module("jax.dlpack").from_dlpack(array)

    return made


def _check_interface(array: Array) -> None:
    if array.backend != "cuda":
        raise AttributeError(
            f"an array of backend {shown(array.backend)} does not lie on a CUDA device. "
            'Fix: write vyre.array(a.numpy(), backend="cuda"), for an array `a`.'
        )
    if array.dtype == bool:
        raise AttributeError(
            "an array of bool takes four bytes an element on a device, and other libraries' one. "
            "Fix: write a.numpy(), for an array `a`."
        )


def interface(array: Array) -> dict[str, Any]:
    """Describe an array on a CUDA device to other libraries; its work is waited for, so that they need no stream.

    Raises: AttributeError for an array of another backend, as libraries expect of one without the interface.
    """
    _check_interface(array)
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
