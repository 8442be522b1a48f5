"""Interval analysis: the range that a U32 is in without running the program, by the operators of the IR."""

from __future__ import annotations

from dataclasses import dataclass

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
    if name in ("Eq", "Ne", "Lt", "Gt", "Le", "Ge", "SLt", "SGt", "SLe", "SGe"):
        return TRUTH if a is None or b is None else _compared(name, a, b)
    if name in ("And", "Or"):
        if a is None or b is None:
            return TRUTH
        zero = (a.high == 0 or b.high == 0) if name == "And" else (a.high == 0 and b.high == 0)
        one = (a.low > 0 and b.low > 0) if name == "And" else (a.low > 0 or b.low > 0)
        return Interval(0, 0) if zero else Interval(1, 1) if one else TRUTH
    if a is None or b is None:
        return None
    if name == "Add":
        return Interval(a.low + b.low, a.high + b.high) if a.high + b.high <= MOST else ANY
    if name == "Sub":
        return Interval(a.low - b.high, a.high - b.low) if a.low >= b.high else ANY
    if name == "Mul":
        return Interval(a.low * b.low, a.high * b.high) if a.high * b.high <= MOST else ANY
    if name == "Div" and b.low > 0:
        return Interval(a.low // b.high, a.high // b.low)
    if name == "Mod" and b.low > 0:
        if a.high < b.low:
            return Interval(a.low, a.high)
        same = a.known is not None and b.known is not None
        return Interval(a.low % b.low, a.low % b.low) if same else Interval(0, min(a.high, b.high - 1))
    if name == "Min":
        return Interval(min(a.low, b.low), min(a.high, b.high))
    if name == "Max":
        return Interval(max(a.low, b.low), max(a.high, b.high))
    if name == "BitAnd":
        known = a.known & b.known if a.known is not None and b.known is not None else None
        return Interval(0, min(a.high, b.high)) if known is None else Interval(known, known)
    if name in ("BitOr", "BitXor"):
        return Interval(0, (1 << max(a.high, b.high).bit_length()) - 1)
    if name == "Shr" and b.known is not None and b.known < 32:
        return Interval(a.low >> b.known, a.high >> b.known)
    if name == "Shl" and b.known is not None and b.known < 32 and a.high << b.known <= MOST:
        return Interval(a.low << b.known, a.high << b.known)
    return ANY


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
