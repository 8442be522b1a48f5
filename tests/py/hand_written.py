"""Random programs with calls, and the same programs with every call written out by hand.

A program is kept as trees of `Term`, so that what a call means (docs/semantics.md, Calls) can be done to it
here, independent of the library's inlining: `Bound` binds each argument and each effect in evaluation order,
`Substituted` puts a body in place of the call.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from vyre import BufferDecl, DataType, Expr, Node, OpSignature, OpSpec, Program, ops

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

U32 = DataType.U32
EFFECTS = ("atomic", "read")  # both see what other statements do to memory
OPERATORS = {
    **{"+": Expr.add, "-": Expr.sub, "*": Expr.mul, "//": Expr.div, "min": Expr.min, "==": Expr.eq},
    **{"&": Expr.bitand, "|": Expr.bitor, "^": Expr.bitxor, "<<": Expr.shl, "select": Expr.select},
}
CHOSEN = ["+", "-", "*", "&", "|", "^", "<<", "//", "min", "=="]  # the order decides what a seed gives


@dataclass(eq=False)
class Term:
    """One expression; the same object in two places is one node of the program."""

    kind: str  # literal, variable, grid, input, read, atomic, select, call, or an operator
    operands: tuple[Term, ...] = ()
    value: int = 0
    name: str = ""


@dataclass
class Statement:
    kind: str  # let, assign, store, if, loop
    name: str = ""
    terms: tuple[Term, ...] = ()
    body: list[Statement] = field(default_factory=list)
    otherwise: list[Statement] = field(default_factory=list)


@dataclass
class Operation:
    id: str
    parameters: list[str]
    body: list[Statement]
    result: Term


def literal(value: int) -> Term:
    return Term("literal", value=value)


def variable(name: str) -> Term:
    return Term("variable", name=name)


class Expressions:
    """Makes vyre's nodes, one for each Term."""

    def __init__(self) -> None:
        self.made: dict[int, tuple[Term, Expr]] = {}

    def __call__(self, term: Term) -> Expr:
        if id(term) not in self.made:
            self.made[id(term)] = (term, self.make(term, [self(operand) for operand in term.operands]))
        return self.made[id(term)][1]

    @staticmethod
    def make(term: Term, operands: list[Expr]) -> Expr:
        match term.kind:
            case "literal":
                return Expr.u32(term.value)
            case "variable":
                return Expr.var(term.name)
            case "grid":
                return Expr.gid_x()
            case "input" | "read":
                return Expr.load(term.name, operands[0])
            case "atomic":
                return Expr.atomic_add(term.name, operands[0], operands[1])
            case "call":
                return Expr.call(term.name, operands)
        return OPERATORS[term.kind](*operands)

    def nodes(self, statements: list[Statement]) -> list[Node]:
        return [self.node(statement) for statement in statements]

    def node(self, statement: Statement) -> Node:
        values = [self(term) for term in statement.terms]
        if statement.kind == "if":
            return Node.if_(values[0], self.nodes(statement.body), self.nodes(statement.otherwise))
        inner = [self.nodes(statement.body)] if statement.kind == "loop" else []
        return getattr(Node, statement.kind)(statement.name, *values, *inner)


def program(statements: list[Statement]) -> Program:
    return Program(
        [
            BufferDecl.read("in", 0, U32),
            BufferDecl.read_write("memory", 1, U32),
            BufferDecl.read_write("count", 2, U32),
            BufferDecl.read_write("out", 3, U32),
        ],
        (1, 1, 1),
        Expressions().nodes(statements),
    )


