"""Matches the arguments of a call of a kernel with its parameters, and refuses those that do not fit.

A call is matched in three steps. ``matched`` gives each parameter its argument, ``shapes_of`` checks the arrays and
finds the axes of the Out arrays that are left out, and ``number_bits`` checks the numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from vyre import _core
from vyre._arrays.dlpack import from_dlpack, speaks_dlpack
from vyre._arrays.dtype_names import dtype_name
from vyre._base.text import shown
from vyre._base.types import NUMPY, TYPES
from vyre._core import Array, DataType
from vyre.errors import ArgumentError, BindingError, CallError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre._kernel.kernel import Kernel
    from vyre._kernel.parameters import Parameter

__all__ = [
    "OPTIONS",
    "check_apart",
    "check_writable",
    "matched",
    "named",
    "number_bits",
    "of_numpy",
    "shapes_of",
    "text_without_outs",
]

OPTIONS = ("grid", "workgroups", "at_most", "backend", "device", "optimize", "timeout")
_MOST_AXES = 3


def matched(kernel: Kernel, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Each parameter's argument; an Out may be missing."""
    parameters = kernel._parameters
    if len(args) > len(parameters):
        raise CallError(
            f"kernel `{kernel.__name__}` takes {len(parameters)} arguments, got {len(args)}. Fix: "
            f"write {_call_text(kernel)}."
        )
    given = {each.name: value for each, value in zip(parameters, args)}  # noqa: B905  fewer arguments than parameters
    for name, value in kwargs.items():
        parameter = named(kernel, name)
        if parameter is None:
            raise _unknown(kernel, name)
        if parameter.name in given:
            raise CallError(
                f"kernel `{kernel.__name__}` got argument `{parameter.name}` twice. Fix: write {_call_text(kernel)}."
            )
        given[parameter.name] = value
    for each in parameters:
        if each.name not in given:
            if each.kind in ("scalar", "const") and each.has_default:
                given[each.name] = each.default
            elif each.kind != "Out":
                text = text_without_outs(kernel) if any(p.kind == "Out" for p in parameters) else _call_text(kernel)
                raise CallError(f"kernel `{kernel.__name__}` misses argument `{each.name}`. Fix: write {text}.")
    outs = {each.name for each in parameters if each.kind == "Out"}
    return {name: value for name, value in given.items() if value is not None or name not in outs}


def named(kernel: Kernel, name: str) -> Parameter | None:
    """The parameter that an argument by name is for."""
    for each in kernel._parameters:
        if each.name == name:
            return each
    outs = [each for each in kernel._parameters if each.kind == "Out"] if name == "out" else []
    return outs[0] if len(outs) == 1 else None


def _unknown(kernel: Kernel, name: str) -> CallError:
    if name == "out":
        outs = [f"{each.name}=" for each in kernel._parameters if each.kind == "Out"]
        return CallError(
            f"kernel `{kernel.__name__}` has {len(outs)} Out parameters, so `out=` names none of them. "
            f"Fix: write {' or '.join(outs) or 'the call without it'}."
        )
    meant = _core._did_you_mean(name, [each.name for each in kernel._parameters] + [*OPTIONS])
    fix = f"write {meant.split('`')[1]}=" if meant else f"write {_call_text(kernel)}"
    has = f"was specialised for a `{name}`, and has no other one" if kernel._has_fixed(name) else None
    return CallError(f"kernel `{kernel.__name__}` {has or f'has no parameter `{name[:80]}`{meant}'}. Fix: {fix}.")


def text_without_outs(kernel: Kernel) -> str:
    """The text of a call without the Out arrays: the arguments after the first of them are given by name."""
    parts: list[str] = []
    by_name = False
    for each in kernel._parameters:
        by_name = by_name or each.kind == "Out"
        if each.kind != "Out":
            parts.append(f"{each.name}={each.name}" if by_name else each.name)
    return f"{kernel._called}({', '.join(parts)})"


def _call_text(kernel: Kernel) -> str:
    return f"{kernel._called}({', '.join(each.name for each in kernel._parameters)})"


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
            dtype, lanes = NUMPY[each.element]  # type: ignore[index]
            extents = ", ".join(["n", "h, w", "d, h, w"][each.axes - 1 : each.axes] + [str(lane) for lane in lanes])
            raise BindingError(
                f"argument `{each.name}` of kernel `{kernel.__name__}` is left out, and no array with {each.axes} "
                f"ax{'is' if each.axes == 1 else 'es'} says its shape. "
                f"Fix: write {each.name}=np.zeros({extents if ',' not in extents else f'({extents})'}, np.{dtype})."
            )
        shapes[each.name] = like
    return shapes


