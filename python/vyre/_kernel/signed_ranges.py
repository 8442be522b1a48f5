"""The Fix for a `range` over i32, whose loop counts in u32.

A bound below zero that is cast to u32 is a large number, so a cast of the bounds does not count as Python does. The
number of the turns is never negative, and fits a u32 for all bounds of i32: the Fix counts that, and makes each value
of the range from it.
"""

from __future__ import annotations

import ast
import re

__all__ = ["fix_of_range"]

_TARGET = re.compile(r"\bfor\s+(\w+)\s+in\b")
_TURN = "turn"


def fix_of_range(call: ast.Call, line: str, casts: bool) -> str:
    """The loop over the turns, and the statement that its body begins with.

    Args:
        call: `range(...)` as the user wrote it, with bounds that are not both known.
        line: the line of the source in which it stands.
        casts: whether a bound may be a u32, and both are cast to i32.
    """
    start, stop = (ast.Constant(0), call.args[0]) if len(call.args) == 1 else call.args[:2]
    step = ast.literal_eval(call.args[2]) if len(call.args) == 3 else 1
    low, high, sign = (start, stop, "<") if step > 0 else (stop, start, ">")
    condition = f"{_signed(start, casts)} {sign} {_signed(stop, casts)}"
    count = f"{_less(_word(high), low)} if {condition} else 0"
    turns = f"0, {count}, {abs(step)}" if abs(step) != 1 else count
    found = _TARGET.search(line)
    variable = found[1] if found else "k"
    value = f"vyre.i32({_TURN})"
    if step < 0:
        value = f"{_signed(start, casts)} - {value}"
    elif _constant(start) != 0:
        value = f"{_signed(start, casts)} + {value}"
    return f"write `for {_TURN} in range({turns}):`, and `{variable} = {value}` as the first statement of its body"


def _constant(bound: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(bound)
    except ValueError:
        return None
    return value if isinstance(value, int) else None


def _signed(bound: ast.expr, casts: bool) -> str:
    """The bound as an operand."""
    text = ast.unparse(bound)
    if _constant(bound) is not None:
        return text
    if casts:
        return f"vyre.i32({text})"
    return text if isinstance(bound, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) else f"({text})"


def _word(bound: ast.expr) -> str:
    return ast.unparse(bound) if _constant(bound) is not None else f"vyre.u32({ast.unparse(bound)})"


def _less(text: str, bound: ast.expr) -> str:
    """The text less the bound."""
    constant = _constant(bound)
    if constant is None:
        return f"{text} - {_word(bound)}"
    return text if constant == 0 else f"{text} - {constant}" if constant > 0 else f"{text} + {-constant}"
