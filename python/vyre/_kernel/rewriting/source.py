"""The definition of a function as a syntax tree, read from the file that the function was compiled from.

The lines of a definition end before the first line that is indented no deeper than its `def`, and inspect finds that
line by splitting all of them into tokens. Here each such line is tried as the end: a bracket, text or line that goes on
after it makes the parser refuse what stands before, so the first text that parses is the whole definition.
"""

from __future__ import annotations

import ast
import inspect
import linecache
from typing import TYPE_CHECKING

from vyre._base.parsing import syntax_tree
from vyre._base.source import note_source
from vyre._kernel.mistakes import Mistake, Spot

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FunctionType

__all__ = ["definition_of"]

_MOST_TRIED = 8  # lines that may be the end, before inspect is asked


def definition_of(function: FunctionType) -> tuple[ast.FunctionDef, str]:
    """The function's tree, whose nodes have their places in the file, and the file. Each call gives another tree.

    Raises: Mistake for a function without source, or one that is not a `def`.
    """
    file = function.__code__.co_filename
    # The code says where the function stands; a decorator may say that the function is another one.
    found = _by_indentation(function) or _by_tokens(function)
    if isinstance(found, ast.AsyncFunctionDef):
        raise Mistake(
            "K001",
            f"`{found.name}` is an async function",
            "leave `async` and `await` out: loads and calls have their values at once",
            Spot(file, found.lineno, found.col_offset + 1, found.col_offset + 1 + len("async")),
        )
    if not isinstance(found, ast.FunctionDef) or found.name != function.__code__.co_name:
        raise Mistake(
            "K006",
            f"`{function.__name__}` is no function that begins with `def`, or its file has changed "
            f"since it was imported",
            "write it as `def name(...):`, and import the file anew when it has changed",
        )
    return found, file


def _by_indentation(function: FunctionType) -> ast.stmt | None:
    code = function.__code__
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    note_source(code, lines)
    first = code.co_firstlineno
    if not 1 <= first <= len(lines):
        return None
    for tried, end in enumerate(_possible_ends(lines, first - 1)):
        found = _parsed(lines[first - 1 : end], first)
        if found is not None:
            return found
        if tried == _MOST_TRIED:
            break
    return None


def _possible_ends(lines: Sequence[str], first: int) -> Iterator[int]:
    """The lines after the `def` that are indented no deeper than the first line, and the end of the file."""
    depth = _indentation(lines[first])
    is_in_body = False
    for k in range(first, len(lines)):
        line = lines[k]
        text = line.lstrip(" \t\f")
        if is_in_body and text[:1] not in ("", "\n", "\r", "#") and _indentation(line) <= depth:
            yield k
        is_in_body = is_in_body or text.startswith(("def ", "def\t", "async "))
    if is_in_body:
        yield len(lines)


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip(" \t\f"))


def _by_tokens(function: FunctionType) -> ast.stmt | None:
    try:
        lines, first = inspect.getsourcelines(function.__code__)
    except (OSError, TypeError):
        raise Mistake(
            "K006",
            f"the source of `{function.__name__}` cannot be read (it was made by exec, or typed where "
            f"Python keeps no source)",
            "write it into a file, or a notebook's cell without %%time and its like, or build its program: "
            "p = vyre.Builder(workgroup_size=64), arrays by p.read(name, type) and p.output(name, type), statements by "
            "p.let(name, value), `with p.if_(condition):` and `with p.loop(name, first, end):`, then p.program()",
        ) from None
    return _parsed(lines, first)


def _parsed(lines: Sequence[str], first: int) -> ast.stmt | None:
    """The statement that begins at a line of the file, or None when the lines are not one."""
    # Empty lines before it give the nodes their places, and an indented function stands under an `if`.
    is_indented = lines[0][:1] in (" ", "\t", "\f")
    before = "\n" * (first - 2) + "if 1:\n" if is_indented else "\n" * (first - 1)
    try:
        body = syntax_tree(before + "".join(lines)).body
        if is_indented:
            body = body[0].body  # type: ignore[attr-defined]
        return body[0]
    except (SyntaxError, IndexError, ValueError, AttributeError):
        return None
