"""``continue``, ``return`` of helpers and ``break`` of unrolled loops, as branches: the IR has neither.

A statement that leaves becomes assignments, and what follows it in the source moves into the branch that does not
leave. Where some
paths of a branch leave and others do not, a variable says which, and what follows stands under an `if` of that
variable.
``break`` of a loop that runs on the device and ``return`` of a kernel stay: the IR has them.
"""

from __future__ import annotations

import ast

from vyre._kernel.rewriting.refuse import is_range
from vyre._kernel.rewriting.syntax import added, is_added, place

__all__ = ["RESULT", "leave_by_branches"]

RESULT = added("result")
_RETURNED = added("returned")


class _NativeIf(ast.If):
    """An `if` of Python's own."""


def leave_by_branches(function: ast.FunctionDef, is_kernel: bool) -> None:
    """Rewrite the function's body in place. A helper's result is then in RESULT, which its last statement returns."""
    exits = _Exits(is_kernel)
    body = function.body
    if not is_kernel:
        last = body[-1]
        simple = isinstance(last, ast.Return) and not any(
            isinstance(n, ast.Return) for s in body[:-1] for n in ast.walk(s)
        )
        if simple or not any(isinstance(n, ast.Return) for s in body for n in ast.walk(s)):
            function.body = exits.block(body[:-1] if simple else body, None)[0]
            if simple:
                function.body.append(last)
            return
        if not _always_leaves(body):
            body = [*body, place(ast.Return(value=None), last)]
    made, _ = exits.block(body, None)
    if not is_kernel:
        start = [_assign(_RETURNED, ast.Constant(False), body[0])]
        made = [*start, *made, place(ast.Return(value=place(ast.Name(RESULT, ast.Load()), body[-1])), body[-1])]
    function.body = exits.without_unread(made)


class _Loop:
    def __init__(self, is_unrolled: bool, number: int) -> None:
        self.is_unrolled = is_unrolled
        self.skips, self.broke = added(f"skips{number}"), added(f"broke{number}")


