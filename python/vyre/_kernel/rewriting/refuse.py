"""Refuses syntax that a kernel cannot have, when the function is decorated, and names the form to write instead."""

from __future__ import annotations

import ast
import linecache
from typing import Any

from vyre._base.types import HAS_FLOATS
from vyre._kernel.mistakes import FRACTIONS, Mistake, Spot

__all__ = ["Names", "is_range", "refuse", "spot_at"]

# Syntax: what it is called, and what to write instead.
_REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    ast.AsyncFunctionDef: ("an async function", "write a plain function outside of the kernel, which is inlined"),
    ast.ClassDef: ("a class", "use tuples of values, and plain functions outside of the kernel"),
    ast.Delete: ("`del`", "leave it out: variables that nothing reads cost nothing"),
    ast.FunctionDef: ("a function in a function", "write it outside of the kernel; it is inlined where it is called"),
    ast.Global: ("`global`", "pass the value as a parameter, and store results into an Out array"),
    ast.Import: ("`import`", "import at the top of the file"),
    ast.ImportFrom: ("`import`", "import at the top of the file"),
    ast.JoinedStr: ("an f-string", "store the value into an Out array and print it after the call"),
    ast.Lambda: ("`lambda`", "write a plain function outside of the kernel; it is inlined where it is called"),
    ast.Match: ("`match`", "write `if` and `elif`"),
    ast.NamedExpr: ("`:=`", "assign in a statement of its own before it"),
    ast.Nonlocal: ("`nonlocal`", "return the value from the helper"),
    ast.Raise: ("`raise`", "store a status into an Out array and raise after the call"),
    ast.Try: ("`try`", "test the condition with `if`: nothing raises while a kernel runs"),
    ast.With: ("`with`", "write the statements without it"),
    ast.Yield: ("`yield`", "store into an Out array; a kernel is no generator"),
    ast.YieldFrom: ("`yield`", "store into an Out array; a kernel is no generator"),
}
_OPERATORS: dict[type[ast.operator], tuple[str, str]] = {ast.MatMult: ("`@`", "write the sums of the products")}
if not HAS_FLOATS:
    _OPERATORS[ast.Div] = ("`/`, which gives floats", "write `//`")
if hasattr(ast, "TryStar"):
    _REFUSED[ast.TryStar] = _REFUSED[ast.Try]
if hasattr(ast, "TypeAlias"):
    _REFUSED[ast.TypeAlias] = ("`type`", "write it at the top of the file")
if hasattr(ast, "TemplateStr"):
    _REFUSED[ast.TemplateStr] = _REFUSED[ast.JoinedStr]


def spot_at(file: str, node: Any) -> Spot:
    end = node.end_col_offset + 1 if node.end_lineno == node.lineno else 0
    return Spot(file, node.lineno, node.col_offset + 1, end)


def _else_of(loop: ast.For | ast.While, file: str) -> Spot | None:
    """Where the `else` of a loop stands; None where the source has none in a line of its own."""
    word = "else"
    for line in range((loop.body[-1].end_lineno or 0) + 1, loop.orelse[0].lineno + 1):
        text = linecache.getline(file, line)
        if text.lstrip().startswith(word):
            column = len(text) - len(text.lstrip()) + 1
            return Spot(file, line, column, column + len(word))
    return None


# Nodes without a rule of their own, which are most of a source.
_FREE = frozenset([ast.Call, ast.Compare, ast.Expr, ast.If, ast.IfExp, ast.Subscript, ast.Tuple, ast.UnaryOp])


class Names:
    """The names that a source has, as refuse finds them.

    Attributes:
        assigned: each name that is assigned as a whole, with the first place.
        read: each name that is read, with the attributes that are read of it: whether it is read as a whole, not only
            for an attribute, and the first place.
    """

    def __init__(self) -> None:
        self.assigned: dict[str, ast.Name] = {}
        self.read: dict[tuple[str, ...], tuple[bool, ast.expr]] = {}

    def add_name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.assigned.setdefault(node.id, node)
        else:
            self._add((node.id,), True, node)

    def _add(self, names: tuple[str, ...], is_whole: bool, node: ast.expr) -> None:
        was_whole, first = self.read.get(names, (False, node))
        self.read[names] = was_whole or is_whole, first

    def add_attributes(self, node: ast.Attribute) -> bool:
        """Whether they are those of a name."""
        chain: list[str] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            chain.append(inner.attr)
            inner = inner.value
        if not isinstance(inner, ast.Name):
            return False
        names = (inner.id, *reversed(chain))
        for k in range(len(names)):
            self._add(names[: k + 1], k == len(chain), node)
        return True


