"""Diagnostics about operators and integers that the user's source has in other words, told in those words.

An array of several axes compares each index with its extent, so an index of a wrong type is reported as an operand of a
comparison that no line of the user has. A constant that is written by its name is reported by its value, and a Fix
that changes the literal cannot be applied to the name. A `range` over i32 compares and subtracts its bounds, which no
line of the user does either. All are found again in the source, at the diagnostic's place.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from vyre import _core
from vyre._kernel.signed_ranges import fix_of_range
from vyre._parsing import syntax_tree
from vyre._source import columns_of, source_line

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["in_user_terms"]

_INDEX = re.compile(r"operator `<` (?:has operands `(\w+)` and `u32`|is not defined on `(\w+)`)")
_INDEX_PATH = re.compile(r"\.index\.condition((?:\.left)*(?:\.right)?)$")
_NEGATIVE = re.compile(r"(.*literal -\d+ does not fit `u\d+` \(0 to (\d+)\)\. Fix: )(.*)", re.DOTALL)
_KEEPS_BITS = re.compile(r"write `|write \d+, which has the same bits")
# Operators whose result depends on the low bits of their operands alone.
_KEEPING = (ast.Add, ast.Sub, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)


def in_user_terms(diagnostics: Sequence[Any]) -> list[Any]:
    """The diagnostics, those of V015 and V039 in the words of the source where it can be read."""
    bounds = Counter((each.place.file, each.place.line) for each in diagnostics if each.rule == "V015")
    return [_reworded(each, bounds) if each.rule in ("V015", "V039") else each for each in diagnostics]


def _reworded(diagnostic: Any, bounds: Counter[tuple[Any, Any]]) -> Any:
    """``bounds`` counts the bounds of loops that are no U32, by their lines."""
    statement = _statement_at(diagnostic.place)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and "`i32`" in diagnostic.message:
        function = statement.value.func
        if isinstance(function, ast.Name) and function.id == "range":
            return _of_range(diagnostic, statement.value, bounds)
    if not (_INDEX.search(diagnostic.message) or _NEGATIVE.match(diagnostic.message)):
        return diagnostic
    told = _of_index(diagnostic, statement) or _of_constant(diagnostic, statement)
    if told is None:
        return diagnostic
    rule, message = told
    return _core._diagnostic_from_state(rule, message.encode(), diagnostic.place, diagnostic.hint.encode())


def _of_range(diagnostic: Any, call: ast.Call, bounds: Counter[tuple[Any, Any]]) -> Any:
    place = diagnostic.place
    unknown = sum(not isinstance(each, ast.Constant) for each in call.args[:2])
    are_all_signed = diagnostic.rule == "V015" and bounds[place.file, place.line] >= unknown
    fix = fix_of_range(call, source_line(place.file, place.line), casts=not are_all_signed)
    message = f"vyre IR validation: loop bound expression must be `u32`, got `i32`. Fix: {fix}."
    return _core._diagnostic_from_state("V015", message.encode(), place, b"")


def _statement_at(place: Any) -> ast.stmt | None:
    """The marked columns as a statement; None where there are none, or where they are no whole statement."""
    if place.file is None or place.line is None:
        return None
    line = source_line(place.file, place.line)
    first, last = columns_of(place, line)
    try:
        parsed = syntax_tree(line[first:last]).body
    except (SyntaxError, ValueError):
        return None
    return parsed[0] if len(parsed) == 1 else None


def _of_index(diagnostic: Any, statement: ast.stmt | None) -> tuple[str, str] | None:
    """Rule and message of an index of an array with several axes that is not a U32."""
    path, types = _INDEX_PATH.search(diagnostic.place.path), _INDEX.search(diagnostic.message)
    accessed = _access(statement)
    if path is None or types is None or accessed is None:
        return None
    written, indices = accessed
    text, kind = ast.unparse(written), types[1] or types[2]
    axis = _axis(path[1], indices)
    if axis is None:
        return "V027", (
            f"vyre IR validation: an index of `{text}` must be `u32`, got `{kind}`. Fix: wrap it in vyre.u32(...)."
        )
    name = ast.unparse(indices[axis])
    indices[axis] = ast.Call(ast.Name("vyre.u32"), [indices[axis]], [])
    fixed = ast.unparse(written)
    return "V027", f"vyre IR validation: index `{name}` of `{text}` must be `u32`, got `{kind}`. Fix: write {fixed}."


def _axis(path: str, indices: list[ast.expr]) -> int | None:
    """The axis whose comparison stands at the path: they are joined two by two, from the first on.

    A known index of an axis whose extent is known has no comparison, and which extents are known is not seen here.
    """
    every = list(range(len(indices)))
    unknown = [axis for axis in every if not isinstance(indices[axis], ast.Constant)]
    found = set()
    for compared in (every, unknown):
        for k, axis in enumerate(compared):
            if path == ".left" * (len(compared) - 1 - k) + (".right" if k else ""):
                found.add(axis)
    return found.pop() if len(found) == 1 else None


def _access(statement: ast.stmt | None) -> tuple[ast.expr, list[ast.expr]] | None:
    """The access of an array with several axes that a statement is, and the list of its indices."""
    written: ast.expr | None = None
    if isinstance(statement, ast.Expr):
        written = statement.value
    elif isinstance(statement, ast.AugAssign):
        written = statement.target
    elif isinstance(statement, ast.Assign):
        written = statement.targets[0]
    if isinstance(written, ast.Subscript) and isinstance(written.slice, ast.Tuple):
        return written, written.slice.elts
    if isinstance(written, ast.Call) and ast.unparse(written.func).rpartition(".")[2].startswith("atomic_"):
        for each in written.args[:2]:
            if isinstance(each, ast.Tuple):
                return written, each.elts
    return None


def _of_constant(diagnostic: Any, statement: ast.stmt | None) -> tuple[str, str] | None:
    """Rule and message of a negative constant that is written as something else than a literal."""
    found = _NEGATIVE.match(diagnostic.message)
    if found is None or not _KEEPS_BITS.match(found[3]):
        return None
    is_left = diagnostic.place.path.endswith(".left")
    operation = statement.value if isinstance(statement, ast.Expr) else statement
    if isinstance(operation, ast.BinOp):
        constant = operation.left if is_left else operation.right
    elif isinstance(operation, ast.AugAssign):
        constant = operation.value
    else:
        return None
    if not isinstance(operation.op, _KEEPING) or not isinstance(constant, (ast.Name, ast.Attribute, ast.Subscript)):
        return None
    bits = ast.BinOp(constant, ast.BitAnd(), ast.Name(f"0x{int(found[2]):X}"))
    if isinstance(operation, ast.AugAssign):
        operation.value = bits
    elif is_left:
        operation.left = bits
    else:
        operation.right = bits
    return "V039", f"{found[1]}write {ast.unparse(operation)}, which has the same bits."
