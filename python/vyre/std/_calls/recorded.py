"""Arrays of a procedure's body as arguments of the library's calls, which become steps of that procedure."""

from __future__ import annotations

from typing import Any

import numpy as np

from vyre._base.types import NUMPY, OF_DTYPE
from vyre._core import DataType
from vyre._procedure.arrays import ProcedureArray

__all__ = ["RecordedArray", "recorded"]


class RecordedArray:
    """What a call sees of an array of a procedure: what it asks of numpy's arrays and of resident ones alike.

    Its lengths are sizes, so what depends on them is not checked while the procedure is recorded.

    Attributes:
        recorded: the ProcedureArray.
        dtype, shape, ndim: as of a numpy array, with an axis of a vector's lanes.
    """

    __slots__ = ("dtype", "recorded", "shape")

    def __init__(self, recorded: ProcedureArray) -> None:
        name, lanes = NUMPY[recorded.dtype]
        self.recorded = recorded
        self.dtype = np.dtype(name)
        self.shape = (*recorded.shape, *lanes)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def view(self, dtype: Any) -> RecordedArray:
        """The same memory with elements of another type, a DataType or numpy's."""
        element = dtype if isinstance(dtype, DataType) else OF_DTYPE[np.dtype(dtype).name]
        return RecordedArray(self.recorded.view(element))


def recorded(value: Any) -> Any:
    """The array of the procedure that stands behind an argument; another array as it is."""
    return value.recorded if isinstance(value, RecordedArray) else value
