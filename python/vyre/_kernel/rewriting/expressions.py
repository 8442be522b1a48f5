"""Expressions of a kernel, rewritten into those that trace it.

Operators stay, because the values of a kernel have them. What Python would decide by a number that is unknown while the
kernel is traced (`and`, `or`, `not`, a conditional expression, an index, a call) becomes a call of the Tracer. A part
that Python would not always evaluate is given to it as a function without arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from vyre._kernel.rewriting.syntax import TRACER, called, lambda_of, name_at, place

if TYPE_CHECKING:
    from vyre._kernel.rewriting.statements import Rewriter

__all__ = ["Expressions"]


def _is_truth(node: ast.expr) -> bool:
    """Whether an expression gives 0 or 1 by its form."""
    if isinstance(node, ast.BoolOp):
        return all(map(_is_truth, node.values))
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    return isinstance(node, ast.Compare) or (isinstance(node, ast.Constant) and isinstance(node.value, bool))


class Expressions:
    def __init__(self, rewriter: Rewriter) -> None:
        self._rewriter = rewriter

    def visit(self, node: Any) -> Any:
        """The rewritten expression."""
        visit = _VISITS.get(type(node))
        return self._parts(node) if visit is None else visit(self, node)

    def _parts(self, node: Any) -> Any:
        """An expression that stays what it is, with its parts rewritten."""
        for name in node._fields:
            value = getattr(node, name, None)
            if type(value) is list:
                value[:] = [self.visit(each) if isinstance(each, ast.AST) else each for each in value]
            elif isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
        return node

    def _same(self, node: Any) -> Any:
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        node.left, node.right = self.visit(node.left), self.visit(node.right)
        return node

    def later(self, node: ast.expr, is_test: bool = False) -> ast.expr:
        """A function that gives the expression's value, for the Tracer to call under a condition."""
        return lambda_of(self.truth(node) if is_test else self.visit(node), node)

    def truth(self, node: ast.expr) -> ast.expr:
        """An expression of which only the truth counts, so that `and` and `or` may give a truth."""
        return self._logical(node, is_test=True) if isinstance(node, ast.BoolOp) else self.visit(node)

    def _logical(self, node: ast.BoolOp, is_test: bool) -> ast.expr:
        method = "and_" if isinstance(node.op, ast.And) else "or_"
        if not (is_test or all(map(_is_truth, node.values))):
            method += "value"  # `a or b` is one of the two
            is_test = False
        first = self.truth(node.values[0]) if is_test else self.visit(node.values[0])
        return called(TRACER, method, node, first, *(self.later(each, is_test) for each in node.values[1:]))

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and self._rewriter.maybe_undefined(node.id):
            return called(TRACER, "use", node, node)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        return self._logical(node, is_test=False)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Not):
            return called(TRACER, "not_", node, self.truth(node.operand))
        node.operand = self.visit(node.operand)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        return called(TRACER, "choose", node, self.truth(node.test), self.later(node.body), self.later(node.orelse))

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        if len(node.ops) == 1:
            return self._compare(node, self.visit(node.left), node.ops[0], self.visit(node.comparators[0]))
        # a < b < c: each operand is evaluated once, and those from the third on only where what stands before holds.
        first = self._rewriter.temporary()
        return self._bind(first, self.visit(node.left), self._chain(node, first, 0))

    def _chain(self, node: ast.Compare, left: str, k: int) -> ast.expr:
        right, op = self._rewriter.temporary(), node.ops[k]
        names = name_at(left, node), name_at(right, node)
        pair = self._compare(place(ast.Compare(names[0], [op], [names[1]]), node), names[0], op, names[1])
        if k + 1 < len(node.ops):
            pair = called(TRACER, "and_", node, pair, lambda_of(self._chain(node, right, k + 1), node))
        return self._bind(right, self.visit(node.comparators[k]), pair)

    def _bind(self, name: str, value: ast.expr, body: ast.expr) -> ast.expr:
        """``body`` with ``name`` for a value."""
        return place(ast.Call(func=lambda_of(body, value, name), args=[value], keywords=[]), value)

    def _compare(self, node: ast.Compare, left: ast.expr, op: ast.cmpop, right: ast.expr) -> ast.expr:
        if isinstance(op, (ast.In, ast.NotIn)):
            found = called(TRACER, "contains", node, left, right)
            return found if isinstance(op, ast.In) else called(TRACER, "not_", node, found)
        if isinstance(op, (ast.Is, ast.IsNot)):
            same = called(TRACER, "is_", node, left, right)
            return same if isinstance(op, ast.Is) else called(TRACER, "not_", node, same)
        return place(ast.Compare(left=left, ops=[op], comparators=[right]), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        return called(TRACER, "get", node, self.visit(node.value), self.visit(node.slice))

    def visit_List(self, node: ast.List) -> ast.expr:
        self._parts(node)
        return node if isinstance(node.ctx, ast.Store) else called(TRACER, "new", node, node)

    def _comprehension(self, node: ast.expr) -> ast.expr:
        self._parts(node)
        return called(TRACER, "new", node, node)

    visit_ListComp = _comprehension

    def _hashed(self, node: ast.expr) -> ast.expr:
        self._parts(node)
        return called(TRACER, "hashed", node, node)

    visit_Dict = visit_DictComp = visit_Set = visit_SetComp = _hashed

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        node.target = self.visit(node.target)
        node.iter = called(TRACER, "items", node.iter, self.visit(node.iter))
        node.ifs = [called(TRACER, "known", each, self.truth(each)) for each in node.ifs]
        return node

    def visit_Slice(self, node: ast.Slice) -> ast.expr:
        bounds = (node.lower, node.upper, node.step)
        parts = [ast.Constant(None) if each is None else self.visit(each) for each in bounds]
        return called(TRACER, "slice_", node, *parts)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        arguments = [self.visit(each) for each in node.args]
        keywords = [place(ast.keyword(each.arg, self.visit(each.value)), each) for each in node.keywords]
        if isinstance(node.func, ast.Attribute):
            first = [self.visit(node.func.value), ast.Constant(node.func.attr)]
            made = called(TRACER, "method", node, *first, *arguments)
        else:
            made = called(TRACER, "call", node, self.visit(node.func), *arguments)
        made.keywords = keywords  # type: ignore[attr-defined]
        return made


_VISITS: dict[type[ast.AST], Callable[[Expressions, Any], Any]] = {
    **{
        getattr(ast, name.removeprefix("visit_")): method
        for name, method in vars(Expressions).items()
        if name.startswith("visit_")
    },
    **dict.fromkeys([ast.Constant, ast.Load, ast.Store], Expressions._same),
}
