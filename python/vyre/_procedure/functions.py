"""The function that is recorded, as a syntax tree: what the recorder does not see is looked for in its text."""

from __future__ import annotations

import ast
import functools
import linecache
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from vyre._parsing import syntax_tree

if TYPE_CHECKING:
    from collections.abc import Container
    from types import CodeType, FrameType

__all__ = ["Function", "calling_code", "function_of", "is_call_of"]

Function = ast.FunctionDef | ast.AsyncFunctionDef
_OWN = str(Path(__file__).resolve().parents[1])


def calling_code() -> CodeType | None:
    """The code of the function that calls into vyre."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
    return None if frame is None else frame.f_code


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


@functools.lru_cache(maxsize=16)
def _tree(file: str) -> ast.Module | None:
    try:
        return syntax_tree("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return None


def is_call_of(call: ast.expr | None, names: Container[str]) -> bool:
    """Whether an expression calls a function of one of these names, `vyre.when(...)` or `when(...)`."""
    if isinstance(call, ast.NamedExpr):
        return is_call_of(call.value, names)
    if not isinstance(call, ast.Call):
        return False
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)
    return name in names
