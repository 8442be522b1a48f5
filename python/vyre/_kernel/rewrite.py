"""A function's source, rewritten so that running it makes the statements of a Program.

Python keeps doing what it does with values: variables, calls, tuples, lists, comprehensions. What it would decide by
a number that is
unknown (a condition, a bound, an index) becomes a call of the Tracer, `vyre$t` here. Every node keeps its line and
columns, so that
places of statements and of errors are those of the user's source.
"""

from __future__ import annotations

import ast
import copy
import inspect
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from vyre._kernel.exits import RESULT, _NativeIf, leave_by_branches
from vyre._kernel.mistakes import Mistake, Spot
from vyre._kernel.refuse import is_range, refuse, spot_at
from vyre._kernel.values import Undefined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["Rewritten", "rewrite"]

_TRACER = "vyre$t"
_UNDEFINED = "vyre$undefined"


@dataclass(frozen=True)
class Rewritten:
    """A function that takes its parameters and a Tracer."""

    name: str
    code: CodeType
    original: FunctionType
    spot: Spot
    captured: tuple[
        tuple[str, ...], ...
    ]  # the global and free names that it reads, each with the attributes read of it
    assigned: dict[str, Spot]  # the names that it assigns to as a whole, each with the first place

    def bound(self, tracer: Any) -> Callable[..., Any]:
        """The function for one trace."""
        function = self.original
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        mine = {_TRACER: tracer, _UNDEFINED: Undefined}
        closure = tuple(cells[name] if name in cells else _cell(mine[name]) for name in self.code.co_freevars)
        made = FunctionType(self.code, function.__globals__, function.__name__, function.__defaults__, closure)
        made.__kwdefaults__ = function.__kwdefaults__
        made.__qualname__ = function.__qualname__
        return made


def _cell(value: Any) -> Any:
    return (lambda: value).__closure__[0]  # type: ignore[index]


def rewrite(function: FunctionType, is_kernel: bool) -> Rewritten:
    """Raises the Mistake of what cannot be expressed, or of a source that is not there."""
    tree, file = _source_of(function)
    spot = Spot(file, tree.lineno, tree.col_offset + 1, 0)
    try:
        return _rewritten(function, tree, file, spot, is_kernel)
    except RecursionError:
        raise Mistake(
            "K001",
            f"an expression of `{function.__name__}` is nested deeper than Python's stack",
            "compute parts of it in statements of their own, as in `x = a[i] + b[i]`",
            spot,
        ) from None


def _rewritten(function: FunctionType, tree: ast.FunctionDef, file: str, spot: Spot, is_kernel: bool) -> Rewritten:
    refuse(tree, file, is_kernel)
    captured = _captured(tree, function)
    assigned = _assigned(tree, file)
    tree.decorator_list = []
    _without_annotations(tree)
    if tree.body and isinstance(tree.body[0], ast.Expr) and isinstance(tree.body[0].value, ast.Constant):
        tree.body = tree.body[1:] or [ast.copy_location(ast.Pass(), tree.body[0])]
    leave_by_branches(tree, is_kernel)
    _Rewriter(tree, is_kernel).rewrite()
    code = _compiled(tree, file, function.__code__.co_freevars)
    return Rewritten(function.__name__, code, function, spot, captured, assigned)