class Maker:
    """Random terms and statements over what is in scope."""

    def __init__(self, rng: np.random.Generator, operations: list[Operation]) -> None:
        self.rng = rng
        self.operations = operations
        self.names = itertools.count()

    def pick(self, choices: list) -> object:
        return choices[int(self.rng.integers(len(choices)))]

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def term(self, pool: list[Term], depth: int, leaf: Callable[[], Term]) -> Term:
        """Joins the pool, from which it is taken again for a shared node."""
        if depth == 0 or self.chance(0.2):
            return self.pick(pool) if pool and self.chance(0.7) else leaf()
        if self.operations and self.chance(0.3):
            operation = self.pick(self.operations)
            arguments = tuple(self.term(pool, depth - 1, leaf) for _ in operation.parameters)
            made = Term("call", arguments, name=operation.id)
        elif self.chance(0.1):
            made = Term("select", tuple(self.term(pool, depth - 1, leaf) for _ in range(3)))
        else:
            made = Term(self.pick(CHOSEN), tuple(self.term(pool, depth - 1, leaf) for _ in range(2)))
        pool.append(made)
        return made

    def operation(self, id: str) -> Operation:
        parameters = [f"p{k}" for k in range(int(self.rng.integers(1, 4)))]
        scope = [variable(name) for name in parameters]
        number = lambda: literal(int(self.rng.integers(6)))  # noqa: E731
        body: list[Statement] = []
        shape = self.pick(["expression", "expression", "lets", "assigned", "branch", "loop"])
        if shape == "lets":
            for name in ("s", "t"):
                body.append(Statement("let", name, (self.term([*scope], 2, number),)))
                scope = [*scope, variable(name)]
        elif shape == "assigned":
            # A parameter may be assigned: it is a copy.
            target = self.pick([*parameters, "s"])
            if target == "s":
                body.append(Statement("let", "s", (self.term([*scope], 1, number),)))
            body.append(Statement("assign", target, (self.term([*scope], 2, number),)))
            scope = [*scope, variable(target)]
        elif shape == "branch":
            body.append(Statement("let", "s", (self.term([*scope], 1, number),)))
            condition = self.term([*scope], 1, number)
            arms = [[Statement("assign", "s", (self.term([*scope], 2, number),))] for _ in range(2)]
            body.append(Statement("if", "", (condition,), arms[0], arms[1] if self.chance(0.5) else []))
            scope = [*scope, variable("s")]
        elif shape == "loop":
            body.append(Statement("let", "s", (self.term([*scope], 1, number),)))
            inner = [*scope, variable("k"), variable("s")]
            step = Statement("assign", "s", (self.term(inner, 2, number),))
            body.append(Statement("loop", "k", (literal(0), literal(3)), [step]))
            scope = [*scope, variable("s")]
        return Operation(id, parameters, body, self.term([*scope], 3, number))

    def statements(self) -> list[Statement]:
        def leaf() -> Term:
            match int(self.rng.integers(9)):
                case 0 | 1:
                    index, amount = (literal(int(self.rng.integers(5))) for _ in range(2))
                    return Term("atomic", (index, amount), name="count")
                case 2 | 3:
                    return Term("read", (literal(int(self.rng.integers(5))),), name=self.pick(["memory", "count"]))
                case 4 | 5:
                    return Term("input", (literal(int(self.rng.integers(5))),), name="in")
                case 6:
                    return Term("grid")
                case 7:
                    return variable("changing")
            return literal(int(self.rng.integers(6)))

        made = [Statement("let", "changing", (leaf_value(self.rng),))]
        for _ in range(int(self.rng.integers(1, 4))):
            pool: list[Term] = []
            value = lambda depth: self.term(pool, depth, leaf)  # noqa: E731, B023
            call = lambda: self.call(pool, leaf)  # noqa: E731, B023
            match int(self.rng.integers(6)):
                case 0:
                    name = f"x{next(self.names)}"
                    made.append(Statement("let", name, (call(),)))
                    made.append(Statement("store", "out", (literal(next(self.names) % 8), variable(name))))
                case 1:
                    made.append(Statement("assign", "changing", (call(),)))
                case 2:
                    inner = Statement("store", "out", (value(1), literal(5)))
                    made.append(Statement("if", "", (Term("&", (call(), literal(1))),), [inner]))
                case 3:
                    inner = Statement("assign", "changing", (Term("+", (variable("changing"), variable("turn"))),))
                    last = Term("&", (call(), literal(3)))
                    made.append(Statement("loop", "turn", (Term("&", (value(1), literal(1))), last), [inner]))
                    made[-1].name = f"turn{next(self.names)}"
                    inner.terms[0].operands[1].name = made[-1].name
                case _:
                    where = self.pick(["out", "memory"])
                    made.append(Statement("store", where, (Term("&", (value(2), literal(7))), call())))
        made.append(Statement("store", "out", (literal(7), variable("changing"))))
        return made

    def call(self, pool: list[Term], leaf: Callable[[], Term]) -> Term:
        operation = self.pick(self.operations)
        made = Term("call", tuple(self.term(pool, 2, leaf) for _ in operation.parameters), name=operation.id)
        return made if self.chance(0.4) else Term(self.pick(CHOSEN), (self.term(pool, 2, leaf), made))


def leaf_value(rng: np.random.Generator) -> Term:
    return Term("input", (literal(int(rng.integers(5))),), name="in")


def shared(terms: tuple[Term, ...]) -> set[int]:
    """The nodes with operands that several nodes of a statement use."""
    uses: dict[int, int] = {}
    seen: set[int] = set()

    def walk(term: Term) -> None:
        uses[id(term)] = uses.get(id(term), 0) + bool(term.operands)
        if id(term) not in seen:
            seen.add(id(term))
            for operand in term.operands:
                walk(operand)

    for term in terms:
        walk(term)
    return {node for node, count in uses.items() if count > 1}


