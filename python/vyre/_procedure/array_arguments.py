"""Refusals of arrays that do not fit a procedure, each with the code that mends it."""

from __future__ import annotations

import array
import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._arrays.dtype_names import dtype_name
from vyre._base.text import shown
from vyre._base.types import NUMPY
from vyre._core import Array
from vyre._kernel.parameters import _type_for
from vyre.errors import BindingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre._core import DataType

__all__ = ["check_array", "no_array"]


def _written(name: str, kind: str | None, code: str) -> str:
    """What to write for an argument. An array that a call changes needs a name, or the caller does not see it."""
    return f"write {name} = {code}, and call with {name}" if kind == "InOut" else f"write {code}"


def no_array(where: str, name: str, dtype: str, kind: str | None, value: object) -> BindingError:
    """The error for what is neither an array of numpy nor a resident one."""
    got, fix = f"an object of type {type(value).__name__[:80]}", "pass a numpy array or a vyre.Array"
    if isinstance(value, (list, tuple)):
        got, fix = f"a {type(value).__name__[:80]}", _written(name, kind, f"np.array({name}, dtype=np.{dtype})")
    elif isinstance(value, array.array):
        fix = _written(name, kind, f"np.array({name}, dtype=np.{dtype})")
    elif isinstance(value, (bytes, bytearray, memoryview)):
        fix = f"write np.frombuffer({name}, np.{dtype})"
        if dtype == "uint32":
            fix = f"write vyre.pack_bytes({name}), which has four bytes in each element"
    elif isinstance(value, numbers.Number):
        got, fix = shown(value), _written(name, kind, f"np.array([{name}], np.{dtype})")
    return BindingError(f"{where} must be an array of {dtype}, got {got}. Fix: {fix}.")


def check_array(where: str, name: str, element: DataType, axes: int, kind: str | None, value: Any) -> None:
    """Refuse an array of another dtype or shape, and what is no array.

    Args:
        where: what messages call the argument.
        name: its name, which Fixes use for the value.
        kind: "In", "InOut" for an array that the call changes, or None where the procedure has no annotations.

    Raises: BindingError.
    """
    dtype, lanes = NUMPY[element]
    if not isinstance(value, (np.ndarray, Array)):
        raise no_array(where, name, dtype, kind, value)
    if _core._is_masked(value):
        code = _written(name, kind, f"{name}.filled(0)")
        raise BindingError(f"{where} is a masked array. Fix: {code} to give the masked elements a value.")

    if dtype_name(value.dtype) != dtype or not value.dtype.isnative:
        fix = f"pass an array of {dtype}"
        if value.dtype.kind in "biuf":
            fix = _written(name, kind, f"{name}.astype(np.{dtype})")
        raise BindingError(f"{where} must be an array of {dtype}, got one of {value.dtype}. Fix: {fix}.")
    if value.ndim != axes + len(lanes) or tuple(value.shape[value.ndim - len(lanes) :]) != lanes:
        wanted = f"{axes} ax{'is' if axes == 1 else 'es'}{f' and a last one of {lanes[0]}' if lanes else ''}"
        fix = _written(name, kind, f"{name}.reshape({_shape_text(name, axes, lanes, value)})")
        if kind is not None and not lanes and 1 <= value.ndim <= 3:
            rank = "" if value.ndim == 1 else f", {value.ndim}"
            fix += f", or annotate it with vyre.{kind}[{_type_for(element)}{rank}]"
        raise BindingError(f"{where} must have {wanted}, got shape {value.shape}. Fix: {fix}.")


def _shape_text(name: str, axes: int, lanes: Sequence[int], value: Any) -> str:
    """The arguments of reshape that keep the first axis where there are several."""
    first = [] if axes == 1 else [f"len({name})" if value.ndim else "1"]
    return ", ".join([*first, *["1"] * (axes - 2), "-1", *map(str, lanes)])
