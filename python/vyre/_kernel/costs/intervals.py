"""Interval analysis: the range that a U32 is in without running the program, by the operators of the IR."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ANY", "MOST", "TRUTH", "Interval", "binary", "join", "unary"]

MOST = 2**32 - 1


@dataclass(frozen=True)
class Interval:
    """A U32 as an interval; along ``axis``, where it has one, it is the invocation's index in the grid."""

    low: int
    high: int
    axis: int | None = None

    @property
    def known(self) -> int | None:
        return self.low if self.low == self.high else None


ANY = Interval(0, MOST)
TRUTH = Interval(0, 1)


def join(a: Interval | None, b: Interval | None) -> Interval | None:
    if a is None or b is None:
        return None
    return a if a == b else Interval(min(a.low, b.low), max(a.high, b.high))


def unary(name: str, value: Interval | None) -> Interval | None:
    if value is None:
        return None
    if name == "LogicalNot":
        return Interval(0, 0) if value.low > 0 else Interval(1, 1) if value.high == 0 else TRUTH
    if name in ("Popcount", "Clz", "Ctz"):
        return Interval(0, 32)
    return ANY


def binary(name: str, a: Interval | None, b: Interval | None) -> Interval | None:
    if name in _COMPARISONS:
        return TRUTH if a is None or b is None else _compared(name, a, b)
    if name in ("And", "Or"):
        return TRUTH if a is None or b is None else _combined(name, a, b)
    if a is None or b is None:
        return None
    rule = _BINARY.get(name)
    return ANY if rule is None else rule(a, b)


_COMPARISONS = frozenset(["Eq", "Ne", "Lt", "Gt", "Le", "Ge", "SLt", "SGt", "SLe", "SGe"])


def _combined(name: str, a: Interval, b: Interval) -> Interval:
    zero = (a.high == 0 or b.high == 0) if name == "And" else (a.high == 0 and b.high == 0)
    one = (a.low > 0 and b.low > 0) if name == "And" else (a.low > 0 or b.low > 0)
    return Interval(0, 0) if zero else Interval(1, 1) if one else TRUTH


def _within(low: int, high: int) -> Interval:
    """The interval, unless a number in it is none of a U32: then the operator wraps."""
    return Interval(low, high) if low >= 0 and high <= MOST else ANY


def _mod(a: Interval, b: Interval) -> Interval:
    if b.low == 0:
        return ANY
    if a.high < b.low:
        return Interval(a.low, a.high)
    same = a.known is not None and b.known is not None
    return Interval(a.low % b.low, a.low % b.low) if same else Interval(0, min(a.high, b.high - 1))


def _bit_and(a: Interval, b: Interval) -> Interval:
    if a.known is not None and b.known is not None:
        return Interval(a.known & b.known, a.known & b.known)
    return Interval(0, min(a.high, b.high))


def _bits(a: Interval, b: Interval) -> Interval:
    return Interval(0, (1 << max(a.high, b.high).bit_length()) - 1)


def _shr(a: Interval, b: Interval) -> Interval:
    return ANY if b.known is None or b.known >= 32 else Interval(a.low >> b.known, a.high >> b.known)


def _shl(a: Interval, b: Interval) -> Interval:
    return ANY if b.known is None or b.known >= 32 else _within(a.low << b.known, a.high << b.known)


_BINARY: dict[str, Callable[[Interval, Interval], Interval]] = {
    "Add": lambda a, b: _within(a.low + b.low, a.high + b.high),
    "Sub": lambda a, b: _within(a.low - b.high, a.high - b.low),
    "Mul": lambda a, b: _within(a.low * b.low, a.high * b.high),
    "Div": lambda a, b: ANY if b.low == 0 else Interval(a.low // b.high, a.high // b.low),
    "Mod": _mod,
    "Min": lambda a, b: Interval(min(a.low, b.low), min(a.high, b.high)),
    "Max": lambda a, b: Interval(max(a.low, b.low), max(a.high, b.high)),
    "BitAnd": _bit_and,
    "BitOr": _bits,
    "BitXor": _bits,
    "Shr": _shr,
    "Shl": _shl,
}


def _compared(name: str, a: Interval, b: Interval) -> Interval:
    if name.startswith("S"):  # compare as I32
        return TRUTH
    if name in ("Gt", "Ge"):
        name, a, b = {"Gt": "Lt", "Ge": "Le"}[name], b, a
    always = {
        "Lt": a.high < b.low,
        "Le": a.high <= b.low,
        "Eq": a.known is not None and a.known == b.known,
        "Ne": a.high < b.low or b.high < a.low,
    }[name]
    never = {
        "Lt": a.low >= b.high,
        "Le": a.low > b.high,
        "Eq": a.high < b.low or b.high < a.low,
        "Ne": a.known is not None and a.known == b.known,
    }[name]
    return Interval(1, 1) if always else Interval(0, 0) if never else TRUTH