class Bound:
    """Every call written out: `let` for each argument, effect and shared node, then the body's statements.

    A shared node is bound because a statement evaluates it once, and here several statements take the place of one.
    """

    def __init__(self, operations: dict[str, Operation]) -> None:
        self.operations = operations
        self.numbers = itertools.count()
        self.shared: set[int] = set()

    def statements(self, source: list[Statement], names: dict[str, Term]) -> list[Statement]:
        made: list[Statement] = []
        for statement in source:
            done: dict[int, Term] = {}
            self.shared |= shared(statement.terms)
            terms = tuple(self.term(term, names, done, made) for term in statement.terms)
            if statement.kind in ("let", "loop") and statement.name in names:
                names = {**names, statement.name: variable(names[statement.name].name)}
            name = names[statement.name].name if statement.name in names else statement.name
            body, otherwise = self.statements(statement.body, names), self.statements(statement.otherwise, names)
            made.append(replace(statement, name=name, terms=terms, body=body, otherwise=otherwise))
        return made

    def term(self, term: Term, names: dict[str, Term], done: dict[int, Term], front: list[Statement]) -> Term:
        if id(term) in done:
            return done[id(term)]
        operands = tuple(self.term(operand, names, done, front) for operand in term.operands)
        made = replace(term, operands=operands)
        if term.kind == "variable":
            made = names.get(term.name, term)
        elif term.kind == "call":
            made = self.expand(self.operations[term.name], operands, front)
        if term.kind in EFFECTS or (id(term) in self.shared and made.kind != "variable"):
            name = f"h{next(self.numbers)}"
            front.append(Statement("let", name, (made,)))
            made = variable(name)
        done[id(term)] = made
        return made

    def expand(self, operation: Operation, operands: tuple[Term, ...], front: list[Statement]) -> Term:
        number = next(self.numbers)
        names = {name: variable(f"h{number}_{name}") for name in [*operation.parameters, "s", "t", "k"]}
        for name, operand in zip(operation.parameters, operands, strict=True):
            front.append(Statement("let", names[name].name, (operand,)))
        front.extend(self.statements(operation.body, names))
        self.shared |= shared((operation.result,))
        return self.term(operation.result, names, {}, front)


class Substituted:
    """Arguments put in place of the parameters of bodies that are one expression; None where that is not the same.

    It is the same when every effect still happens, and as many atomics before it as with the call.
    """

    def __init__(self, operations: dict[str, Operation]) -> None:
        self.operations = operations

    def statements(self, source: list[Statement]) -> list[Statement] | None:
        made = []
        for statement in source:
            done: dict[int, Term] = {}
            try:
                terms = tuple(self.term(term, {}, done) for term in statement.terms)
            except LookupError:
                return None
            if self.effects(statement.terms, done) != self.effects(terms, None):
                return None
            body, otherwise = self.statements(statement.body), self.statements(statement.otherwise)
            if body is None or otherwise is None:
                return None
            made.append(replace(statement, terms=terms, body=body, otherwise=otherwise))
        return made

    def term(self, term: Term, arguments: dict[str, Term], done: dict[int, Term]) -> Term:
        if id(term) in done:
            return done[id(term)]
        operands = tuple(self.term(operand, arguments, done) for operand in term.operands)
        if term.kind == "variable":
            made = arguments.get(term.name, term)
        elif term.kind == "call":
            operation = self.operations[term.name]
            if operation.body:
                raise LookupError(term.name)
            made = self.term(operation.result, dict(zip(operation.parameters, operands, strict=True)), {})
        else:
            made = replace(term, operands=operands)
        done[id(term)] = made
        return made

    @staticmethod
    def effects(terms: tuple[Term, ...], moved: dict[int, Term] | None) -> dict[int, int]:
        """Every effect that the terms reach -> atomics before it. `moved` says what became of each."""
        order: list[Term] = []
        seen: set[int] = set()

        def walk(term: Term) -> None:
            if id(term) in seen:
                return
            seen.add(id(term))
            for operand in term.operands:
                walk(operand)
            if term.kind in EFFECTS:
                order.append(term)

        for term in terms:
            walk(term)
        result, atomics = {}, 0
        for term in order:
            result[id(moved[id(term)] if moved is not None else term)] = atomics
            atomics += term.kind == "atomic"
        return result


def register(made: list[Operation]) -> None:
    for operation in made:
        expressions = Expressions()
        ops.register(
            OpSpec(
                operation.id,
                OpSignature([U32] * len(operation.parameters), U32),
                parameters=operation.parameters,
                body=expressions.nodes(operation.body),
                result=expressions(operation.result),
            )
        )
