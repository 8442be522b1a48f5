"""L1, operators: every binary and unary operator at edges, at random values, and from literals.

The values are written from the table of the semantics page, in Python's unbounded integers.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

import vyre
from vyre import BinOp, DataType, Expr, Node, UnOp
from vyre.conformance.build import element_wise, one_invocation, out_u32
from vyre.conformance.case import Case, case
from vyre.conformance.values import BOOL, EDGES, I32, U32, U64, VEC2, VEC4, array, groups, samples, signed, u32, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Binary = tuple[DataType, DataType, DataType, "Callable[[int, int], int]"]


def truncated(a: int, b: int) -> int:
    """The quotient of a and b, towards zero.

    >>> truncated(-7, 2)
    -3
    """
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


# op -> (left, right, result, value of the operands' 32 bits), any integer modulo 2^32
BINARY: dict[BinOp, Binary] = {
    BinOp.Add: (U32, U32, U32, lambda a, b: a + b),
    BinOp.Sub: (U32, U32, U32, lambda a, b: a - b),
    BinOp.Mul: (U32, U32, U32, lambda a, b: a * b),
    BinOp.Div: (U32, U32, U32, lambda a, b: a // b if b else 0),
    BinOp.Mod: (U32, U32, U32, lambda a, b: a % b if b else 0),
    BinOp.BitAnd: (U32, U32, U32, lambda a, b: a & b),
    BinOp.BitOr: (U32, U32, U32, lambda a, b: a | b),
    BinOp.BitXor: (U32, U32, U32, lambda a, b: a ^ b),
    BinOp.Shl: (U32, U32, U32, lambda a, b: a << b % 32),
    BinOp.Shr: (U32, U32, U32, lambda a, b: a >> b % 32),
    BinOp.RotateLeft: (U32, U32, U32, lambda a, b: a << b % 32 | a >> (32 - b % 32)),
    BinOp.RotateRight: (U32, U32, U32, lambda a, b: a >> b % 32 | a << (32 - b % 32)),
    BinOp.MulHigh: (U32, U32, U32, lambda a, b: a * b >> 32),
    BinOp.AbsDiff: (U32, U32, U32, lambda a, b: abs(a - b)),
    BinOp.Min: (U32, U32, U32, min),
    BinOp.Max: (U32, U32, U32, max),
    BinOp.Eq: (U32, U32, U32, lambda a, b: a == b),
    BinOp.Ne: (U32, U32, U32, lambda a, b: a != b),
    BinOp.Lt: (U32, U32, U32, lambda a, b: a < b),
    BinOp.Gt: (U32, U32, U32, lambda a, b: a > b),
    BinOp.Le: (U32, U32, U32, lambda a, b: a <= b),
    BinOp.Ge: (U32, U32, U32, lambda a, b: a >= b),
    BinOp.And: (U32, U32, U32, lambda a, b: a != 0 and b != 0),
    BinOp.Or: (U32, U32, U32, lambda a, b: a != 0 or b != 0),
    BinOp.SDiv: (I32, I32, I32, lambda a, b: truncated(signed(a), signed(b)) if b else 0),
    BinOp.SMod: (I32, I32, I32, lambda a, b: signed(a) - signed(b) * truncated(signed(a), signed(b)) if b else 0),
    BinOp.SLt: (I32, I32, U32, lambda a, b: signed(a) < signed(b)),
    BinOp.SGt: (I32, I32, U32, lambda a, b: signed(a) > signed(b)),
    BinOp.SLe: (I32, I32, U32, lambda a, b: signed(a) <= signed(b)),
    BinOp.SGe: (I32, I32, U32, lambda a, b: signed(a) >= signed(b)),
    BinOp.SMin: (I32, I32, I32, lambda a, b: min(signed(a), signed(b))),
    BinOp.SMax: (I32, I32, I32, lambda a, b: max(signed(a), signed(b))),
    BinOp.SShr: (I32, U32, I32, lambda a, b: signed(a) >> b % 32),
}
UNARY: dict[UnOp, Callable[[int], int]] = {
    UnOp.Negate: lambda a: -a,
    UnOp.BitNot: lambda a: ~a,
    UnOp.LogicalNot: lambda a: a == 0,
    UnOp.Popcount: lambda a: bin(a).count("1"),
    UnOp.Clz: lambda a: 32 - a.bit_length(),
    UnOp.Ctz: lambda a: (a & -a).bit_length() - 1 if a else 32,
    UnOp.ReverseBits: lambda a: int(f"{a:032b}"[::-1], 2),
}
# What Python's own operators write for two I32 values (through casts).
PYTHON_ON_I32: dict[str, tuple[Callable[..., Expr], Callable[[int, int], int]]] = {
    "plus": (lambda a, b: a + b, lambda a, b: a + b),
    "minus": (lambda a, b: a - b, lambda a, b: a - b),
    "times": (lambda a, b: a * b, lambda a, b: a * b),
    "floordiv": (lambda a, b: a // b, lambda a, b: truncated(a, b) if b else 0),
    "percent": (lambda a, b: a % b, lambda a, b: a - b * truncated(a, b) if b else 0),
    "and": (lambda a, b: a & b, lambda a, b: a & b),
    "or": (lambda a, b: a | b, lambda a, b: a | b),
    "xor": (lambda a, b: a ^ b, lambda a, b: a ^ b),
}
NAMES = {getattr(BinOp, row[0]): row[1] for row in vyre._core._tables["binary"]} | {
    getattr(UnOp, row[0]): row[1] for row in vyre._core._tables["unary"]
}


def literal(element: DataType, bits: int) -> Expr:
    """32 bits as a literal of U32 or I32."""
    return Expr.i32(signed(bits)) if element == I32 else Expr.u32(bits)


def _binary(op: BinOp) -> Iterator[Case]:
    left, right, result, value = BINARY[op]
    name = NAMES[op]
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
    # From literals, where an optimiser folds and a driver compiles constants; and with one operand literal.
    edges = [0, 1, 32, 33, 0x80000000, 0xFFFFFFFF]
    pairs = list(itertools.product(edges, edges))
    i = Expr.var("i")

    def chosen(x: Expr, y: Expr) -> Expr:
        """The operator of literals for each pair, with one operand loaded for two pairs of three."""
        chain = Expr.binop(op, x, y)
        for k, (p, q) in enumerate(pairs):
            operands = [literal(left, p), literal(right, q)]
            if k % 3:
                operands[k % 3 - 1] = (x, y)[k % 3 - 1]
            chain = Expr.select(i == k, Expr.binop(op, *operands), chain)
        return chain

    a, b = zip(*pairs, strict=True)
    yield case(
        f"L1/operators/{name}/literals",
        f"`{name}` of literals, and of a literal and a loaded value, gives the table's value.",
        element_wise([left, right], [(result, chosen)]),
        {"in0": array(left, a), "in1": array(right, b), "out0": array(result, [0x55] * len(pairs))},
        {"out0": array(result, [value(x, y) for x, y in pairs])},
    )


def _unary(op: UnOp) -> Iterator[Case]:
    name, value = NAMES[op], UNARY[op]
    values = EDGES + [1 << k for k in range(32)] + [(1 << k) - 1 for k in range(32)] + samples(name, 200)
    yield case(
        f"L1/operators/{name}",
        f"`{name}` gives the table's value at edges, at each bit and at random values.",
        element_wise([U32], [(U32, lambda x: Expr.unop(op, x))]),
        {"in0": u32(values), "out0": u32([0x55] * len(values))},
        {"out0": u32([value(x) for x in values])},
        groups(len(values)),
    )
    yield case(
        f"L1/operators/{name}/literals",
        f"`{name}` of literals gives the table's value.",
        one_invocation([out_u32()], *(Node.store("out", k, Expr.unop(op, x)) for k, x in enumerate(EDGES))),
        {"out": u32([0x55] * len(EDGES))},
        {"out": u32([value(x) for x in EDGES])},
    )


def _python() -> Iterator[Case]:
    pairs = list(itertools.product([0, 1, -1, 7, -8, 2**31 - 1, -(2**31)], repeat=2))
    left, right = (array(I32, side) for side in zip(*pairs, strict=True))
    for name, (written, value) in PYTHON_ON_I32.items():
        yield case(
            f"L1/operators/python/{name}",
            "What Python's operator writes for two I32 values wraps, and divides towards zero.",
            element_wise([I32, I32], [(I32, lambda a, b, w=written: w(Expr.cast(I32, a), Expr.cast(I32, b)))]),
            {"in0": left, "in1": right, "out0": array(I32, [0x55] * len(pairs))},
            {"out0": array(I32, [value(a, b) for a, b in pairs])},
            groups(len(pairs)),
        )


def _select() -> Iterator[Case]:
    conditions = [0, 1, 2, 0x80000000, 0xFFFFFFFF]
    for element, lanes in ((U32, 1), (I32, 1), (U64, 2), (VEC2, 2), (VEC4, 4), (BOOL, 1)):
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
