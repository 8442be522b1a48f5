"""The function that is recorded, as a syntax tree: what the recorder does not see is looked for in its text."""

from __future__ import annotations

import ast
import contextlib
import functools
import linecache
import sys
from typing import TYPE_CHECKING

from vyre._base.parsing import syntax_tree
from vyre._base.source import PACKAGE
from vyre._procedure.recorder import RECORDING

if TYPE_CHECKING:
    from collections.abc import Container
    from types import CodeType, FrameType

__all__ = ["Function", "body_of", "called", "calling_frame", "function_of", "named_blocks"]

Function = ast.FunctionDef | ast.AsyncFunctionDef


def calling_frame() -> FrameType | None:
    """The function that calls into vyre; None where a procedure of the library is recorded."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((PACKAGE, contextlib.__file__)):
        if frame.f_code.co_name == RECORDING:
            return None
        frame = frame.f_back
    return frame


@functools.lru_cache(maxsize=256)
def function_of(code: CodeType) -> Function | None:
    """The function of this code; None where Python keeps no source of it."""
    tree = _tree(code.co_filename)
    if tree is None:
        return None
    for node in ast.walk(tree):
        if isinstance(node, Function) and node.name == code.co_name:
            lines = [node.lineno, *(each.lineno for each in node.decorator_list)]
            if code.co_firstlineno in lines:
                return node
    return None


def body_of(code: CodeType) -> Function | ast.Module | None:
    """The function of this code, or the file or cell that runs; None where Python keeps no source of it."""
    return _tree(code.co_filename) if code.co_name == "<module>" else function_of(code)


def _tree(file: str) -> ast.Module | None:
    """A file as a syntax tree; None where it is no Python. A file that was edited and imported again is read again."""
    linecache.checkcache(file)
    return _parsed("".join(linecache.getlines(file)))


@functools.lru_cache(maxsize=16)
def _parsed(text: str) -> ast.Module | None:
    try:
        return syntax_tree(text)
    except (SyntaxError, ValueError):
        return None


def called(call: ast.expr | None) -> str | None:
    """The name of the function that an expression calls: `when` of `vyre.when(...)` and of `when(...)`."""
    if isinstance(call, ast.NamedExpr):
        return called(call.value)
    if not isinstance(call, ast.Call):
        return None
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)


def named_blocks(function: ast.AST, blocks: Container[str]) -> dict[str, str]:
    """The names that a function assigns blocks to, as in `big = vyre.when(...)`, with the function that each calls."""
    found: dict[str, str] = {}
    for node in ast.walk(function):
        if not isinstance(node, (ast.Assign, ast.NamedExpr, ast.AnnAssign)):
            continue
        block = called(node.value)
        if block is not None and block in blocks:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
            found.update(dict.fromkeys(names, block))
    return found
