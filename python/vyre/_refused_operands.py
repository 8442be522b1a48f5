"""Refuses operators of ``vyre.Array`` whose operands do not fit together, and says what to write instead.

_elementwise.py loads this module when it refuses a call. Each message names the operator, both operands, and an
expression that gives what was meant: a conversion, a reshape, or a copy to the other array's device.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from vyre._elementwise import AMOUNTS, integer_of
from vyre._text import shown
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np

    from vyre._core import Array
    from vyre._elementwise import Form, Operator

__all__ = ["check_place", "refuse_amount", "refuse_arrays", "refuse_value"]


def refuse_value(row: Operator, array: Array, other: Any, form: Form, is_left: bool) -> NoReturn:
    import numpy as np

    wanted = AMOUNTS if row.kind == "shift" and not is_left else array.dtype.name
    start = f"operator `{row.symbol}` has a vyre.Array of {array.dtype} and"
    if isinstance(other, np.ndarray) and other.ndim:
        what = f"a numpy array of {other.dtype}"
        raise ArgumentError(f"{start} {what}, which lies on the host. Fix: {_upload(array, other, wanted)}.")
    if isinstance(other, (list, tuple)):
        what = f"a {type(other).__name__}"
        raise ArgumentError(f"{start} {what}, which lies on the host. Fix: {_upload(array, other, wanted)}.")
    fix = "write an integer in that range"
    count = integer_of(other)
    if form.greatest == 1:
        fix = "write bool(x)" if count is not None else "write True or False"
    elif isinstance(other, (bool, np.bool_, np.ndarray)):
        fix = "write int(x)"
    elif isinstance(other, (float, complex, np.inexact)):
        fix = "write an integer: programs have no floats, and x * p // q is x times the fraction p / q"
    elif count is not None and count < 0 and row.symbol in "+-" and not is_left and -count <= form.greatest:
        fix = f"write `{'-' if row.symbol == '+' else '+'} {-count}`"
    elif count is not None and -(2**31) <= count < 0 and row.kind == "":
        fix = f"write {count} & 0x{form.greatest:X} for the same bits"
    wants = "True or False" if form.greatest == 1 else f"an integer from {form.least} to {form.greatest}"
    raise ArgumentError(f"{start} {shown(other)}, which is not {wants}. Fix: {fix}.")


def _upload(array: Array, values: Any, wanted: str) -> str:
    """The expression that copies values of the host to the device of an array."""
    import numpy as np

    from vyre import _values

    try:
        _values.exact(values, np.dtype(wanted), "")
    except ArgumentError:
        if isinstance(values, np.ndarray):
            return f"{_values.conversion(values, wanted, 'x')}, and vyre.array(x, {_where(array)}) of that"
        return f"{_values.sequence(values, wanted)}, and vyre.array(x, {_where(array)}) of that"
    dtype = f", dtype=np.{'bool_' if wanted == 'bool' else wanted}"
    return f"write vyre.array(x{'' if getattr(values, 'dtype', None) == wanted else dtype}, {_where(array)})"


def refuse_arrays(row: Operator, left: Array, right: Array, wanted: np.dtype[Any]) -> NoReturn:
    import numpy as np

    if right.dtype != wanted:
        if row.kind == "shift":
            refuse_amount(row.symbol, right.dtype)
        raise ArgumentError(
            f"operator `{row.symbol}` has vyre.Arrays of {left.dtype} and {right.dtype}. Fix: write "
            f"right.astype(np.{'bool_' if wanted.name == 'bool' else wanted}) in place of the right one, so that both "
            "have one dtype."
        )
    fix = "pass arrays of one shape"
    if left.size == right.size:
        fix = f"write right.reshape({left.shape}) in place of the right one"
    elif right.size == 1:
        fix = f"write {'bool' if wanted.name == 'bool' else 'int'}(right) in place of the right one"
    else:
        try:
            whole = np.broadcast_shapes(left.shape, right.shape)
        except ValueError:
            whole = None
        if whole == left.shape:
            fix = f"write vyre.array(np.broadcast_to(right.numpy(), {whole})) in place of the right one"
    raise ArgumentError(
        f"operator `{row.symbol}` has vyre.Arrays of shapes {left.shape} and {right.shape}, and arrays are not "
        f"broadcast. Fix: {fix}."
    )


def refuse_amount(symbol: str, dtype: np.dtype[Any]) -> NoReturn:
    raise ArgumentError(
        f"amount of `{symbol}` must be a vyre.Array of uint32, got one of {dtype}. "
        "Fix: write amount.astype(np.uint32) in place of the amount."
    )


def check_place(symbol: str, left: Array, right: Array) -> None:
    if (left.backend, left.device) == (right.backend, right.device):
        return
    raise ArgumentError(
        f"operator `{symbol}` has vyre.Arrays of two devices: device {left.device} of backend `{left.backend}` and "
        f"device {right.device} of backend `{right.backend}`. "
        f"Fix: write vyre.array(right, {_where(left)}) in place of the right one."
    )


def _where(array: Array) -> str:
    """The arguments that make another array on the same device."""
    return f'backend="{array.backend}", device={array.device}'
