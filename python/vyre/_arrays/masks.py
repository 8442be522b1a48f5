"""A mask as an index of a ``vyre.Array``: ``a[mask]`` are the selected elements, ``a[mask] = 0`` stores a number there.

How many elements a mask selects is known on the device alone, so that ``a[mask]`` waits. An assignment does not.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from vyre._arrays.graph import is_recording
from vyre._base.program_names import named
from vyre._base.refused import must_be, must_have, other_device
from vyre._base.text import shown
from vyre._base.types import OF_DTYPE, TYPES, number_of
from vyre._core import Array, BufferDecl, DataType, Expr, Node, Program
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from vyre._base.types import TypeInfo

__all__ = ["assign", "select"]

_WORKGROUP = 256
_STORES: dict[np.dtype[Any], Program] = {}


def select(array: Array, mask: Any, std: Any) -> Array:
    """The elements, or rows, where a mask is True, as a new array; ``std`` is the library.

    Raises: ArgumentError for another index than a mask of the array's first axes, and in a graph; BindingError for
        arrays of two devices; what earlier calls raised.
    """
    width = _width(array, mask)
    if is_recording():
        raise ArgumentError(
            "an index by a mask has no place in a graph: how many elements there are is known when it has run. "
            "Fix: write vyre.std.compact(a, mask), which gives them and their count."
        )
    rest = array.shape[mask.ndim :]
    rows = (mask.size, width) if rest else (mask.size,)
    found, count = std.compact(array.reshape(rows), mask.reshape(-1))
    n = int(count.item())
    selected: Array = found[:n].copy().reshape(n, *rest)
    return selected


def assign(array: Array, mask: Any, value: Any) -> None:
    """Set the elements, or rows, where a mask is True to a number.

    Raises: ArgumentError, BindingError, as for ``select``.
    """
    width, info = _width(array, mask), TYPES[OF_DTYPE[array.dtype.name]]
    number = number_of(info.element, value)
    if number is None:
        if isinstance(value, Array):
            whole = "write a = vyre.std.where(mask, values, a), for values of the shape of `a`"
            fix = whole if mask.ndim == array.ndim else "write the rows in a kernel"
            raise ArgumentError(f"elements that a mask selects are assigned a vyre.Array. Fix: {fix}.")
        raise must_be("what is assigned to elements that a mask selects", info.wanted, shown(value))
    if (array.backend, array.device) != (mask.backend, mask.device):
        raise other_device("an index by a mask", array, mask)
    if array.dtype == bool:
        mask = mask.copy()  # it may be the array itself
    program = _STORES.get(array.dtype)
    if program is None:
        program = _STORES.setdefault(array.dtype, _store(info))
    program(array, mask, number, max(width, 1), workgroups=-(-array.size // _WORKGROUP))


def _store(info: TypeInfo) -> Program:
    i = Expr.gid_x()
    chosen = Expr.load("mask", i // Expr.load("width", 0))
    kept = Expr.select(chosen, Expr.load("value", 0), Expr.load("array", i))
    declared = [
        BufferDecl.read_write("array", 0, info.element),
        BufferDecl.read("mask", 1, DataType.Bool),
        BufferDecl.uniform("value", 2, info.value),
        BufferDecl.uniform("width", 3, DataType.U32),
    ]
    return named(Program(declared, (_WORKGROUP, 1, 1), [Node.store("array", i, kept)]), "a[mask] = n")


def _width(array: Array, mask: Any) -> int:
    """How many elements each one of a mask selects."""
    if type(mask) is not Array:
        raise ArgumentError(
            "an index of a vyre.Array is a mask that lies on the host. "
            f'Fix: write vyre.array(mask, backend="{array.backend}", device={array.device}) in its place.'
        )
    if mask.dtype != bool:
        _refuse_numbers(mask)
    first = array.shape[: mask.ndim]
    if mask.shape != first:
        shapes = " or ".join(str(array.shape[:k]) for k in range(min(array.ndim, 1), array.ndim + 1))
        raise must_have(f"a mask of a vyre.Array of shape {array.shape}", f"shape {shapes}", mask.shape)
    return math.prod(array.shape[mask.ndim :])


def _refuse_numbers(index: Array) -> NoReturn:
    raise ArgumentError(
        f"an index of a vyre.Array is a vyre.Array of {index.dtype}, which may be a mask or places. "
        "Fix: write a[index != 0] for a mask, or vyre.std.gather(a, index) for the elements at these places."
    )
