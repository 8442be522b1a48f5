"""Matches the arguments of a call of a kernel with its parameters, and refuses those that do not fit.

A call is matched in three steps. ``matched`` gives each parameter its argument, ``shapes_of`` checks the arrays and
finds the axes of the Out arrays that are left out, and ``parameter_words`` checks the scalars and writes them, behind
the sizes of the arrays with several axes, as the words that the Program reads from its buffer of parameters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from vyre import _core
from vyre._arrays.dlpack import from_dlpack, speaks_dlpack
from vyre._arrays.dtype_names import dtype_name
from vyre._base.text import as_count, shown
from vyre._base.types import NUMPY, RANGES, TYPES, words_of
from vyre._core import Array, DataType
from vyre.errors import BindingError, CallError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre._kernel.kernel import Kernel
    from vyre._kernel.parameters import Parameter

__all__ = [
    "OPTIONS",
    "check_apart",
    "check_writable",
    "matched",
    "overlap",
    "parameter_words",
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
        if name == "out" and all(each.name != "out" for each in parameters):
            outs = [each for each in parameters if each.kind == "Out"]
            if len(outs) != 1:
                raise CallError(
                    f"kernel `{kernel.__name__}` has {len(outs)} Out parameters, so `out=` names none of them. "
                    f"Fix: write {' or '.join(f'{each.name}=' for each in outs) or 'the call without it'}."
                )
            name = outs[0].name
        elif all(each.name != name for each in parameters):
            meant = _core._did_you_mean(name, [each.name for each in parameters] + [*OPTIONS])
            fix = f"write {meant.split('`')[1]}=" if meant else f"write {_call_text(kernel)}"
            has = f"was specialised for a `{name}`, and has no other one" if kernel._has_fixed(name) else None
            raise CallError(
                f"kernel `{kernel.__name__}` {has or f'has no parameter `{name[:80]}`{meant}'}. Fix: {fix}."
            )
        if name in given:
            raise CallError(f"kernel `{kernel.__name__}` got argument `{name}` twice. Fix: write {_call_text(kernel)}.")
        given[name] = value
    for each in parameters:
        if each.name not in given:
            if each.kind in ("scalar", "const") and each.has_default:
                given[each.name] = each.default
            elif each.kind != "Out":
                text = text_without_outs(kernel) if any(p.kind == "Out" for p in parameters) else _call_text(kernel)
                raise CallError(f"kernel `{kernel.__name__}` misses argument `{each.name}`. Fix: write {text}.")
    return {name: value for name, value in given.items() if value is not None or _kind(parameters, name) != "Out"}


def _kind(parameters: Sequence[Parameter], name: str) -> str:
    return next(each.kind for each in parameters if each.name == name)


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


def parameter_words(kernel: Kernel, given: dict[str, Any], shapes: dict[str, tuple[int, ...]]) -> list[int]:
    words: list[int] = []
    for each in kernel._arrays:
        if each.axes <= 1:
            continue
        for axis, length in enumerate(shapes[each.name]):
            if length >= 2**32:  # of an array without elements
                raise BindingError(
                    f"argument `{each.name}` of kernel `{kernel.__name__}` has a length of {length} along axis {axis}, "
                    f"and a length is a u32. Fix: pass an array that is at most {2**32 - 1} long along that axis."
                )
            words.append(length)
    for each in kernel._parameters:
        if each.kind != "scalar":
            continue
        value = given[each.name]
        where = f"argument `{each.name}` of kernel `{kernel.__name__}`"
        if each.element is DataType.Bool:
            if not isinstance(value, (bool, np.bool_)):
                raise BindingError(f"{where} must be True or False, got {shown(value)}. Fix: write {each.name} != 0.")
            words.append(int(value))
            continue
        count = None if isinstance(value, np.ndarray) else as_count(value)
        assert each.element is not None
        low, high = RANGES[each.element]
        if count is None or not low <= count <= high:
            raise BindingError(
                f"{where} must be an integer from {low} to {high} ({TYPES[each.element].spelled}), got "
                f"{shown(value)}. Fix: write an integer in that range."
            )
        words += words_of(count, TYPES[each.element].lanes)
    return words


def check_writable(kernel: Kernel, parameter: Parameter, value: np.ndarray, foreign: Any) -> None:
    name = parameter.name
    where = f"argument `{name}` of kernel `{kernel.__name__}`"
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


def overlap(written: Sequence[np.ndarray]) -> tuple[int, int] | None:
    """The first two of C-contiguous arrays that share memory."""
    for k, array in enumerate(written):
        for before in range(k):
            if np.may_share_memory(written[before], array):  # this is exact for C-contiguous arrays
                return before, k
    return None


def check_apart(kernel: Kernel, given: dict[str, Any]) -> None:
    """Refuse numpy arrays that are written and overlap: one result would overwrite the other."""
    names = [each.name for each in kernel._arrays if each.kind != "In" and isinstance(given.get(each.name), np.ndarray)]
    found = overlap([given[name] for name in names])
    if found is not None:
        raise BindingError(
            f"arguments `{names[found[0]]}` and `{names[found[1]]}` of kernel `{kernel.__name__}` overlap in memory, "
            "and both are written. Fix: give each its own array, for instance a copy."
        )
