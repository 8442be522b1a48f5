"""A producer of DLPack tensors by ctypes, with everything that the protocol allows: as other libraries give them.

The structures are those of dlpack.h: DLManagedTensor before version 1.0 of the protocol, DLManagedTensorVersioned
since then.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
READ_ONLY = 1


class _Device(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int), ("number", ctypes.c_int))


class _DataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter))


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", _Deleter),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


# What consumers may look at for as long as the process lives: a consumer may outlive the tensor.
_KEPT: list[Any] = []

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Tensor:
    """An array of another library: it speaks DLPack, and nothing else.

    Args:
        values: whose memory it gives, with their strides.
        version: of the protocol, or None for what was before 1.0.
        offset: bytes between the pointer and the first element.
        strides: whether they are told; a C-contiguous tensor may leave them out.

    Attributes:
        deleted: how often a consumer was done with a tensor that it got.
    """

    def __init__(
        self,
        values: np.ndarray,
        version: tuple[int, int] | None = (1, 0),
        *,
        offset: int = 0,
        read_only: bool = False,
        strides: bool = True,
        device: tuple[int, int] = (1, 0),
        lanes: int = 1,
        dtype: tuple[int, int] | None = None,
    ) -> None:
        self.values, self.deleted = values, 0
        self._version, self._offset, self._read_only, self._strides = version, offset, read_only, strides
        self._device, self._lanes, self._dtype = device, lanes, dtype

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None
    ) -> Any:
        values = self.values
        extents = (ctypes.c_int64 * max(1, values.ndim))(*values.shape)
        steps = (ctypes.c_int64 * max(1, values.ndim))(*(step // values.itemsize for step in values.strides))
        code, bits = self._dtype or (_CODES[values.dtype.kind], 8 * values.itemsize)
        tensor = _Tensor(
            values.ctypes.data - self._offset,
            _Device(*self._device),
            values.ndim,
            _DataType(code, bits, self._lanes),
            extents,
            steps if self._strides else None,
            self._offset,
        )

        def delete(_: Any) -> None:
            self.deleted += 1

        deleter = _Deleter(delete)
        if self._version is None:
            managed: Any = _Managed(tensor, None, deleter)
            name = b"dltensor"
        else:
            managed = _Versioned(*self._version, None, deleter, READ_ONLY if self._read_only else 0, tensor)
            name = b"dltensor_versioned"
        _KEPT.append((managed, extents, steps, deleter, values))
        return _new_capsule(ctypes.addressof(managed), name, None)