def refuse(function: ast.FunctionDef, file: str, is_kernel: bool) -> Names:
    """The names of a source. Raises the Mistake of its first statement or expression without a meaning in a kernel."""
    names = Names()
    found: list[tuple[tuple[int, int], Mistake]] = []

    def add(node: Any, problem: str, fix: str, rule: str = "K001", spot: Spot | None = None) -> None:
        found.append(((node.lineno, node.col_offset), Mistake(rule, problem, fix, spot or spot_at(file, node))))

    where = "a kernel" if is_kernel else f"the helper `{function.name}`"
    loops: list[str] = []

    def visit_parts(node: ast.AST) -> None:
        # Python's trees share the nodes of operators and contexts. What shows a traceback in a notebook sets `parent`
        # on them, so only the fields of the language are walked.
        for value in [getattr(node, name) for name in node._fields]:
            if type(value) is list:
                for each in value:
                    if isinstance(each, ast.AST):
                        visit(each)
            elif isinstance(value, ast.AST):
                visit(value)

    def visit_loop(node: ast.For | ast.While) -> bool:
        """Return whether its parts were visited."""
        if node.orelse:
            problem = f"{where} has `{'for' if isinstance(node, ast.For) else 'while'} ... else`"
            fix = "set a variable in the loop, and test it after the loop"
            add(node.orelse[0], problem, fix, spot=_else_of(node, file))
        if isinstance(node, ast.While):
            return False
        if not is_range(node.iter):
            _unrolled_target(node.target, add)
            return False
        if not isinstance(node.target, ast.Name):
            add(node.target, "a loop over range has one variable", "write `for i in range(...)`")
            return False
        _loop_variable(node, loops, add)
        names.add_name(node.target)
        visit(node.iter)
        loops.append(node.target.id)
        for child in [*node.body, *node.orelse]:
            visit(child)
        loops.pop()
        return True

    def visit(node: ast.AST) -> None:
        kind = type(node)
        if kind in _FREE:
            visit_parts(node)
            return
        if kind in _REFUSED:
            what, fix = _REFUSED[kind]
            add(node, f"{where} has {what}", fix)
            return
        if isinstance(node, ast.Constant):
            _constant(node, add)
        elif isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in _OPERATORS:
            what, fix = _OPERATORS[type(node.op)]
            add(node, f"{where} has {what}", fix)
        elif _formats(node):
            add(node, f"{where} formats text with `%`", "store the value into an Out array and print it after the call")
        elif isinstance(node, (ast.For, ast.While)) and visit_loop(node):
            return
        elif isinstance(node, ast.Return) and is_kernel and node.value is not None:
            if not (isinstance(node.value, ast.Constant) and node.value.value is None):
                add(node, "a kernel returns a value", "store it into an Out array; the call returns that array")
        elif isinstance(node, ast.Attribute):
            if names.add_attributes(node):
                return
        elif isinstance(node, ast.Name):
            names.add_name(node)
            if isinstance(node.ctx, ast.Load) or node.id not in loops:
                return
            add(
                node,
                f"`{node.id}` is assigned in the loop whose variable it is",
                "use another name; `break` leaves the loop, and `while` counts as you write",
                "K003",
            )
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                _target(target, add)
        elif isinstance(node, ast.AugAssign):
            _target(node.target, add)
        elif isinstance(node, ast.comprehension):
            _unrolled_target(node.target, add)
        elif isinstance(node, ast.AnnAssign) and not isinstance(node.target, ast.Name):
            add(node.target, "an element or attribute has an annotation", "leave the annotation out")
        visit_parts(node)

    for statement in function.body:
        visit(statement)
    if found:
        raise min(found, key=lambda each: each[0])[1]
    return names


def is_range(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"


def _formats(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mod)
        and isinstance(node.left, ast.Constant)
        and isinstance(node.left.value, str)
    )


def _constant(node: ast.Constant, add: Any) -> None:
    if isinstance(node.value, float) and not HAS_FLOATS:
        value = node.value
        is_whole = value == int(value) and abs(value) < 2**53
        fix = f"write {int(value)}" if is_whole else f"use integers: {FRACTIONS}"
        add(node, f"a kernel computes with the float {value!r}", fix)
    elif isinstance(node.value, complex):
        add(node, f"a kernel computes with the complex number {node.value!r}", "keep the two parts in two variables")


def _loop_variable(loop: ast.For, outer: list[str], add: Any) -> None:
    name = loop.target.id  # type: ignore[attr-defined]
    if name in outer:
        add(
            loop.target,
            f"`{name}` is the variable of two loops, one in the other",
            "use another name for one of them",
            "K003",
        )


def _unrolled_target(target: ast.expr, add: Any) -> None:
    if isinstance(target, (ast.Tuple, ast.List)):
        for each in target.elts:
            _unrolled_target(each, add)
    elif isinstance(target, ast.Starred):
        add(target, "a starred name is assigned", "name every value")
    elif not isinstance(target, ast.Name):
        add(target, "a loop assigns to an element or attribute", "use a variable, and assign the element in the loop")


def _target(target: ast.expr, add: Any) -> None:
    if isinstance(target, (ast.Tuple, ast.List)):
        for each in target.elts:
            _target(each, add)
    elif isinstance(target, ast.Starred):
        add(target, "a starred name is assigned", "name every value")
    elif isinstance(target, ast.Attribute):
        add(
            target,
            f"attribute `{target.attr}` is assigned, but values do not change",
            "make a new vector: v = vyre.vec2u32(x, y)"
            if target.attr in ("x", "y", "z", "w")
            else "use a variable or an array",
        )
    elif isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice):
        add(target, "a slice is assigned", "assign one element, as in `out[i] = a[i]` with `i = vyre.gid(0)`")
