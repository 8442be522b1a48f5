"""What a command binds: arrays of files, numbers of zero elements, and values of numbers, by their names."""

from __future__ import annotations

import argparse
import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

import vyre
from vyre import _core
from vyre._base.files import unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np

    from vyre._kernel.parameters import Parameter
    from vyre.commands._given import Called

__all__ = ["arguments_of", "array_of", "as_named", "parameters_of", "zeros"]

_ARRAY_FIX = "name a file that numpy.save wrote"
_MOST_DIGITS = 19


def as_named(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"`{text[:80]}` is not a buffer's name, `=` and a file")
    return name, value


def parameters_of(called: Called) -> Sequence[Parameter]:
    """The parameters of a kernel or a procedure."""
    if isinstance(called, vyre.Procedure):
        from vyre._procedure.loaded import LoadedFunction

        called = LoadedFunction(called)
    return called._parameters


def arguments_of(
    parameters: Sequence[Parameter],
    given: Mapping[str, Any],
    fix: Callable[[Parameter], str],
    make: Callable[[Parameter, Any], Any] | None = None,
) -> dict[str, Any]:
    """The arguments of a call by the names of its parameters, without those that the call makes itself.

    Args:
        given: arrays and numbers, or the texts of --input.
        fix: says how to give a parameter that is missing.
        make: makes an array of a number of elements, or of None where it is not given; otherwise zeros.

    Raises: ArgumentError, BindingError.
    """
    for name in given:
        if all(name != each.name for each in parameters):
            known = [each.name for each in parameters]
            meant = _core._did_you_mean(name, known)
            raise vyre.ArgumentError(
                f"there is no input `{name[:80]}`. Fix: name one of {', '.join(known) or 'none'}{meant}."
            )
    found: dict[str, Any] = {}
    for each in parameters:
        value = given.get(each.name)
        if isinstance(value, str):
            value = array_of(value) if each.is_array else _number_of(each, value)
        if each.is_array and make is not None and not hasattr(value, "dtype"):
            value = make(each, value)
        elif each.is_array and isinstance(value, int):
            if each.axes != 1:
                raise vyre.ArgumentError(
                    f"array `{each.name}` has {each.axes} axes, got a number of zero elements. "
                    f"Fix: give an array of {each.axes} axes."
                )
            if isinstance(value, bool) or value < 0:
                raise vyre.ArgumentError(
                    f"array `{each.name}` is given {value}, which is no number of elements. Fix: give an array."
                )
            assert each.element is not None
            value = zeros(f"array `{each.name}`", value, each.element)
        elif value is None and each.has_default:
            value = each.default
        elif value is None and each.kind != "Out":
            raise vyre.BindingError(f"{_noun(each)} `{each.name}` has no value. Fix: {fix(each)}.")
        if value is not None:
            found[each.name] = value
    return found


def _noun(each: Parameter) -> str:
    return "array" if each.is_array else "constant" if each.kind == "const" else "number"


def _number_of(each: Parameter, text: str) -> Any:
    """The value of a number or a constant, written as in Python."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        value = None
    if value is None or (each.kind != "const" and not isinstance(value, int)):
        what = "literal of Python" if each.kind == "const" else "integer"
        raise vyre.ArgumentError(
            f"{_noun(each)} `{each.name}` is no {what}, got `{text[:80]}`. Fix: write --input {each.name}=5."
        )
    return value


def array_of(value: str) -> np.ndarray | int:
    """The array of a file of numpy.save, or a number."""
    import numpy as np

    if value.isdecimal():
        if len(value) > _MOST_DIGITS:  # Python reads no more than some thousand
            raise vyre.ArgumentError(
                f"`{value[:80]}` is no number of elements, which have at most {_MOST_DIGITS} digits. "
                "Fix: write a smaller number."
            )
        return int(value)
    try:
        with Path(value).open("rb") as file:
            array = np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise unreadable(value, error, fix=_ARRAY_FIX) from None
    except (ValueError, EOFError, MemoryError):
        raise vyre.ArgumentError(f"`{value[:200]}` holds no array. Fix: {_ARRAY_FIX}.") from None
    return array


def zeros(what: str, count: int, element: vyre.DataType) -> np.ndarray:
    import numpy as np

    from vyre._base.types import NUMPY

    dtype, lanes = NUMPY[element]
    try:
        return np.zeros((count, *lanes), dtype)
    except (MemoryError, ValueError):
        raise vyre.ArgumentError(
            f"the host has no memory for {count:,} elements of {what}. Fix: write a smaller number."
        ) from None
