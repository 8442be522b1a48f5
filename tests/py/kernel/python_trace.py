"""What Python itself assigns when it runs a kernel's source on integers: an independent answer for vyre.trace."""

from __future__ import annotations

import ast
import types


class _Watched(ast.NodeTransformer):
    """Calls `seen(line, name, value)` after each assignment, and at the start of each turn and of each helper."""

    def _told(self, line: int, name: ast.expr, value: ast.expr) -> ast.stmt:
        call = ast.Call(ast.Name("seen", ast.Load()), [ast.Constant(line), name, value], [])
        return ast.Expr(call)

    def _target(self, line: int, target: ast.expr) -> list[ast.stmt]:
        if isinstance(target, ast.Tuple):
            return [each for part in target.elts for each in self._target(line, part)]
        if isinstance(target, ast.Name):
            return [self._told(line, ast.Constant(target.id), ast.Name(target.id, ast.Load()))]
        assert isinstance(target, ast.Subscript)
        text = ast.unparse(target.value)
        name = ast.JoinedStr([ast.Constant(f"{text}["), ast.FormattedValue(target.slice, -1, None), ast.Constant("]")])
        return [self._told(line, name, ast.Subscript(target.value, target.slice, ast.Load()))]

    def visit_Assign(self, node):
        return [node, *(each for target in node.targets for each in self._target(node.lineno, target))]

    def visit_AugAssign(self, node):
        return [node, *self._target(node.lineno, node.target)]

    def visit_For(self, node):
        self.generic_visit(node)
        node.body = [*self._target(node.lineno, node.target), *node.body]
        return node

    def _test(self, node, kind):
        self.generic_visit(node)
        arguments = [ast.Constant(node.test.lineno), ast.Constant(kind), node.test]
        node.test = ast.Call(ast.Name("decided", ast.Load()), arguments, [])
        return node

    def visit_If(self, node):
        return self._test(node, "if")

    def visit_While(self, node):
        return self._test(node, "while")

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        if node.name != "k":
            told = [
                self._told(node.lineno, ast.Constant(each.arg), ast.Name(each.arg, ast.Load()))
                for each in node.args.args
            ]
            node.body = [*told, *node.body]
        return node


def assignments(text: str, arguments: list[object], invocation: int) -> list[tuple[int, str, object]]:
    """(line, name, value) of each assignment and condition of one invocation, after those before it have run."""
    tree = ast.fix_missing_locations(_Watched().visit(ast.parse(text)))
    found: list[tuple[int, str, object]] = []

    def seen(line: int, name: str, value: object) -> None:
        if isinstance(value, list):
            found.extend((line, f"{name}[{k}]", int(each)) for k, each in enumerate(value))
        else:
            found.append((line, name, int(value)))

    def decided(line: int, name: str, value: object) -> object:
        found.append((line, name, bool(value)))
        return value

    names: dict[str, object] = {"__name__": "watched", "seen": seen, "decided": decided}
    exec(compile(tree, "<watched>", "exec"), names)
    names["vyre"] = types.SimpleNamespace(gid=lambda axis: invocation, unroll=list)
    found.clear()  # of what stands outside of functions
    names["k"](*arguments)  # type: ignore[operator]
    return found
