"""L1, operators: every binary and unary operator at edges, at random values, and from literals.

The expected values are those of `vyre.conformance.models`.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

import vyre
from vyre import BinOp, BufferDecl, DataType, Expr, Node, Program, UnOp
from vyre._base.types import number_of_bits
from vyre.conformance.build import element_wise, one_invocation
from vyre.conformance.case import Case, case
from vyre.conformance.models import BINARY, UNARY, truncated
from vyre.conformance.values import (
    BOOL,
    EDGES,
    I32,
    LANES,
    SIGNATURES,
    U32,
    array,
    groups,
    samples,
    signed,
    u32,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

# Python's own operators for two I32 values, or for one and an amount: (operator, right, result, value).
PYTHON_ON_I32: dict[str, tuple[Callable[..., Expr], DataType, DataType, Callable[[int, int], int]]] = {
    "plus": (lambda a, b: a + b, I32, I32, lambda a, b: a + b),
    "minus": (lambda a, b: a - b, I32, I32, lambda a, b: a - b),
    "times": (lambda a, b: a * b, I32, I32, lambda a, b: a * b),
    "floordiv": (lambda a, b: a // b, I32, I32, lambda a, b: truncated(a, b) if b else 0),
    "percent": (lambda a, b: a % b, I32, I32, lambda a, b: a - b * truncated(a, b) if b else 0),
    "and": (lambda a, b: a & b, I32, I32, lambda a, b: a & b),
    "or": (lambda a, b: a | b, I32, I32, lambda a, b: a | b),
    "xor": (lambda a, b: a ^ b, I32, I32, lambda a, b: a ^ b),
    "equal": (lambda a, b: a == b, I32, U32, lambda a, b: a == b),
    "not_equal": (lambda a, b: a != b, I32, U32, lambda a, b: a != b),
    "less": (lambda a, b: a < b, I32, U32, lambda a, b: a < b),
    "less_or_equal": (lambda a, b: a <= b, I32, U32, lambda a, b: a <= b),
    "greater": (lambda a, b: a > b, I32, U32, lambda a, b: a > b),
    "greater_or_equal": (lambda a, b: a >= b, I32, U32, lambda a, b: a >= b),
    "shift_left": (lambda a, b: a << b, U32, I32, lambda a, b: a << b % 32),
    "shift_right": (lambda a, b: a >> b, U32, I32, lambda a, b: a >> b % 32),
}
NAMES = {getattr(BinOp, row[0]): row[1] for row in vyre._core._tables["binary"]} | {
    getattr(UnOp, row[0]): row[1] for row in vyre._core._tables["unary"]
}


def literal(element: DataType, bits: int) -> Expr:
    """32 bits as a literal."""
    made: Expr = element(number_of_bits(element, bits))
    return made


def _binary(op: BinOp) -> Iterator[Case]:
    left, right, result = SIGNATURES[op.name]
    name, value = NAMES[op], BINARY[op]
    pairs = list(itertools.product(EDGES, EDGES))
    pairs += zip(samples(f"{name} left", 200), samples(f"{name} right", 200), strict=True)
    pairs += [(a, a) for a in samples(f"{name} both", 20)]
    a, b = zip(*pairs, strict=True)
    program = element_wise([left, right], [(result, lambda x, y: Expr.binop(op, x, y))])
    yield case(
        f"L1/operators/{name}",
        f"`{name}` gives the table's value at edges, at random values and of a value with itself.",
        program,
        {"in0": array(left, a), "in1": array(right, b), "out0": array(result, [0x55] * len(pairs))},
        {"out0": array(result, [value(x, y) for x, y in pairs])},
        groups(len(pairs)),
    )
    # Literal operands are folded by an optimiser, or compiled as constants by a driver. With one literal operand, an
    # optimiser may take another operator for the same value.
    grid = list(itertools.product(EDGES, EDGES))
    i, x, y = (Expr.var(variable) for variable in ("i", "x", "y"))

    def chosen(number: Expr, values: Sequence[Expr]) -> Expr:
        """The value of that number: one store is compiled where a store for each would be guarded one by one."""
        chain = values[0]
        for k, one in enumerate(values[1:], 1):
            chain = Expr.select(number == k, one, chain)
        return chain

    buffers = [BufferDecl.read("in0", 0, left), BufferDecl.read("in1", 1, right)]
    buffers += [BufferDecl.read_write(side, 2 + k, result) for k, side in enumerate(("left", "right", "both"))]
    entry = [
        Node.let("i", Expr.gid_x()),
        Node.let("x", Expr.load("in0", i)),
        Node.let("y", Expr.load("in1", i)),
        Node.store("left", i, chosen(i // len(EDGES), [Expr.binop(op, literal(left, p), y) for p in EDGES])),
        Node.store("right", i, chosen(i % len(EDGES), [Expr.binop(op, x, literal(right, q)) for q in EDGES])),
        Node.store("both", i, chosen(i, [Expr.binop(op, literal(left, p), literal(right, q)) for p, q in grid])),
    ]
    a, b = zip(*grid, strict=True)
    wanted = array(result, [value(p, q) for p, q in grid])
    unwritten = array(result, [0x55] * len(grid))
    yield case(
        f"L1/operators/{name}/literals",
        f"`{name}` of two literals, and of a literal and a loaded value, gives the table's value for any two edges.",
        Program(buffers, (64, 1, 1), entry),
        {"in0": array(left, a), "in1": array(right, b), "left": unwritten, "right": unwritten, "both": unwritten},
        {"left": wanted, "right": wanted, "both": wanted},
        groups(len(grid)),
    )


def _unary(op: UnOp) -> Iterator[Case]:
    name, value = NAMES[op], UNARY[op]
    operand, result = SIGNATURES[op.name]
    values = EDGES + [1 << k for k in range(32)] + [(1 << k) - 1 for k in range(32)] + samples(name, 200)
    yield case(
        f"L1/operators/{name}",
        f"`{name}` gives the table's value at edges, at each bit and at random values.",
        element_wise([operand], [(result, lambda x: Expr.unop(op, x))]),
        {"in0": array(operand, values), "out0": array(result, [0x55] * len(values))},
        {"out0": array(result, [value(x) for x in values])},
        groups(len(values)),
    )
    yield case(
        f"L1/operators/{name}/literals",
        f"`{name}` of literals gives the table's value.",
        one_invocation(
            [BufferDecl.read_write("out", 0, result)],
            *(Node.store("out", k, Expr.unop(op, literal(operand, x))) for k, x in enumerate(EDGES)),
        ),
        {"out": array(result, [0x55] * len(EDGES))},
        {"out": array(result, [value(x) for x in EDGES])},
    )


def _python() -> Iterator[Case]:
    pairs = list(itertools.product(EDGES, EDGES))
    a, b = zip(*pairs, strict=True)
    for name, (written, right, result, value) in PYTHON_ON_I32.items():
        wanted = [value(signed(x), signed(y) if right == I32 else y) for x, y in pairs]
        yield case(
            f"L1/operators/python/{name}",
            "What Python's operator writes for two I32 values wraps, compares signs, and divides towards zero.",
            element_wise(
                [I32, right],
                [(result, lambda a, b, w=written, t=right: w(Expr.cast(I32, a), Expr.cast(t, b)))],
            ),
            {"in0": array(I32, a), "in1": array(right, b), "out0": array(result, [0x55] * len(pairs))},
            {"out0": array(result, wanted)},
            groups(len(pairs)),
        )


def _select() -> Iterator[Case]:
    conditions = [0, 1, 2, 0x80000000, 0xFFFFFFFF]
    for element, lanes in LANES.items():
        left, right = words(f"select {element}", 2 * 5 * lanes).reshape(2, 5, lanes)
        if element == BOOL:
            left, right = np.ones_like(left), np.zeros_like(right)
        chosen = [left[k] if c else right[k] for k, c in enumerate(conditions)]
        yield case(
            f"L1/operators/select/{element.name}",
            "Select takes its first value for every non-zero condition.",
            element_wise([U32, element, element], [(element, Expr.select)]),
            {
                "in0": u32(conditions),
                "in1": array(element, left.ravel()),
                "in2": array(element, right.ravel()),
                "out0": array(element, [0x55] * 5 * lanes),
            },
            {"out0": array(element, np.concatenate(chosen))},
        )


def cases() -> Iterator[Case]:
    """Every operator of the tables."""
    for binary in BINARY:
        yield from _binary(binary)
    for unary in UNARY:
        yield from _unary(unary)
    yield from _python()
    yield from _select()
