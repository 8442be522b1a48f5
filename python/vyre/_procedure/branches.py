"""What to write in the body of a procedure where Python decides by a size.

A size that is asked whether it is true is not told by what: ``and``, ``min`` and ``assert`` ask as ``if`` does. The
statement in the source says which one it is.
"""

from __future__ import annotations

import ast
import inspect
from typing import TYPE_CHECKING

from vyre._base.parsing import syntax_tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

__all__ = ["BOTH", "EITHER", "OPPOSITE", "what_to_write"]

BOTH = "write vyre.size_min(a, b) for both of two conditions"
EITHER = "write vyre.size_max(a, b) for one of two conditions"
OPPOSITE = "write `size == 0` for the opposite of a condition"
_BLOCKS = f"{BOTH}, or put one `with vyre.when` inside the other"
_BRANCH = "write `with vyre.when(size):`, or vyre.size_select(condition, a, b)"

# A row has a test of a syntax node that decides by a size, and the Fix for it. The first row whose test holds counts.
_DECIDING = (
    (lambda node: isinstance(node, ast.While), "write `for i in vyre.times(count):`"),
    (lambda node: isinstance(node, ast.Assert), 'write vyre.require(condition, "<problem>. Fix: <action>.")'),
    (lambda node: _calls(node, "min"), "write vyre.size_min(a, b)"),
    (lambda node: _calls(node, "max"), "write vyre.size_max(a, b)"),
    (lambda node: isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And), _BLOCKS),
    (lambda node: isinstance(node, ast.Compare) and len(node.ops) > 1, _BLOCKS),
    (lambda node: isinstance(node, ast.BoolOp), EITHER),
    (lambda node: isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not), OPPOSITE),
    (lambda node: isinstance(node, ast.IfExp), "write vyre.size_select(condition, a, b)"),
)


def what_to_write(frame: FrameType) -> str:
    """The Fix for the statement that a frame executes; a general one where its source cannot be read."""
    nodes = _nodes(frame)
    return next((fix for is_it, fix in _DECIDING if any(map(is_it, nodes))), _BRANCH)


def _calls(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _nodes(frame: FrameType) -> list[ast.AST]:
    """The nodes of the statement at the frame's line, without those of the statements in its blocks."""
    try:
        lines, first = inspect.getsourcelines(frame.f_code)
        is_indented = lines[0][:1].isspace()
        tree = syntax_tree("if 1:\n" * is_indented + "".join(lines))
    except (OSError, TypeError, SyntaxError, ValueError, IndexError):
        return []
    line = frame.f_lineno - max(first, 1) + 1 + is_indented
    statements = [each for each in ast.walk(tree) if isinstance(each, ast.stmt)]
    around = [each for each in statements if each.lineno <= line <= (each.end_lineno or 0)]
    # The innermost statement begins last; a block in one line begins there with its first statement.
    innermost = max((each.lineno for each in around), default=0)
    return [node for each in around if each.lineno == innermost for node in _own(each)]


def _own(statement: ast.stmt) -> Iterator[ast.AST]:
    open_: list[ast.AST] = [statement]
    while open_:
        node = open_.pop()
        yield node
        open_.extend(each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.stmt))