def _assigned(tree: ast.FunctionDef, file: str) -> dict[str, Spot]:
    names = [each for each in ast.walk(tree) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
    places = sorted(names, key=lambda each: (each.lineno, each.col_offset), reverse=True)
    return {each.id: spot_at(file, each) for each in places}


def _source_of(function: FunctionType) -> tuple[ast.FunctionDef, str]:
    file = function.__code__.co_filename
    try:
        # Of the code, because a decorator may say that the function is another one.
        lines, first = inspect.getsourcelines(function.__code__)
    except (OSError, TypeError):
        raise Mistake(
            "K006",
            f"the source of `{function.__name__}` cannot be read (it was made by exec, or typed where "
            f"Python keeps no source)",
            "write it into a file or a notebook's cell, or build the program with "
            "vyre.Program(buffers, workgroup_size, entry)",
        ) from None
    source = "".join(lines)
    try:
        # An indented function stands under an `if`, so that its columns stay.
        indented = source[:1] in " \t"
        tree = ast.parse("if 1:\n" + source if indented else source)
        found = tree.body[0].body[0] if indented else tree.body[0]  # type: ignore[attr-defined]
        ast.increment_lineno(tree, first - (2 if indented else 1))
    except (SyntaxError, IndexError, ValueError):
        found = None
    if not isinstance(found, ast.FunctionDef) or found.name != function.__code__.co_name:
        raise Mistake(
            "K006",
            f"`{function.__name__}` is no function that begins with `def`, or its file has changed "
            f"since it was imported",
            "write it as `def name(...):`, and import the file anew when it has changed",
        )
    return found, file


def _without_annotations(tree: ast.FunctionDef) -> None:
    tree.returns = None
    for each in [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs, tree.args.vararg, tree.args.kwarg]:
        if each is not None:
            each.annotation = None
    # The defaults are the original's, already evaluated; these only say how many there are.
    tree.args.defaults = [ast.copy_location(ast.Constant(None), each) for each in tree.args.defaults]
    tree.args.kw_defaults = [
        None if each is None else ast.copy_location(ast.Constant(None), each) for each in tree.args.kw_defaults
    ]


def _compiled(tree: ast.FunctionDef, file: str, free: tuple[str, ...]) -> CodeType:
    # Its own name is a global or a free name of the function, as in the original.
    name, tree.name = tree.name, "vyre$function"
    outer = ast.FunctionDef(
        name="vyre$outer",
        args=ast.arguments(
            posonlyargs=[],
            args=[ast.arg(name) for name in dict.fromkeys([_TRACER, _UNDEFINED, *free])],
            kwonlyargs=[],
            kw_defaults=[],
            defaults=[],
        ),
        body=[tree],
        decorator_list=[],
        returns=None,
    )
    module = ast.Module(body=[ast.copy_location(outer, tree)], type_ignores=[])
    ast.fix_missing_locations(module)
    code = compile(module, file, "exec", dont_inherit=True)
    inner = next(each for each in code.co_consts if isinstance(each, CodeType))
    made = next(each for each in inner.co_consts if isinstance(each, CodeType) and each.co_name == tree.name)
    return made.replace(co_name=name)


def _captured(tree: ast.FunctionDef, function: FunctionType) -> tuple[tuple[str, ...], ...]:
    local = set(function.__code__.co_varnames)
    found: dict[tuple[str, ...], None] = {}
    for statement in tree.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Attribute):
                chain: list[str] = []
                inner: ast.expr = node
                while isinstance(inner, ast.Attribute):
                    chain.append(inner.attr)
                    inner = inner.value
                if isinstance(inner, ast.Name) and inner.id not in local:
                    found[(inner.id, *reversed(chain))] = None
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in local:
                found[(node.id,)] = None
    return tuple(found)


def _last_name(node: ast.expr) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None


def _is_truth(node: ast.expr) -> bool:
    """Whether an expression gives 0 or 1 by its form."""
    if isinstance(node, ast.BoolOp):
        return all(map(_is_truth, node.values))
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    return isinstance(node, ast.Compare) or (isinstance(node, ast.Constant) and isinstance(node.value, bool))


def _stored(nodes: Iterable[ast.stmt]) -> dict[str, None]:
    """The variables that statements assign, in order, but for those of comprehensions and of loops over range."""
    found: dict[str, None] = {}

    def visit(node: ast.AST) -> None:
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] = None
        for name, child in ast.iter_fields(node):
            if name == "target" and isinstance(node, ast.For) and is_range(node.iter):
                continue
            for each in child if isinstance(child, list) else [child]:
                if isinstance(each, ast.AST):
                    visit(each)

    for node in nodes:
        visit(node)
    return found