def _shape_of(kernel: Kernel, parameter: Parameter, given: dict[str, Any]) -> tuple[int, ...]:
    value = given[parameter.name]
    where = f"argument `{parameter.name}` of kernel `{kernel.__name__}`"
    assert parameter.element is not None
    dtype, lanes = NUMPY[parameter.element]
    code = "np.bool_" if dtype == "bool" else f"np.{dtype}"
    if isinstance(value, (bytes, bytearray)) and dtype == "uint8":
        value = given[parameter.name] = np.frombuffer(value, np.uint8)
    elif speaks_dlpack(value):
        value = given[parameter.name] = from_dlpack(value, where, BindingError)
    if not isinstance(value, (np.ndarray, Array)):
        _refuse_value(where, value, dtype, code)
    if _core._is_masked(value):
        raise BindingError(
            f"{where} is a masked array. Fix: write {parameter.name}.filled(0) to give the masked elements a value."
        )
    if dtype_name(value.dtype) != dtype or not value.dtype.isnative:
        if not (parameter.element is DataType.Bool and dtype_name(value.dtype) == "uint32"):
            raise BindingError(
                f"{where} must be an array of {dtype}, got one of {value.dtype}. "
                f"Fix: write {parameter.name}.astype({code})."
            )
    if value.ndim != parameter.axes + len(lanes) or value.shape[parameter.axes :] != lanes:
        wanted = f"{parameter.axes} ax{'is' if parameter.axes == 1 else 'es'}" + (
            f" and shape (..., {lanes[0]})" if lanes else ""
        )
        fix = f"annotate it with vyre.{parameter.kind}[vyre.{parameter.element.name.lower()}, {value.ndim}]"
        if lanes:
            fix = f"write {parameter.name}.reshape(-1, {lanes[0]})"
        elif parameter.axes == 1 or not 1 <= value.ndim <= _MOST_AXES:
            fix = f"write {parameter.name}.reshape({', '.join(['-1'] + ['1'] * (parameter.axes - 1))})" + (
                f", or {fix}" if 1 < value.ndim <= _MOST_AXES else ""
            )
        raise BindingError(f"{where} must have {wanted}, got shape {value.shape}. Fix: {fix}.")
    return tuple(value.shape[: parameter.axes])


def _refuse_value(where: str, value: Any, dtype: str, code: str) -> NoReturn:
    got, fix = f"an object of type {type(value).__name__[:80]}", "pass a numpy array or a vyre.Array"
    if isinstance(value, (int, np.generic)):
        got, fix = shown(value), f"write np.array([x], {code})"
    elif isinstance(value, (list, tuple)):
        fix = f"write np.array(x, {code})"
    elif isinstance(value, str) and dtype == "uint8":
        fix = "write x.encode()"
    raise BindingError(f"{where} must be an array of {dtype}, got {got}. Fix: {fix}.")


def number_bits(owner: str, parameter: Parameter, value: Any) -> int:
    """The bits of a number."""
    assert parameter.element is not None
    bits = _core._bits_given(parameter.element, value)
    if bits is None:
        where, info = f"argument `{parameter.name}` of {owner}", TYPES[parameter.element]
        if parameter.element is DataType.Bool:
            raise BindingError(f"{where} must be True or False, got {shown(value)}. Fix: write {parameter.name} != 0.")
        raise BindingError(
            f"{where} must be an integer from {info.least} to {info.greatest} ({info.spelled}), got "
            f"{shown(value)}. Fix: write an integer in that range."
        )
    return bits


def check_writable(owner: str, name: str, value: np.ndarray, foreign: Any) -> None:
    where = f"argument `{name}` of {owner}"
    if not value.flags.writeable and foreign is not None:
        raise BindingError(
            f"{where} is written, and DLPack gives the {type(foreign).__name__[:80]} read-only. "
            f"Fix: write {name}=np.array({name}), which copies it, and take the result of the call."
        )
    if not value.flags.writeable:
        raise BindingError(f"{where} is written, and the array is read-only. Fix: write {name}={name}.copy().")
    if not value.flags.c_contiguous:
        raise BindingError(
            f"{where} is written, and the array is not C-contiguous. "
            f"Fix: write {name}_ = np.ascontiguousarray({name}), call with {name}_, then {name}[...] = {name}_."
        )


def check_apart(owner: str, written: Sequence[tuple[str, np.ndarray]]) -> None:
    """Refuse numpy arrays that are written and overlap: one result would overwrite the other."""
    for k, (name, array) in enumerate(written):
        for other, beside in written[:k]:
            if np.shares_memory(array, beside):
                raise BindingError(
                    f"arguments `{other}` and `{name}` of {owner} overlap in memory, and both are written. "
                    "Fix: give each its own array, for instance a copy."
                )


def of_numpy(owner: str, name: str) -> ArgumentError:
    """The refusal of an option that only calls with numpy arrays take."""
    is_timeout = name == "timeout"
    return ArgumentError(
        f"argument `{name}` of {owner} is for numpy arrays; resident ones run where they are"
        f"{', and a wait takes a timeout' if is_timeout else ''}. Fix: leave `{name}` out"
        f"{': result.wait(timeout) has one' if is_timeout else ''}."
    )
