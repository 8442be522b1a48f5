"""Pieces of syntax trees that rewriting makes, each at the place of a node of the user's source.

Every function takes the node ``at`` whose place its result gets, so that no walk has to fill places in afterwards: such
walks took most of the time of rewriting.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, TypeVar

from vyre._kernel.rewriting.refuse import is_range

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "TRACER",
    "UNDEFINED",
    "LineMark",
    "added",
    "assign",
    "assigned_names",
    "called",
    "constant_of",
    "for_loop",
    "is_added",
    "lambda_of",
    "mark_lines",
    "name_at",
    "place",
    "target_of",
    "targets_of",
    "tuple_of",
    "undefined",
]

_Node = TypeVar("_Node", bound=ast.AST)
_ADDED = "vyre$"  # begins the names that rewriting adds: no name of a user's can
TRACER = f"{_ADDED}t"
UNDEFINED = f"{_ADDED}undefined"
_LOAD, _STORE = ast.Load(), ast.Store()


class LineMark(ast.Expr):
    """A call that says which line begins; it stays as it is."""


def added(name: str) -> str:
    """The name of a variable that rewriting adds to the user's function."""
    return _ADDED + name


def is_added(name: str) -> bool:
    """Whether rewriting added the variable, so that no rule for the user's variables is meant."""
    return name.startswith(_ADDED)


def place(node: _Node, at: Any) -> _Node:
    """The node, at the place of another."""
    placed: Any = node  # not every kind of node has a place
    placed.lineno, placed.col_offset = at.lineno, at.col_offset
    placed.end_lineno, placed.end_col_offset = at.end_lineno, at.end_col_offset
    return node


def name_at(name: str, at: Any) -> ast.expr:
    return place(ast.Name(name, _LOAD), at)


def tuple_of(names: tuple[str, ...], at: Any) -> ast.expr:
    return place(ast.Tuple(elts=[name_at(name, at) for name in names], ctx=_LOAD), at)


def target_of(name: str, at: Any) -> ast.expr:
    return place(ast.Name(name, _STORE), at)


def targets_of(names: Iterable[str], at: Any) -> ast.expr:
    return place(ast.Tuple(elts=[target_of(name, at) for name in names], ctx=_STORE), at)


def constant_of(names: tuple[str, ...]) -> ast.expr:
    """A tuple as one constant, which Python compiles and typeshed does not list. It has no place."""
    value: Any = names
    return ast.Constant(value)


def assign(name: str, value: ast.expr, at: Any) -> ast.stmt:
    """``name = value``."""
    return place(ast.Assign(targets=[target_of(name, at)], value=value), at)


def for_loop(target: ast.expr, items: ast.expr, body: list[ast.stmt], at: Any) -> ast.stmt:
    return place(ast.For(target=target, iter=items, body=body, orelse=[], type_comment=None), at)


def undefined(name: str, why: str, at: Any, fix: str = "") -> ast.expr:
    """The value of a variable that cannot be read."""
    arguments: list[ast.expr] = [place(ast.Constant(text), at) for text in (name, why, fix)]
    return place(ast.Call(func=name_at(UNDEFINED, at), args=arguments, keywords=[]), at)


def called(owner: str, method: str, at: Any, *arguments: ast.expr) -> ast.expr:
    """``owner.method(*arguments)``; constants among the arguments need no place."""
    function = place(ast.Attribute(value=name_at(owner, at), attr=method, ctx=_LOAD), at)
    for each in arguments:
        if not hasattr(each, "lineno"):
            place(each, at)
    return place(ast.Call(func=function, args=list(arguments), keywords=[]), at)


def mark_lines(tree: ast.FunctionDef, file: str) -> None:
    """Put a call of ``line`` before every statement."""
    open_: list[ast.AST] = [tree]
    while open_:
        node = open_.pop()
        for part in ("body", "orelse"):
            block: list[ast.stmt] = getattr(node, part, [])
            open_ += block
            marked: list[ast.stmt] = []
            for statement in block:
                told = called(TRACER, "line", statement, ast.Constant(file), ast.Constant(statement.lineno))
                marked += [place(LineMark(told), statement), statement]
            if marked:
                setattr(node, part, marked)


def lambda_of(body: ast.expr, at: Any, *names: str) -> ast.expr:
    """``lambda *names: body``."""
    arguments = ast.arguments(
        posonlyargs=[], args=[place(ast.arg(name), at) for name in names], kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    return place(ast.Lambda(args=arguments, body=body), at)


def assigned_names(statements: Iterable[ast.stmt]) -> dict[str, None]:
    """The variables that statements assign, in order; not those of loops over range."""
    found: dict[str, None] = {}
    open_: list[Any] = [*statements][::-1]
    while open_:
        node = open_.pop()
        kind = type(node)
        if kind is ast.Name:
            if type(node.ctx) is ast.Store:
                found[node.id] = None
        elif kind is ast.Tuple or kind is ast.List:
            open_.extend(reversed(node.elts))
        elif kind is ast.Assign:
            open_.extend(reversed(node.targets))
        elif kind is ast.AugAssign or kind is ast.AnnAssign:
            open_.append(node.target)
        elif isinstance(node, (ast.For, ast.While, ast.If)):
            open_ += [*node.body, *node.orelse][::-1]
            if isinstance(node, ast.For) and not is_range(node.iter):
                open_.append(node.target)
    return found