class _Rewriter:
    def __init__(self, tree: ast.FunctionDef, is_kernel: bool) -> None:
        self._tree, self._is_kernel = tree, is_kernel
        arguments = tree.args
        self._parameters = [each.arg for each in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]]
        self._parameters += [each.arg for each in (arguments.vararg, arguments.kwarg) if each is not None]
        self._regions = 0
        self._loops: list[tuple[str, tuple[str, ...]]] = []  # the handle and the variables of each loop around
        self._defined: set[str] = set(self._parameters)
        self._loop_variables: set[str] = set()

    def rewrite(self) -> None:
        tree = self._tree
        self._merged = self._all_merged(tree.body)
        body = self._block(tree.body)
        start: list[ast.stmt] = []
        # The line of `def` alone: Python says of a call over several lines that it stands on the last one.
        at = ast.copy_location(ast.Pass(), tree)
        at.end_lineno, at.end_col_offset = tree.lineno, tree.col_offset + len("def")
        for name in self._merged:
            if name not in self._parameters:
                why = ast.Constant("is read before it is assigned")
                made = ast.Call(func=ast.Name(_UNDEFINED, ast.Load()), args=[ast.Constant(name), why], keywords=[])
                start.append(ast.Assign(targets=[ast.Name(name, ast.Store())], value=made))
        if not self._is_kernel:
            for name in self._parameters:
                start.append(
                    ast.Assign(
                        targets=[ast.Name(name, ast.Store())],
                        value=self._call("keep", at, ast.Constant(name), ast.Name(name, ast.Load())),
                    )
                )
        for each in start:
            ast.copy_location(each, at)
            ast.fix_missing_locations(each)
        tree.body = [*start, *body] or [ast.copy_location(ast.Pass(), tree)]

    def _all_merged(self, body: list[ast.stmt]) -> dict[str, None]:
        found: dict[str, None] = {}
        for statement in body:
            for node in ast.walk(statement):
                if isinstance(node, ast.If) and not isinstance(node, _NativeIf):
                    found.update(_stored([*node.body, *node.orelse]))
                elif isinstance(node, (ast.For, ast.While)):
                    found.update(_stored([node]))
        return found

    # Statements.

    def _block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in statements:
            if isinstance(statement, _NativeIf):
                made.append(statement)
                continue
            made.extend(getattr(self, f"_{type(statement).__name__}", self._other)(statement))
        return made

    def _other(self, statement: ast.stmt) -> list[ast.stmt]:
        raise Mistake(
            "K001", f"a kernel has a statement `{type(statement).__name__}`", "write it with if, for and while"
        )

    def _Pass(self, statement: ast.Pass) -> list[ast.stmt]:
        return [statement]

    def _Expr(self, statement: ast.Expr) -> list[ast.stmt]:
        value = statement.value
        if isinstance(value, ast.Call) and _last_name(value.func) == "debug":
            function = self._value(copy.deepcopy(value.func))
            return [self._do("statement", statement, function, _Expressions(self)._later(value))]
        statement.value = self._value(value)
        return [statement]

    def _Assert(self, statement: ast.Assert) -> list[ast.stmt]:
        arguments = [self._test(statement.test)] + ([] if statement.msg is None else [self._value(statement.msg)])
        return [self._do("assert_", statement, *arguments)]

    def _Return(self, statement: ast.Return) -> list[ast.stmt]:
        if self._is_kernel:
            return [self._do("return_", statement)]
        if statement.value is not None and not (isinstance(statement.value, ast.Name) and statement.value.id == RESULT):
            statement.value = self._value(statement.value)
        return [statement]

    def _Break(self, statement: ast.Break) -> list[ast.stmt]:
        _, names = self._loops[-1]
        return [self._do("break_", statement, self._tuple(names, statement))]

    def _Assign(self, statement: ast.Assign) -> list[ast.stmt]:
        named = not isinstance(statement.value, ast.BinOp)
        value = self._value(statement.value)
        if len(statement.targets) == 1:
            return self._store(statement.targets[0], value, statement, named)
        kept = self._temporary(statement)
        made: list[ast.stmt] = [self._set_name(kept, value, statement)]
        for target in statement.targets:
            made.extend(self._store(target, self._name(kept, statement), statement))
        return made

    def _AnnAssign(self, statement: ast.AnnAssign) -> list[ast.stmt]:
        if not isinstance(statement.target, ast.Name):
            raise Mistake("K001", "an element or attribute has an annotation", "leave the annotation out")
        if statement.value is None:
            return []
        name = statement.target.id
        value = self._value(statement.value)
        self._defined.add(name)
        return [
            self._set_name(
                name, self._call("typed", statement, ast.Constant(name), value, statement.annotation), statement
            )
        ]

    def _AugAssign(self, statement: ast.AugAssign) -> list[ast.stmt]:
        target = statement.target
        if isinstance(target, ast.Name):
            read = ast.copy_location(ast.Name(target.id, ast.Load()), target)
            operator = ast.Constant(type(statement.op).__name__)
            value = self._call("in_place", statement, operator, self._value(read), self._value(statement.value))
            return self._store(target, value, statement)
        assert isinstance(target, ast.Subscript)
        old = ast.copy_location(ast.Name("vyre$old", ast.Load()), target)
        change = ast.copy_location(
            ast.Lambda(
                args=ast.arguments(
                    posonlyargs=[], args=[ast.arg("vyre$old")], kwonlyargs=[], kw_defaults=[], defaults=[]
                ),
                body=ast.copy_location(
                    ast.BinOp(left=old, op=statement.op, right=self._value(statement.value)), statement
                ),
            ),
            statement,
        )
        return [self._do("augment", statement, self._value(target.value), self._value(target.slice), change)]

    def _store(self, target: ast.expr, value: ast.expr, at: ast.AST, named: bool = True) -> list[ast.stmt]:
        """``named``: the value may be one that has a name already, rather than one that is made here."""
        if isinstance(target, ast.Name):
            made = self._set_name(
                target.id, self._call("keep" if named else "let", at, ast.Constant(target.id), value), at
            )
            self._defined.add(target.id)
            return [made]
        if isinstance(target, ast.Subscript):
            # Python evaluates the value first.
            return [self._do("set", at, value, self._value(target.value), self._value(target.slice))]
        assert isinstance(target, (ast.Tuple, ast.List))
        names = [self._temporary(at) for _ in target.elts]
        unpacked = ast.Assign(
            targets=[ast.Tuple(elts=[ast.Name(name, ast.Store()) for name in names], ctx=ast.Store())], value=value
        )
        ast.copy_location(unpacked, at)
        ast.fix_missing_locations(unpacked)
        made_all: list[ast.stmt] = [unpacked]
        for each, name in zip(target.elts, names, strict=True):
            made_all.extend(self._store(each, self._name(name, at), at))
        return made_all

    def _If(self, statement: ast.If) -> list[ast.stmt]:
        names = tuple(_stored([*statement.body, *statement.orelse]))
        read = [node.id for node in ast.walk(statement.test) if isinstance(node, ast.Name)]
        # exits.py makes branches of its own.
        method = "if_left" if read and all(name.startswith("vyre$") for name in read) else "if_"
        test = self._test(statement.test)
        handle, branch = self._handles("if", "branch")
        before = set(self._defined)
        body = self._block(statement.body)
        after_body, self._defined = self._defined, set(before)
        otherwise = self._block(statement.orelse)
        # A branch that leaves defines what it likes; the Tracer knows better, so this only spares calls.
        self._defined = before | (after_body & self._defined)
        at = statement.test
        begin = self._set_name(handle, self._call(method, at, test, self._names(names), self._tuple(names, at)), at)
        end = self._assign_tuple(names, self._method(handle, "end", at, self._tuple(names, at)), at)
        inside = ast.If(test=self._name(branch, at), body=body or [ast.Pass()], orelse=otherwise)
        loop = ast.For(
            target=ast.Name(branch, ast.Store()),
            iter=self._name(handle, at),
            body=[inside, end],
            orelse=[],
            type_comment=None,
        )
        return [begin, self._placed(loop, at)]

    def _For(self, statement: ast.For) -> list[ast.stmt]:
        if not is_range(statement.iter):
            return self._unrolled(statement)
        assert isinstance(statement.target, ast.Name)
        assert isinstance(statement.iter, ast.Call)
        variable = statement.target.id
        names = tuple(name for name in _stored(statement.body) if name != variable)
        arguments = [self._value(each) for each in statement.iter.args]
        at = statement.iter
        (handle,) = self._handles("loop")
        function = self._value(statement.iter.func)
        begin = self._call(
            "range_", at, function, ast.Constant(variable), self._names(names), self._tuple(names, at), *arguments
        )
        before = set(self._defined)
        self._defined.add(variable)
        body = self._in_loop(handle, names, statement.body)
        self._defined = before
        self._check_after(statement)
        return self._looped(handle, begin, (variable, *names), names, body, at)

    def _While(self, statement: ast.While) -> list[ast.stmt]:
        names = tuple(_stored(statement.body))
        at = statement.test
        (handle,) = self._handles("loop")
        begin = self._call("while_", at, self._names(names), self._tuple(names, at))
        before = set(self._defined)
        test = self._do("test", at, self._name(handle, at), self._test(statement.test))
        body = [test, *self._in_loop(handle, names, statement.body)]
        self._defined = before
        return self._looped(handle, begin, ("vyre$turn", *names), names, body, at)

    def _in_loop(self, handle: str, names: tuple[str, ...], body: list[ast.stmt]) -> list[ast.stmt]:
        self._loops.append((handle, names))
        made = self._block(body)
        self._loops.pop()
        return made

    def _looped(
        self,
        handle: str,
        begin: ast.expr,
        inside: tuple[str, ...],
        names: tuple[str, ...],
        body: list[ast.stmt],
        at: ast.expr,
    ) -> list[ast.stmt]:
        end = ast.Expr(value=self._method(handle, "end", at, self._tuple(names, at)))
        target = ast.Tuple(elts=[ast.Name(name, ast.Store()) for name in inside], ctx=ast.Store())
        loop = ast.For(target=target, iter=self._name(handle, at), body=[*body, end], orelse=[], type_comment=None)
        made: list[ast.stmt] = [self._set_name(handle, begin, at), self._placed(loop, at)]
        made.append(self._assign_tuple(names, self._method(handle, "after", at), at))
        if inside[0] != "vyre$turn":
            gone = ast.Call(
                func=ast.Name(_UNDEFINED, ast.Load()),
                args=[ast.Constant(inside[0]), ast.Constant("is the variable of a loop that has ended")],
                keywords=[],
            )
            made.append(self._placed(ast.Assign(targets=[ast.Name(inside[0], ast.Store())], value=gone), at))
        return made

    def _check_after(self, statement: ast.For) -> None:
        assert isinstance(statement.target, ast.Name)
        self._defined.discard(statement.target.id)
        self._loop_variables.add(statement.target.id)

    def _unrolled(self, statement: ast.For) -> list[ast.stmt]:
        statement.iter = self._call("items", statement.iter, self._value(statement.iter))
        before = set(self._defined)
        stored = _stored([ast.copy_location(ast.Assign(targets=[statement.target], value=ast.Constant(0)), statement)])
        self._defined |= set(stored)
        rebound: list[ast.stmt] = []
        for name in stored:
            rebound.extend(
                self._store(ast.Name(name, ast.Store()), self._name(name, statement.target), statement.target)
            )
        statement.body = [*rebound, *self._block(statement.body)]
        self._defined = before
        return [statement]

    # Expressions.

    def _value(self, node: ast.expr) -> ast.expr:
        return _Expressions(self).visit(node)

    def _test(self, node: ast.expr) -> ast.expr:
        """An expression of which only the truth counts."""
        return _Expressions(self).truth(node)

    def maybe_undefined(self, name: str) -> bool:
        return (name in self._merged or name in self._loop_variables) and name not in self._defined

    # Pieces of syntax.

    def _handles(self, *kinds: str) -> list[str]:
        self._regions += 1
        return [f"vyre$h_{kind}{self._regions}" for kind in kinds]

    def _temporary(self, at: ast.AST) -> str:
        self._regions += 1
        return f"vyre$h_part{self._regions}"

    def _placed(self, node: Any, at: ast.AST) -> Any:
        """The node, at the place of another; what stands in it keeps the place that it has."""
        ast.copy_location(node, at)
        open_ = [node]
        while open_:
            for child in ast.iter_child_nodes(open_.pop()):
                if not hasattr(child, "lineno"):
                    if isinstance(child, (ast.expr, ast.stmt)):
                        ast.copy_location(child, at)
                    open_.append(child)
        return node

    def _name(self, name: str, at: ast.AST) -> ast.expr:
        return ast.copy_location(ast.Name(name, ast.Load()), at)

    def _names(self, names: tuple[str, ...]) -> ast.expr:
        return ast.Constant(names)

    def _tuple(self, names: tuple[str, ...], at: ast.AST) -> ast.expr:
        return self._placed(ast.Tuple(elts=[ast.Name(name, ast.Load()) for name in names], ctx=ast.Load()), at)

    def _assign_tuple(self, names: tuple[str, ...], value: ast.expr, at: ast.AST) -> ast.stmt:
        if not names:
            return self._placed(ast.Expr(value=value), at)
        target = ast.Tuple(elts=[ast.Name(name, ast.Store()) for name in names], ctx=ast.Store())
        return self._placed(ast.Assign(targets=[target], value=value), at)

    def _set_name(self, name: str, value: ast.expr, at: ast.AST) -> ast.stmt:
        return self._placed(ast.Assign(targets=[ast.Name(name, ast.Store())], value=value), at)

    def _call(self, method: str, at: ast.AST, *arguments: ast.expr) -> ast.expr:
        return self._placed(
            ast.Call(
                func=ast.Attribute(value=ast.Name(_TRACER, ast.Load()), attr=method, ctx=ast.Load()),
                args=list(arguments),
                keywords=[],
            ),
            at,
        )

    def _method(self, handle: str, method: str, at: ast.AST, *arguments: ast.expr) -> ast.expr:
        return self._placed(
            ast.Call(
                func=ast.Attribute(value=ast.Name(handle, ast.Load()), attr=method, ctx=ast.Load()),
                args=list(arguments),
                keywords=[],
            ),
            at,
        )

    def _do(self, method: str, at: ast.AST, *arguments: ast.expr) -> ast.stmt:
        return self._placed(ast.Expr(value=self._call(method, at, *arguments)), at)


