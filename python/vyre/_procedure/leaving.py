"""Finds with-blocks of conditions that a procedure's body leaves early.

The body runs once, while it is recorded, and both blocks of a condition are recorded. A `return`, `break` or `continue`
inside one would leave out, for every length, what follows the block; the recorder cannot see that, so the function's
syntax tree is looked at.
"""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING

from vyre._base import source as _source
from vyre._procedure.functions import called, calling_frame, function_of, named_blocks
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Container
    from types import CodeType

__all__ = ["left_blocks", "refuse_left_blocks"]

_CONDITIONS = ("when", "otherwise")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def refuse_left_blocks(block: str) -> None:
    """Raise ArgumentError when the function that writes ``with vyre.<block>`` leaves such a block early."""
    frame = calling_frame()
    found = None if frame is None else _left_in(frame.f_code)
    if frame is not None and found is not None:
        file = _source.file_name(frame.f_code.co_filename)
        raise ArgumentError(
            f"`{found[0]}` at line {found[1]} of {file} leaves a `with vyre.{block}:` block, and what follows the "
            "block would be left out for every length. Fix: put what follows into a "
            f"`with vyre.otherwise():` block, and write `{found[0]}` behind the blocks; make an array that both write "
            "before them, by vyre.scratch."
        )


@functools.lru_cache(maxsize=256)
def _left_in(code: CodeType) -> tuple[str, int] | None:
    function = function_of(code)
    return None if function is None else next(iter(left_blocks(function)), None)


def left_blocks(function: ast.AST) -> list[tuple[str, int]]:
    """The statements of a function that leave a block of a condition, with their lines, in order."""
    found = []
    names = named_blocks(function, _CONDITIONS)
    # (node, whether it stands in such a block, whether it stands in a loop of that block)
    waiting = [(each, False, False) for each in ast.iter_child_nodes(function)]
    while waiting:
        node, inside, looping = waiting.pop()
        if isinstance(node, _SCOPES):
            continue
        if inside and isinstance(node, ast.Return):
            found.append(("return", node.lineno))
        if inside and not looping and isinstance(node, (ast.Break, ast.Continue)):
            found.append((type(node).__name__.lower(), node.lineno))
        if isinstance(node, (ast.With, ast.AsyncWith)) and _has_condition(node, names):
            inside, looping = True, False
        if isinstance(node, _LOOPS):
            looping = True
        waiting.extend((each, inside, looping) for each in ast.iter_child_nodes(node))
    return sorted(found, key=lambda each: each[1])


def _has_condition(block: ast.With | ast.AsyncWith, names: Container[str]) -> bool:
    """Whether a with-block has a condition: written there, by a name, or entered inside of it."""
    for each in block.items:
        if _is_condition(each.context_expr) or (
            isinstance(each.context_expr, ast.Name) and each.context_expr.id in names
        ):
            return True
    calls = [node for each in block.body for node in ast.walk(each) if isinstance(node, ast.Call)]
    return any(
        isinstance(call.func, ast.Attribute)
        and call.func.attr == "enter_context"
        and any(_is_condition(each) or (isinstance(each, ast.Name) and each.id in names) for each in call.args)
        for call in calls
    )


def _is_condition(call: ast.expr | None) -> bool:
    return called(call) in _CONDITIONS
