"""Arguments of a procedure's call that a call on arrays and an invocation take alike: numbers, and `out=`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre._arrays.given import bits_given
from vyre._base.refused import must_be

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre._kernel.parameters import Parameter
    from vyre._procedure.procedure import ProcedureFunction
    from vyre._procedure.recorded import Recorded

__all__ = ["argument_of", "outs_of"]


def outs_of(function: ProcedureFunction, made: Recorded, out: Any) -> Sequence[Any]:
    """The arrays that `out=` gives for the outputs, None for those that are made."""
    if out is None:
        return [None] * len(made.outputs)
    given = out if isinstance(out, tuple) else (out,)
    if len(given) != len(made.outputs):
        count = len(made.outputs)
        raise must_be(
            f"argument `out` of procedure `{function.name}`",
            f"{count or 'no'} array{'s' if count != 1 else ''}",
            len(given),
        )
    return given


def argument_of(function: ProcedureFunction, parameter: Parameter, value: Any) -> int:
    """An argument for a parameter that is a number, as the core takes it."""
    where = f"argument `{parameter.name}` of procedure `{function.name}`"
    return bits_given(where, parameter.element, value)
