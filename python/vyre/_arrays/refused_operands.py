"""Refuses operators of ``vyre.Array`` whose operands do not fit together; elementwise.py loads it when it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from vyre._arrays.elementwise import AMOUNTS
from vyre._base.refused import must_be
from vyre._base.text import shown
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np

    from vyre._arrays.elementwise import Form, Operator
    from vyre._core import Array

__all__ = ["check_place", "refuse_amount", "refuse_arrays", "refuse_value"]


def refuse_value(row: Operator, array: Array, other: Any, form: Form, is_left: bool) -> NoReturn:
    import numpy as np

    start = f"operator `{row.symbol}` has a vyre.Array of {array.dtype} and"
    if isinstance(other, (list, tuple)) or (isinstance(other, np.ndarray) and other.ndim):
        wanted = AMOUNTS if row.kind == "shift" and not is_left else array.dtype.name
        what = "numpy array" if isinstance(other, np.ndarray) else type(other).__name__
        raise ArgumentError(
            f"{start} a {what}, which lies on the host. "
            f"Fix: write vyre.array(x, dtype=np.{_code(wanted)}, {_where(array)})."
        )
    wants = form.element.wanted
    raise ArgumentError(f"{start} {shown(other)}, which is not {wants}. Fix: write {wants}.")


def refuse_arrays(row: Operator, left: Array, right: Array, wanted: np.dtype[Any]) -> NoReturn:
    if right.dtype != wanted:
        if row.kind == "shift":
            refuse_amount(row.symbol, right.dtype)
        raise ArgumentError(
            f"operator `{row.symbol}` has vyre.Arrays of {left.dtype} and {right.dtype}. Fix: write "
            f"right.astype(np.{_code(wanted.name)}) in place of the right one, so that both have one dtype."
        )
    raise ArgumentError(
        f"operator `{row.symbol}` has vyre.Arrays of shapes {left.shape} and {right.shape}, and arrays are not "
        f"broadcast. Fix: pass arrays of one shape."
    )


def refuse_amount(symbol: str, dtype: np.dtype[Any]) -> NoReturn:
    raise must_be(f"amount of `{symbol}`", "a vyre.Array of uint32", f"one of {dtype}")


def check_place(symbol: str, left: Array, right: Array) -> None:
    if (left.backend, left.device) == (right.backend, right.device):
        return
    raise ArgumentError(
        f"operator `{symbol}` has vyre.Arrays of two devices: device {left.device} of backend `{left.backend}` and "
        f"device {right.device} of backend `{right.backend}`. "
        f"Fix: write vyre.array(right, {_where(left)}) in place of the right one."
    )


def _code(dtype: str) -> str:
    """The name in numpy's module."""
    return "bool_" if dtype == "bool" else dtype


def _where(array: Array) -> str:
    """The arguments that make another array on the same device."""
    return f'backend="{array.backend}", device={array.device}'
