"""Arrays of other libraries by DLPack: their memory as a numpy array, or a typed error that says what to write.

numpy reads the protocol. What is added here is that the device is asked first, so that memory which the host does not
reach is named as such, and that every refusal reads as the others of vyre do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre._base.refused import must_be
from vyre._base.text import first_line

if TYPE_CHECKING:
    from typing import Any

    import numpy as np

__all__ = ["from_dlpack", "numpy_of", "speaks_dlpack", "unread"]

# DLDeviceType of dlpack.h: its number, what it is called, and whether the host reads its memory.
_DEVICES = {
    1: ("the host", True),
    2: ("a CUDA device", False),
    3: ("the host, pinned for CUDA", True),
    4: ("an OpenCL device", False),
    7: ("a Vulkan device", False),
    8: ("a Metal device", False),
    9: ("a Verilog simulator", False),
    10: ("a ROCm device", False),
    11: ("the host, pinned for ROCm", True),
    13: ("memory that CUDA manages", True),
    14: ("a oneAPI device", False),
    15: ("a WebGPU device", False),
    16: ("a Hexagon device", False),
    17: ("a MAIA device", False),
}


def speaks_dlpack(values: Any) -> bool:
    """Whether an object is an array of another library: numpy's own and vyre's are taken without the protocol."""
    kind = type(values)
    return hasattr(kind, "__dlpack__") and kind.__module__ != "vyre._core" and not _is_numpy(kind)


def _is_numpy(kind: type) -> bool:
    import numpy as np

    return issubclass(kind, (np.ndarray, np.generic))


def numpy_of(value: Any, where: str, error: type[Exception]) -> Any:
    """An argument as it is, or the memory of another library's array as a numpy array; see ``from_dlpack``."""
    return from_dlpack(value, where, error) if speaks_dlpack(value) else value


class _Producer:
    """An array as numpy asks it for its memory: by the newest protocol that the array speaks.

    numpy takes every TypeError for that of a producer without the arguments of DLPack 1.0, and asks again without them.
    A producer that refuses an array by a TypeError, as pyarrow does, would be asked for what it warns of.
    """

    def __init__(self, values: Any) -> None:
        self._values = values

    def __dlpack__(self, **asked: Any) -> Any:
        try:
            return self._values.__dlpack__(**asked)
        except TypeError as error:
            if asked and "keyword" in str(error):
                return self._values.__dlpack__()
            raise BufferError(str(error)) from error

    def __dlpack_device__(self) -> Any:
        return self._values.__dlpack_device__()


def from_dlpack(values: Any, where: str, error: type[Exception]) -> np.ndarray:
    """The memory of an array of another library as a numpy array, without a copy.

    The array is read-only where its owner says so, and where the owner speaks a version of the protocol that cannot
    say it (before 1.0).

    Args:
        where: what messages call it.
        error: what is raised when it cannot be read.
    """
    import numpy as np

    device = _device_of(values, where, error)
    name, is_reached = _DEVICES.get(device[0], (f"a device of DLPack's type {device[0]}", False))
    if not is_reached:
        raise must_be(where, "an array in memory of the host", f"one on {name} (number {device[1]})", error)
    try:
        return np.from_dlpack(_Producer(values))
    # A producer may raise anything: pyarrow has classes of its own for nulls, torch RuntimeError for gradients.
    except Exception as raised:
        raise unread(where, first_line(raised), error) from None


def _device_of(values: Any, where: str, error: type[Exception]) -> tuple[int, int]:
    try:
        kind, number = values.__dlpack_device__()
        return int(kind), int(number)
    except Exception as raised:
        raise unread(
            where, f"it does not say on which device it lies: {first_line(raised).rstrip('.')}", error
        ) from None


def unread(where: str, problem: str, error: type[Exception]) -> Exception:
    """The error for an array of another library whose memory cannot be had."""
    return error(f"{where} cannot be read through DLPack: {problem}. Fix: pass a numpy array of its elements.")
