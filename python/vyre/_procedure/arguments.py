"""Arguments of a procedure's call that a call on arrays and an invocation take alike: numbers, and `out=`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._base.text import shown
from vyre._base.types import RANGES, bits_of
from vyre._core import DataType
from vyre.errors import ArgumentError, BindingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre._kernel.parameters import Parameter
    from vyre._procedure.procedure import ProcedureFunction
    from vyre._procedure.recorded import Recorded

__all__ = ["argument_of", "number_of", "outs_of"]


def outs_of(function: ProcedureFunction, made: Recorded, out: Any) -> Sequence[Any]:
    """The arrays that `out=` gives for the outputs, None for those that are made."""
    if out is None:
        return [None] * len(made.outputs)
    given = out if isinstance(out, tuple) else (out,)
    if len(given) != len(made.outputs):
        count = len(made.outputs)
        fix = f"write out=({', '.join(each.name for each in made.outputs)}), an array for each of these results"
        if count < 2:
            fix = "pass one array, which is written in place of a new one" if count else "leave `out` out"
        raise ArgumentError(
            f"argument `out` of procedure `{function.name}` must be {count or 'no'} array{'s' if count != 1 else ''}, "
            f"got {len(given)}. Fix: {fix}."
        )
    return given


def number_of(where: str, name: str, element: DataType | None, value: Any) -> int:
    """The value of a number, as the core takes it.

    Raises: BindingError, which begins with ``where``, for a value that the type does not hold, and for a truth value
        that is meant as a number or the reverse.
    """
    assert element is not None
    bits = _core._bits_given(element, value)
    if bits is None and element is DataType.Bool:
        raise BindingError(f"{where} must be True or False, got {shown(value)}. Fix: write {name} != 0.")
    if bits is None:
        low, high = RANGES[element]
        fix = f"write int({name})" if isinstance(value, (bool, np.bool_)) else "write an integer in that range"
        raise BindingError(f"{where} must be an integer from {low} to {high}, got {shown(value)}. Fix: {fix}.")
    return bits_of(element, bits)


def argument_of(function: ProcedureFunction, parameter: Parameter, value: Any) -> int:
    """An argument for a parameter that is a number, as the core takes it."""
    where = f"argument `{parameter.name}` of procedure `{function.name}`"
    return number_of(where, parameter.name, parameter.element, value)
