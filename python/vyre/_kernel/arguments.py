"""Matches the arguments of a call of a kernel with its parameters, and refuses those that do not fit.

A call is matched in two steps. ``matched`` gives each parameter its argument, and ``shapes_of`` checks the arrays and
finds the axes of the Out arrays that are left out. A Launch (launch.py) checks the numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre._arrays.dlpack import from_dlpack, speaks_dlpack
from vyre._arrays.given import check_array
from vyre._base.calls import misfit
from vyre._base.refused import overlapping
from vyre._base.types import NUMPY
from vyre._core import DataType
from vyre.errors import ArgumentError, BindingError, CallError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre._kernel.kernel import Kernel
    from vyre._kernel.parameters import Parameter

__all__ = [
    "OPTIONS",
    "call_text",
    "check_apart",
    "matched",
    "named",
    "shapes_of",
    "without_grid",
    "without_shape",
]

OPTIONS = ("grid", "workgroups", "at_most", "backend", "device", "optimize", "timeout")


def matched(kernel: Kernel, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Each parameter's argument; an Out may be missing."""
    parameters = kernel._parameters
    given = {each.name: value for each, value in zip(parameters, args)}  # noqa: B905  fewer arguments than parameters
    for name, value in kwargs.items():
        parameter = named(kernel, name)
        if parameter is None or parameter.name in given:
            raise _misfit(kernel, args, kwargs)
        given[parameter.name] = value
    if len(args) > len(parameters):
        raise _misfit(kernel, args, kwargs)
    for each in parameters:
        if each.name not in given:
            if each.kind in ("scalar", "const") and each.has_default:
                given[each.name] = each.default
            elif each.kind != "Out":
                raise _misfit(kernel, args, kwargs)
    outs = {each.name for each in parameters if each.kind == "Out"}
    return {name: value for name, value in given.items() if value is not None or name not in outs}


def named(kernel: Kernel, name: str) -> Parameter | None:
    """The parameter that an argument by name is for."""
    for each in kernel._parameters:
        if each.name == name:
            return each
    outs = [each for each in kernel._parameters if each.kind == "Out"] if name == "out" else []
    return outs[0] if len(outs) == 1 else None


def _misfit(kernel: Kernel, args: Sequence[Any], kwargs: dict[str, Any]) -> CallError:
    from inspect import Parameter

    by_place = Parameter.POSITIONAL_OR_KEYWORD
    wanted = []
    for each in kernel._parameters:
        default = None if each.kind == "Out" or each.has_default else Parameter.empty
        wanted.append(Parameter(each.name, by_place, default=default))
    wanted += [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in OPTIONS]
    kwargs = {parameter.name if (parameter := named(kernel, name)) else name: kwargs[name] for name in kwargs}
    return misfit(f"kernel `{kernel.__name__}`", wanted, args, kwargs, call_text(kernel))


def call_text(kernel: Kernel) -> str:
    """How a call that leaves the Out arrays out is written; what follows the first of them is given by name."""
    parts: list[str] = []
    by_name = False
    for each in kernel._parameters:
        by_name = by_name or each.kind == "Out"
        if each.kind != "Out":
            parts.append(f"{each.name}={each.name}" if by_name else each.name)
    return f"{kernel._called}({', '.join(parts)})"


def shapes_of(kernel: Kernel, given: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """The axes of each array, without the one of a vector's lanes."""
    shapes: dict[str, tuple[int, ...]] = {}
    for each in kernel._arrays:
        if each.name in given:
            shapes[each.name] = _shape_of(kernel, each, given)
    for each in kernel._arrays:
        if each.name in shapes:
            continue
        like = next(
            (shapes[other.name] for other in kernel._arrays if other.axes == each.axes and other.name in shapes), None
        )
        if like is None:
            raise without_shape(kernel, each)
        shapes[each.name] = like
    return shapes


def without_shape(kernel: Kernel, parameter: Parameter) -> BindingError:
    """The error for an Out that is left out, where no array of the call says its shape."""
    return BindingError(
        f"argument `{parameter.name}` of kernel `{kernel.__name__}` is left out, and no array with {parameter.axes} "
        f"ax{'is' if parameter.axes == 1 else 'es'} says its shape. Fix: pass an array for it."
    )


def without_grid(kernel: Kernel) -> ArgumentError:
    """The error for a call without a grid, where no array says one."""
    return ArgumentError(
        f"kernel `{kernel.__name__}` has no Out or InOut array to take a grid from. Fix: pass grid=, the invocations."
    )


def _shape_of(kernel: Kernel, parameter: Parameter, given: dict[str, Any]) -> tuple[int, ...]:
    value = given[parameter.name]
    where = f"argument `{parameter.name}` of kernel `{kernel.__name__}`"
    assert parameter.element is not None
    dtype, lanes = NUMPY[parameter.element]
    if isinstance(value, (bytes, bytearray)) and dtype == "uint8":
        value = given[parameter.name] = np.frombuffer(value, np.uint8)
    elif speaks_dlpack(value):
        value = given[parameter.name] = from_dlpack(value, where, BindingError)
    dtypes = [dtype, "uint32"] if parameter.element is DataType.Bool else [dtype]
    check_array(where, value, dtypes, parameter.axes, lanes)
    return tuple(value.shape[: parameter.axes])


def check_apart(owner: str, written: Sequence[tuple[str, np.ndarray]]) -> None:
    """Refuse numpy arrays that are written and overlap: one result would overwrite the other."""
    for k, (name, array) in enumerate(written):
        for other, beside in written[:k]:
            if np.shares_memory(array, beside):
                raise overlapping(other, name, owner)