class _Expressions(ast.NodeTransformer):
    def __init__(self, rewriter: _Rewriter) -> None:
        self._rewriter = rewriter

    def _call(self, method: str, at: ast.AST, *arguments: ast.expr) -> ast.expr:
        return self._rewriter._call(method, at, *arguments)

    def _later(self, node: ast.expr, is_test: bool = False) -> ast.expr:
        arguments = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        body = self.truth(node) if is_test else self.visit(node)
        return ast.copy_location(ast.Lambda(args=arguments, body=body), node)

    def truth(self, node: ast.expr) -> ast.expr:
        """An expression of which only the truth counts, so that `and` and `or` may give a truth."""
        return self._logical(node, is_test=True) if isinstance(node, ast.BoolOp) else self.visit(node)

    def _logical(self, node: ast.BoolOp, is_test: bool) -> ast.expr:
        method = "and_" if isinstance(node.op, ast.And) else "or_"
        if not (is_test or all(map(_is_truth, node.values))):
            method += "value"  # `a or b` is one of the two
            is_test = False
        first = self.truth(node.values[0]) if is_test else self.visit(node.values[0])
        return self._call(method, node, first, *(self._later(each, is_test) for each in node.values[1:]))

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and self._rewriter.maybe_undefined(node.id):
            return self._call("use", node, node)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        return self._logical(node, is_test=False)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Not):
            return self._call("not_", node, self.truth(node.operand))
        node.operand = self.visit(node.operand)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        return self._call("choose", node, self.truth(node.test), self._later(node.body), self._later(node.orelse))

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        if len(node.ops) == 1:
            return self._compare(node, self.visit(node.left), node.ops[0], self.visit(node.comparators[0]))
        # a < b < c: each operand is evaluated once, and those from the third on only where what stands before holds.
        first = self._rewriter._temporary(node)
        return self._bind(first, self.visit(node.left), self._chain(node, first, 0))

    def _chain(self, node: ast.Compare, left: str, k: int) -> ast.expr:
        right, op = self._rewriter._temporary(node), node.ops[k]
        names = self._rewriter._name(left, node), self._rewriter._name(right, node)
        pair = self._compare(ast.copy_location(ast.Compare(names[0], [op], [names[1]]), node), names[0], op, names[1])
        if k + 1 < len(node.ops):
            arguments = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
            rest = ast.copy_location(ast.Lambda(args=arguments, body=self._chain(node, right, k + 1)), node)
            pair = self._call("and_", node, pair, rest)
        return self._bind(right, self.visit(node.comparators[k]), pair)

    def _bind(self, name: str, value: ast.expr, body: ast.expr) -> ast.expr:
        """``body`` with ``name`` for a value."""
        arguments = ast.arguments(posonlyargs=[], args=[ast.arg(name)], kwonlyargs=[], kw_defaults=[], defaults=[])
        function = ast.copy_location(ast.Lambda(args=arguments, body=body), value)
        return self._rewriter._placed(ast.Call(func=function, args=[value], keywords=[]), value)

    def _compare(self, node: ast.Compare, left: ast.expr, op: ast.cmpop, right: ast.expr) -> ast.expr:
        if isinstance(op, (ast.In, ast.NotIn)):
            found = self._call("contains", node, left, right)
            return found if isinstance(op, ast.In) else self._call("not_", node, found)
        if isinstance(op, (ast.Is, ast.IsNot)):
            same = self._call("is_", node, left, right)
            return same if isinstance(op, ast.Is) else self._call("not_", node, same)
        return ast.copy_location(ast.Compare(left=left, ops=[op], comparators=[right]), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        return self._call("get", node, self.visit(node.value), self.visit(node.slice))

    def visit_List(self, node: ast.List) -> ast.expr:
        self.generic_visit(node)
        return node if isinstance(node.ctx, ast.Store) else self._call("new", node, node)

    def _comprehension(self, node: ast.expr) -> ast.expr:
        self.generic_visit(node)
        return self._call("new", node, node)

    visit_ListComp = _comprehension

    def _hashed(self, node: ast.expr) -> ast.expr:
        self.generic_visit(node)
        return self._call("hashed", node, node)

    visit_Dict = visit_DictComp = visit_Set = visit_SetComp = _hashed

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        node.target = self.visit(node.target)
        node.iter = self._call("items", node.iter, self.visit(node.iter))
        node.ifs = [self._call("known", each, self.truth(each)) for each in node.ifs]
        return node

    def visit_Slice(self, node: ast.Slice) -> ast.expr:
        parts = [
            ast.Constant(None) if each is None else self.visit(each) for each in (node.lower, node.upper, node.step)
        ]
        return self._call("slice_", node, *parts)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        arguments = [self.visit(each) for each in node.args]
        keywords = [ast.copy_location(ast.keyword(each.arg, self.visit(each.value)), each) for each in node.keywords]
        if isinstance(node.func, ast.Attribute):
            first = [self.visit(node.func.value), ast.Constant(node.func.attr)]
            made = self._call("method", node, *first, *arguments)
        else:
            made = self._call("call", node, self.visit(node.func), *arguments)
        made.keywords = keywords  # type: ignore[attr-defined]
        return made
