"""A function's source, rewritten so that running it makes the statements of a Program.

Decorating reads the source (source.py) and refuses what a kernel cannot have (refuse.py), because those errors belong
to the definition. The first trace rewrites it: early exits become branches (exits.py), then every statement and
expression that Python would decide by an unknown number becomes a call of the Tracer (statements.py, expressions.py).
Every node keeps its line and columns, so the places of statements and of errors are those of the user's source.
"""

from __future__ import annotations

import ast
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from vyre._base.captured import all_code
from vyre._kernel.mistakes import Mistake, Spot
from vyre._kernel.rewriting.exits import leave_by_branches
from vyre._kernel.rewriting.refuse import refuse, spot_at
from vyre._kernel.rewriting.source import definition_of
from vyre._kernel.rewriting.statements import Rewriter
from vyre._kernel.rewriting.syntax import TRACER, UNDEFINED, added, mark_lines, place
from vyre._kernel.values import Undefined

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Definition", "Rewritten"]


class Rewritten:
    """A function that takes its parameters and a Tracer.

    Args:
        captured: the global and free names that it reads, each with the attributes that are read of it: whether as a
            whole, where.
    """

    def __init__(
        self, code: CodeType, original: FunctionType, spot: Spot, captured: dict[tuple[str, ...], tuple[bool, Spot]]
    ) -> None:
        self.code, self.original, self.spot, self.captured = code, original, spot, captured

    def bound(self, tracer: Any) -> Callable[..., Any]:
        """The function for one trace."""
        function = self.original
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        mine = {TRACER: tracer, UNDEFINED: Undefined}
        closure = tuple(cells[name] if name in cells else _cell(mine[name]) for name in self.code.co_freevars)
        made = FunctionType(self.code, function.__globals__, function.__name__, function.__defaults__, closure)
        made.__kwdefaults__ = function.__kwdefaults__
        made.__qualname__ = function.__qualname__
        return made


def _cell(value: Any) -> Any:
    return (lambda: value).__closure__[0]  # type: ignore[index]


class Definition:
    """A function whose source can be a kernel or a helper. It is rewritten when it is first traced.

    Attributes:
        assigned: the names that it assigns to as a whole, each with the first place.
    """

    def __init__(self, function: FunctionType, is_kernel: bool) -> None:
        """Raises the Mistake of what cannot be expressed, or of a source that is not there."""
        tree, file = definition_of(function)
        spot = Spot(file, tree.lineno, tree.col_offset + 1, 0)
        try:
            names = refuse(tree, file, is_kernel)
        except RecursionError:
            raise _too_deep(function, spot) from None
        self.assigned = {name: spot_at(file, node) for name, node in names.assigned.items()}
        self._function, self._is_kernel, self._file = function, is_kernel, file
        self._spot = spot
        self._read = names.read
        self._trees = [tree]  # empty once it was taken to be rewritten, which changes it
        self._rewritten: Rewritten | None = None

    def rewritten(self) -> Rewritten:
        """Raises the Mistake of an expression that is nested too deep."""
        # Without a lock: a child that is forked while another thread rewrites could not wait for it. Two threads may
        # both rewrite, each a tree of its own.
        if self._rewritten is None:
            try:
                tree = self._trees.pop()
            except IndexError:
                tree, _ = definition_of(self._function)
            try:
                self._rewritten = self._rewrite(tree)
            except RecursionError:
                raise _too_deep(self._function, self._spot) from None
        return self._rewritten

    def marked(self) -> Rewritten:
        """The function with a mark before every statement, anew each time; see lines.py."""
        return self._rewrite(definition_of(self._function)[0], with_lines=True)

    def _rewrite(self, tree: ast.FunctionDef, with_lines: bool = False) -> Rewritten:
        code = self._function.__code__
        tree.decorator_list = []
        _without_annotations(tree)
        if tree.body and isinstance(tree.body[0], ast.Expr) and isinstance(tree.body[0].value, ast.Constant):
            tree.body = tree.body[1:] or [place(ast.Pass(), tree.body[0])]
        if with_lines:
            mark_lines(tree, self._file)
        leave_by_branches(tree, self._is_kernel)
        Rewriter(tree, self._is_kernel).rewrite()
        outside = {name for each in all_code(code) for name in (*each.co_names, *code.co_freevars)}
        local = {name for each in all_code(code) for name in each.co_varnames} - outside | {*code.co_varnames}
        captured = {
            names: (is_whole, spot_at(self._file, node))
            for names, (is_whole, node) in self._read.items()
            if names[0] not in local
        }
        made = _compiled(tree, self._file, code.co_freevars)
        return Rewritten(made, self._function, self._spot, captured)


def _too_deep(function: FunctionType, spot: Spot) -> Mistake:
    return Mistake(
        "K001",
        f"an expression of `{function.__name__}` is nested deeper than Python's stack",
        "compute parts of it in statements of their own, as in `x = a[i] + b[i]`",
        spot,
    )


def _without_annotations(tree: ast.FunctionDef) -> None:
    tree.returns = None
    for each in [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs, tree.args.vararg, tree.args.kwarg]:
        if each is not None:
            each.annotation = None
    # The defaults are the original's, already evaluated; these only say how many there are.
    tree.args.defaults = [place(ast.Constant(None), each) for each in tree.args.defaults]
    tree.args.kw_defaults = [
        None if each is None else place(ast.Constant(None), each) for each in tree.args.kw_defaults
    ]


def _compiled(tree: ast.FunctionDef, file: str, free: tuple[str, ...]) -> CodeType:
    # Its own name is a global or a free name of the function, as in the original.
    name, tree.name = tree.name, added("function")
    outer = ast.FunctionDef(
        name=added("outer"),
        args=ast.arguments(
            posonlyargs=[],
            args=[place(ast.arg(name), tree) for name in dict.fromkeys([TRACER, UNDEFINED, *free])],
            kwonlyargs=[],
            kw_defaults=[],
            defaults=[],
        ),
        body=[tree],
        decorator_list=[],
        returns=None,
    )
    module = ast.Module(body=[place(outer, tree)], type_ignores=[])
    code = compile(module, file, "exec", dont_inherit=True)
    inner = next(each for each in code.co_consts if isinstance(each, CodeType))
    made = next(each for each in inner.co_consts if isinstance(each, CodeType) and each.co_name == tree.name)
    return made.replace(co_name=name)