class _Exits:
    def __init__(self, is_kernel: bool) -> None:
        self._is_kernel = is_kernel
        self._loops = 0
        self._read: set[str] = set()

    def block(self, statements: list[ast.stmt], loop: _Loop | None) -> tuple[list[ast.stmt], set[str]]:
        """The statements, and the variables that say which of their paths have left."""
        made: list[ast.stmt] = []
        for k, statement in enumerate(statements):
            rest = statements[k + 1 :]
            if isinstance(statement, (ast.Continue, ast.Break, ast.Return)):
                more, flags = self._leave(statement, loop)
                return [*made, *more], flags
            if isinstance(statement, ast.If):
                body, orelse, absorbs_rest = statement.body, statement.orelse, False
                then_may, else_may = self._may_leave(body, loop), self._may_leave(orelse, loop)
                if then_may and not else_may and _always_leaves(body):
                    orelse, absorbs_rest = [*orelse, *rest], True
                elif else_may and not then_may and _always_leaves(orelse):
                    body, absorbs_rest = [*body, *rest], True
                then, then_flags = self.block(body, loop)
                otherwise, else_flags = self.block(orelse, loop)
                flags = then_flags | else_flags
                made.append(_if(statement, then, otherwise))
                if absorbs_rest or (flags and _always_leaves([statement])):
                    return made, flags
                if flags and rest:
                    more, more_flags = self.block(rest, loop)
                    return [*made, self._unless(flags, more, rest[0])], flags | more_flags
                if flags:
                    return made, flags
                continue
            if isinstance(statement, (ast.For, ast.While)):
                more, flags = self._loop(statement)
                made.extend(more)
                if flags and rest:
                    after, after_flags = self.block(rest, loop)
                    if loop is not None:  # the loop around it ends too
                        return self._through(made, flags, after, after_flags, loop, statement)
                    return [*made, self._unless(flags, after, rest[0])], flags | after_flags
                if flags and loop is not None:
                    return self._through(made, flags, [], set(), loop, statement)
                if flags:
                    return made, flags
                continue
            made.append(statement)
        return made, set()

    def _may_leave(self, statements: list[ast.stmt], loop: _Loop | None) -> bool:
        """Whether some path of the statements leaves in a way that becomes branches."""
        open_: list[tuple[ast.AST, bool]] = [(each, True) for each in statements]
        while open_:
            node, here = open_.pop()
            if isinstance(node, ast.Return) and not self._is_kernel:
                return True
            if here and (
                isinstance(node, ast.Continue)
                or (isinstance(node, ast.Break) and loop is not None and loop.is_unrolled)
            ):
                return True
            if isinstance(node, ast.stmt):
                inside = here and not isinstance(node, (ast.For, ast.While))
                open_.extend((child, inside) for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt))
        return False

    def _through(
        self,
        made: list[ast.stmt],
        flags: set[str],
        after: list[ast.stmt],
        after_flags: set[str],
        loop: _Loop,
        at: ast.stmt,
    ) -> tuple[list[ast.stmt], set[str]]:
        """A helper's return in an inner loop leaves the loop around it too."""
        self._read.add(_RETURNED)
        leave, leave_flags = self._leave(place(ast.Break(), at), loop)
        test = place(ast.Name(_RETURNED, ast.Load()), at)
        return [*made, place(ast.If(test=test, body=leave, orelse=after), at)], flags | after_flags | leave_flags

    def _leave(self, statement: ast.stmt, loop: _Loop | None) -> tuple[list[ast.stmt], set[str]]:
        if isinstance(statement, ast.Return):
            if self._is_kernel:
                return [statement], set()
            value = statement.value or place(ast.Constant(None), statement)
            made: list[ast.stmt] = [
                _assign(RESULT, value, statement),
                _assign(_RETURNED, ast.Constant(True), statement),
            ]
            flags = {_RETURNED}
            if loop is not None:
                more, more_flags = self._leave(place(ast.Break(), statement), loop)
                made, flags = [*made, *more], flags | more_flags
            return made, flags
        assert loop is not None
        if isinstance(statement, ast.Continue):
            return [_assign(loop.skips, ast.Constant(True), statement)], {loop.skips}
        if loop.is_unrolled:
            return [_assign(loop.broke, ast.Constant(True), statement)], {loop.broke}
        return [statement], set()

    def _loop(self, statement: ast.For | ast.While) -> tuple[list[ast.stmt], set[str]]:
        self._loops += 1
        number = self._loops
        unrolled = isinstance(statement, ast.For) and not is_range(statement.iter)
        loop = _Loop(unrolled, number)
        body, flags = self.block(statement.body, loop)
        leaves = _RETURNED in flags or (
            not self._is_kernel and any(isinstance(n, ast.Return) for s in statement.body for n in ast.walk(s))
        )
        if loop.skips in flags:
            body = [_assign(loop.skips, ast.Constant(False), statement), *body]
        before: list[ast.stmt] = []
        if loop.broke in flags:
            self._read.add(loop.broke)
            before = [_assign(loop.broke, ast.Constant(False), statement)]
            known = place(
                ast.Compare(
                    left=_name(loop.broke, statement),
                    ops=[ast.Is()],
                    comparators=[place(ast.Constant(True), statement)],
                ),
                statement,
            )
            stop = place(_NativeIf(test=known, body=[place(ast.Break(), statement)], orelse=[]), statement)
            assert isinstance(statement, ast.For)
            # The loop's variable keeps its value from the turn that was left.
            item = added(f"item{number}")
            assign = place(
                ast.Assign(targets=[statement.target], value=_name(item, statement.target)), statement.target
            )
            statement.target = place(ast.Name(item, ast.Store()), statement.target)
            body = [self._unless({loop.broke}, [assign, *body], statement), stop]
        statement.body = body
        return [*before, statement], {_RETURNED} if leaves else set()

    def _unless(self, flags: set[str], body: list[ast.stmt], at: ast.stmt) -> ast.stmt:
        self._read |= flags
        names: list[ast.expr] = [_name(flag, at) for flag in sorted(flags)]
        test = names[0] if len(names) == 1 else place(ast.BoolOp(op=ast.Or(), values=names), at)
        return place(ast.If(test=place(ast.UnaryOp(op=ast.Not(), operand=test), at), body=body, orelse=[]), at)

    def without_unread(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Without assignments to variables that nothing reads."""
        kept = []
        for statement in statements:
            for part in ("body", "orelse"):
                inner = getattr(statement, part, None)
                if isinstance(inner, list):
                    setattr(
                        statement,
                        part,
                        self.without_unread(inner) or ([place(ast.Pass(), statement)] if part == "body" else []),
                    )
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                name = statement.targets[0].id
                if is_added(name) and name != RESULT and name not in self._read:
                    continue
            kept.append(statement)
        return kept


def _always_leaves(statements: list[ast.stmt]) -> bool:
    if not statements:
        return False
    last = statements[-1]
    if any(isinstance(each, (ast.Continue, ast.Break, ast.Return)) for each in statements):
        return True
    if isinstance(last, ast.While):  # `while True` without a break
        return isinstance(last.test, ast.Constant) and last.test.value is True and not _breaks(last.body)
    return isinstance(last, ast.If) and _always_leaves(last.body) and _always_leaves(last.orelse)


def _breaks(statements: list[ast.stmt]) -> bool:
    """Whether some path of a loop's body leaves that loop by `break`."""
    for each in statements:
        if isinstance(each, ast.Break):
            return True
        if isinstance(each, ast.If) and (_breaks(each.body) or _breaks(each.orelse)):
            return True
    return False


def _if(old: ast.If, then: list[ast.stmt], otherwise: list[ast.stmt]) -> ast.If:
    return place(ast.If(test=old.test, body=then or [place(ast.Pass(), old)], orelse=otherwise), old)


def _name(name: str, at: ast.AST) -> ast.Name:
    return place(ast.Name(name, ast.Load()), at)


def _assign(name: str, value: ast.expr, at: ast.AST) -> ast.stmt:
    return place(
        ast.Assign(
            targets=[place(ast.Name(name, ast.Store()), at)],
            value=place(value, at) if not hasattr(value, "lineno") else value,
        ),
        at,
    )
