"""Diagnostics about comparisons that the user did not write, told as what the source has.

An array of several axes, and `get`, compare each index with its extent, so an index of a wrong type is reported as an
operand of a comparison. A `range` over i32 compares and subtracts its bounds. Both are found again in the source, at
the diagnostic's place.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from vyre import _core
from vyre._base.parsing import syntax_tree
from vyre._base.source import columns_of, source_line

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["in_user_terms", "source_of"]

_INDEX = r"operator `<` (?:has operands `(\w+)` and `u32`|is not defined on `(\w+)`)"


def in_user_terms(diagnostics: Sequence[Any]) -> list[Any]:
    """The diagnostics, those about an index or a `range` under the rule of what the source has."""
    return [_reworded(each) if each.rule in ("V015", "V030", "V039") else each for each in diagnostics]


def _reworded(diagnostic: Any) -> Any:
    written, types = source_of(diagnostic.place), re.search(_INDEX, diagnostic.message)
    if written is None:
        return diagnostic
    if diagnostic.rule == "V030":
        if not (isinstance(written, ast.UnaryOp) and isinstance(written.op, ast.Not)):
            return diagnostic
        rule, problem = (
            "V030",
            f"`not` is for `u32` and `bool`{diagnostic.message.partition('must be `u32`')[2].partition('. Fix')[0]}",
        )
        fix = "compare the value with 0"
    elif isinstance(written, ast.Call) and ast.unparse(written.func) == "range" and "`i32`" in diagnostic.message:
        rule, problem = "V015", "loop bound expression must be `u32`, got `i32`"
        fix = "count the turns from 0 in u32, and compute the i32 from the turn in the body"
    elif types is not None and _compares_an_index(written):
        rule = "V027"
        problem = f"an index of `{ast.unparse(written)}` must be `u32`, got `{types[1] or types[2]}`"
        fix = "wrap it in vyre.u32(...)"
    else:
        return diagnostic
    message = f"vyre IR validation: {problem}. Fix: {fix}."
    return _core._diagnostic_from_state(rule, message.encode(), diagnostic.place, b"")


def source_of(place: Any) -> ast.expr | None:
    """The expression, or the target of the assignment, that stands at the marked columns."""
    if place.file is None or place.line is None:
        return None
    line = source_line(place.file, place.line)
    first, last = columns_of(place, line)
    try:
        (statement,) = syntax_tree(line[first:last]).body
    except (SyntaxError, ValueError):
        return None
    if isinstance(statement, ast.Assign):
        return statement.targets[0]
    return statement.target if isinstance(statement, ast.AugAssign) else getattr(statement, "value", None)


def _compares_an_index(written: ast.expr) -> bool:
    """Whether it is an access of an array with several axes, a[i, j] or an atomic at (i, j), or a.get(i)."""
    if isinstance(written, ast.Call):
        is_get = isinstance(written.func, ast.Attribute) and written.func.attr == "get"
        return is_get or any(isinstance(each, ast.Tuple) for each in written.args[:2])
    return isinstance(written, ast.Subscript) and isinstance(written.slice, ast.Tuple)
