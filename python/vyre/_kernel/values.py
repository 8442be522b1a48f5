"""The values that Python's variables hold while a kernel is traced, and how messages describe them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre._core import Expr
from vyre._kernel.arrays import KernelArray
from vyre._kernel.mistakes import FRACTIONS, Mistake

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FOREVER", "Undefined", "described", "float_mistake", "giving", "is_known_later", "is_number"]

FOREVER = 0xFFFFFFFF  # turns of a `while`


class Undefined:
    """The value of a variable on a path that has not assigned it."""

    __slots__ = ("fix", "name", "why")

    def __init__(self, name: str, why: str, fix: str = "") -> None:
        self.name, self.why = name, why
        self.fix = fix or f"assign `{name}` on every path that comes here, or before it"

    def mistake(self) -> Mistake:
        return Mistake("K003", f"variable `{self.name}` {self.why}", self.fix)


def is_number(value: object) -> bool:
    return isinstance(value, (int, np.integer, np.bool_))


def is_known_later(key: Any) -> bool:
    return type(key) is Expr or (isinstance(key, tuple) and any(type(each) is Expr for each in key))


def giving(value: Any) -> Callable[[], Any]:
    """A value that was computed already, where one is asked for that is computed when it is needed."""
    return lambda: value


def float_mistake(value: Any) -> Mistake:
    return Mistake("K001", f"a kernel computes with the float {value!r}", f"use integers: {FRACTIONS}")


def described(value: Any) -> str:
    if type(value) is Expr:
        return "an expression"
    if value is None:
        return "None"
    if isinstance(value, KernelArray):
        return f"the array `{value.name}`"
    if type(value) is Undefined:
        return "unassigned"
    if is_number(value):
        return f"the integer {int(value)}"
    return f"a Python {type(value).__name__}"
