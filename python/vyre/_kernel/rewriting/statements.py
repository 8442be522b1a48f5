"""Statements of a kernel, rewritten into those that trace it.

An assignment passes its value through the Tracer, which makes a variable of the Program. A branch becomes a loop over a
handle of the Tracer: each turn traces one side, and gives back what its variables hold at its end. A loop that runs on
the device is one turn over such a handle, and a loop over a Python sequence stays as it is.
"""

from __future__ import annotations

import ast
import copy
from collections import deque

from vyre._kernel.mistakes import Mistake
from vyre._kernel.rewriting.exits import RESULT, _NativeIf
from vyre._kernel.rewriting.expressions import Expressions
from vyre._kernel.rewriting.refuse import is_range
from vyre._kernel.rewriting.syntax import (
    TRACER,
    LineMark,
    added,
    assign,
    assigned_names,
    called,
    constant_of,
    for_loop,
    is_added,
    lambda_of,
    name_at,
    place,
    target_of,
    targets_of,
    tuple_of,
    undefined,
)

__all__ = ["Rewriter"]

_OLD = added("old")  # the element that an augmented assignment changes
_TURN = added("turn")  # the number of the iteration of a `while`


def _last_name(node: ast.expr) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None


def _makes_array(value: ast.expr) -> bool:
    """Whether a value is a call of vyre.local or of copy, which write to the array, and so name it, at once."""
    function = value.func if isinstance(value, ast.Call) else None
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in ("local", "copy")


class Rewriter:
    def __init__(self, tree: ast.FunctionDef, is_kernel: bool) -> None:
        self._tree, self._is_kernel = tree, is_kernel
        arguments = tree.args
        self._parameters = [each.arg for each in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]]
        self._parameters += [each.arg for each in (arguments.vararg, arguments.kwarg) if each is not None]
        self._expressions = Expressions(self)
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
        at = place(ast.Pass(), tree)
        at.end_lineno, at.end_col_offset = tree.lineno, tree.col_offset + len("def")
        for name in self._merged:
            if name not in self._parameters:
                start.append(assign(name, undefined(name, "is read before it is assigned", at), at))
        if not self._is_kernel:
            for name in self._parameters:
                kept = called(TRACER, "keep", at, ast.Constant(name), name_at(name, at))
                start.append(assign(name, kept, at))
        tree.body = [*start, *body] or [place(ast.Pass(), tree)]

    def _all_merged(self, body: list[ast.stmt]) -> dict[str, None]:
        """The variables that are assigned in some branch or loop."""
        found: dict[str, None] = {}
        open_ = deque(body)
        while open_:
            node = open_.popleft()
            if isinstance(node, (ast.If, ast.For, ast.While)):
                open_.extend([*node.body, *node.orelse])
                if isinstance(node, ast.If) and not isinstance(node, _NativeIf):
                    found.update(assigned_names([*node.body, *node.orelse]))
                elif not isinstance(node, ast.If):
                    found.update(assigned_names([node]))
        return found

    # Statements.

    def _block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in statements:
            if isinstance(statement, (_NativeIf, LineMark)):
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
            return [self._do("statement", statement, function, self._expressions.later(value))]
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
        return [self._do("break_", statement, tuple_of(names, statement))]

    def _Assign(self, statement: ast.Assign) -> list[ast.stmt]:
        makes_array = _makes_array(statement.value)
        named = not isinstance(statement.value, ast.BinOp)
        value = self._value(statement.value)
        if len(statement.targets) == 1:
            return self._store(statement.targets[0], value, statement, named, makes_array)
        kept = self.temporary()
        made: list[ast.stmt] = [assign(kept, value, statement)]
        for target in statement.targets:
            made.extend(self._store(target, name_at(kept, statement), statement))
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
            assign(name, called(TRACER, "typed", statement, ast.Constant(name), value, statement.annotation), statement)
        ]

    def _AugAssign(self, statement: ast.AugAssign) -> list[ast.stmt]:
        target = statement.target
        if isinstance(target, ast.Name):
            read = place(ast.Name(target.id, ast.Load()), target)
            operator = ast.Constant(type(statement.op).__name__)
            value = called(TRACER, "in_place", statement, operator, self._value(read), self._value(statement.value))
            return self._store(target, value, statement)
        assert isinstance(target, ast.Subscript)
        changed = ast.BinOp(left=name_at(_OLD, target), op=statement.op, right=self._value(statement.value))
        change = lambda_of(place(changed, statement), statement, _OLD)
        return [self._do("augment", statement, self._value(target.value), self._value(target.slice), change)]

    def _store(
        self, target: ast.expr, value: ast.expr, at: ast.AST, named: bool = True, makes_array: bool = False
    ) -> list[ast.stmt]:
        """``named``: the value may be one that has a name already, rather than one that is made here."""
        if isinstance(target, ast.Name):
            given: ast.expr = ast.Constant(target.id)
            if makes_array:
                given = called(TRACER, "named", at, given)
            made = assign(target.id, called(TRACER, "keep" if named else "let", at, given, value), at)
            self._defined.add(target.id)
            return [made]
        if isinstance(target, ast.Subscript):
            # Python evaluates the value first.
            return [self._do("set", at, value, self._value(target.value), self._value(target.slice))]
        assert isinstance(target, (ast.Tuple, ast.List))
        names = [self.temporary() for _ in target.elts]
        unpacked = place(ast.Assign(targets=[targets_of(names, at)], value=value), at)
        made_all: list[ast.stmt] = [unpacked]
        for each, name in zip(target.elts, names, strict=True):
            made_all.extend(self._store(each, name_at(name, at), at))
        return made_all

    def _If(self, statement: ast.If) -> list[ast.stmt]:
        names = tuple(assigned_names([*statement.body, *statement.orelse]))
        read = [node.id for node in ast.walk(statement.test) if isinstance(node, ast.Name)]
        # exits.py makes branches of its own.
        method = "if_left" if read and all(is_added(name) for name in read) else "if_"
        test = self._test(statement.test)
        handle, branch = self.handles("if", "branch")
        before = set(self._defined)
        body = self._block(statement.body)
        after_body, self._defined = self._defined, set(before)
        otherwise = self._block(statement.orelse)
        # A branch that leaves defines what it likes; the Tracer knows better, so this only spares calls.
        self._defined = before | (after_body & self._defined)
        at = statement.test
        begin = assign(handle, called(TRACER, method, at, test, constant_of(names), tuple_of(names, at)), at)
        end = self._assign_tuple(names, called(handle, "end", at, tuple_of(names, at)), at)
        inside = ast.If(test=name_at(branch, at), body=body or [place(ast.Pass(), at)], orelse=otherwise)
        loop = for_loop(target_of(branch, at), name_at(handle, at), [place(inside, at), end], at)
        return [begin, loop]

    def _For(self, statement: ast.For) -> list[ast.stmt]:
        if not is_range(statement.iter):
            return self._unrolled(statement)
        assert isinstance(statement.target, ast.Name)
        assert isinstance(statement.iter, ast.Call)
        variable = statement.target.id
        names = tuple(name for name in assigned_names(statement.body) if name != variable)
        arguments = [self._value(each) for each in statement.iter.args]
        at = statement.iter
        (handle,) = self.handles("loop")
        function = self._value(statement.iter.func)
        begin = called(
            TRACER, "range_", at, function, ast.Constant(variable), constant_of(names), tuple_of(names, at), *arguments
        )
        before = set(self._defined)
        self._defined.add(variable)
        body = self._in_loop(handle, names, statement.body)
        self._defined = before
        self._check_after(statement)
        return self._looped(handle, begin, (variable, *names), names, body, at)

    def _While(self, statement: ast.While) -> list[ast.stmt]:
        names = tuple(assigned_names(statement.body))
        at = statement.test
        (handle,) = self.handles("loop")
        begin = called(TRACER, "while_", at, constant_of(names), tuple_of(names, at))
        before = set(self._defined)
        test = self._do("test", at, name_at(handle, at), self._test(statement.test))
        body = [test, *self._in_loop(handle, names, statement.body)]
        self._defined = before
        return self._looped(handle, begin, (_TURN, *names), names, body, at)

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
        end = place(ast.Expr(value=called(handle, "end", at, tuple_of(names, at))), at)
        loop = for_loop(targets_of(inside, at), name_at(handle, at), [*body, end], at)
        made: list[ast.stmt] = [assign(handle, begin, at), loop]
        made.append(self._assign_tuple(names, called(handle, "after", at), at))
        if inside[0] != _TURN:
            fix = (
                f"keep its value in another variable, `last = 0` before the loop and `last = {inside[0]}` at the "
                f"beginning of its body, or give the loop another one if `{inside[0]}` is meant as it was before"
            )
            gone = undefined(inside[0], "is the variable of a loop that has ended", at, fix)
            made.append(assign(inside[0], gone, at))
        return made

    def _check_after(self, statement: ast.For) -> None:
        assert isinstance(statement.target, ast.Name)
        self._defined.discard(statement.target.id)
        self._loop_variables.add(statement.target.id)

    def _unrolled(self, statement: ast.For) -> list[ast.stmt]:
        statement.iter = called(TRACER, "items", statement.iter, self._value(statement.iter))
        before = set(self._defined)
        stored = assigned_names([place(ast.Assign(targets=[statement.target], value=ast.Constant(0)), statement)])
        self._defined |= set(stored)
        rebound: list[ast.stmt] = []
        for name in stored:
            rebound.extend(
                self._store(target_of(name, statement.target), name_at(name, statement.target), statement.target)
            )
        statement.body = [*rebound, *self._block(statement.body)]
        self._defined = before
        return [statement]

    # Expressions.

    def _value(self, node: ast.expr) -> ast.expr:
        made: ast.expr = self._expressions.visit(node)
        return made

    def _test(self, node: ast.expr) -> ast.expr:
        """An expression of which only the truth counts."""
        return self._expressions.truth(node)

    def maybe_undefined(self, name: str) -> bool:
        return (name in self._merged or name in self._loop_variables) and name not in self._defined

    def handles(self, *kinds: str) -> list[str]:
        self._regions += 1
        return [added(f"h_{kind}{self._regions}") for kind in kinds]

    def temporary(self) -> str:
        self._regions += 1
        return added(f"h_part{self._regions}")

    def _assign_tuple(self, names: tuple[str, ...], value: ast.expr, at: ast.AST) -> ast.stmt:
        if not names:
            return place(ast.Expr(value=value), at)
        return place(ast.Assign(targets=[targets_of(names, at)], value=value), at)

    def _do(self, method: str, at: ast.AST, *arguments: ast.expr) -> ast.stmt:
        return place(ast.Expr(value=called(TRACER, method, at, *arguments)), at)
