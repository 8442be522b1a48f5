"""Every operator at edge values and random ones, on every backend and device, against Python's integers.

The expected values are written from the documents' table, with nothing of the code under test.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import vyre
from programs import element_wise, groups
from vyre import BinOp, DataType, Expr, UnOp

U32, I32 = DataType.U32, DataType.I32
EDGES = [0, 1, 31, 32, 33, 2**31 - 1, 2**31, 2**32 - 1]
MASK = 2**32 - 1


def signed(a: int) -> int:
    return a - 2**32 if a >= 2**31 else a


def truncated(a: int, b: int) -> int:
    """Division towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


# op -> (left, right, result, value of the operands' 32 bits)
BINARY = {
    BinOp.Add: (U32, U32, U32, lambda a, b: a + b),
    BinOp.Sub: (U32, U32, U32, lambda a, b: a - b),
    BinOp.Mul: (U32, U32, U32, lambda a, b: a * b),
    BinOp.Div: (U32, U32, U32, lambda a, b: a // b if b else 0),
    BinOp.Mod: (U32, U32, U32, lambda a, b: a % b if b else 0),
    BinOp.BitAnd: (U32, U32, U32, lambda a, b: a & b),
    BinOp.BitOr: (U32, U32, U32, lambda a, b: a | b),
    BinOp.BitXor: (U32, U32, U32, lambda a, b: a ^ b),
    BinOp.Shl: (U32, U32, U32, lambda a, b: a << (b % 32)),
    BinOp.Shr: (U32, U32, U32, lambda a, b: a >> (b % 32)),
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
UNARY = {
    UnOp.Negate: lambda a: -a,
    UnOp.BitNot: lambda a: ~a,
    UnOp.LogicalNot: lambda a: a == 0,
    UnOp.Popcount: lambda a: bin(a).count("1"),
    UnOp.Clz: lambda a: 32 - a.bit_length(),
    UnOp.Ctz: lambda a: (a & -a).bit_length() - 1 if a else 32,
    UnOp.ReverseBits: lambda a: int(f"{a:032b}"[::-1], 2),
}
NUMPY = {U32: np.uint32, I32: np.int32}


def samples(rng: np.random.Generator, count: int) -> list[int]:
    # Random widths, because uniform numbers are nearly all large.
    return [int(rng.integers(2**32)) >> int(rng.integers(32)) for _ in range(count)]


def test_every_operator_is_here():
    assert set(BINARY) == set(BinOp)
    assert set(UNARY) == set(UnOp)


@pytest.mark.parametrize("op", BINARY, ids=lambda op: op.name)
def test_binary_operator(op, target, rng):
    left_type, right_type, result_type, value = BINARY[op]
    pairs = list(itertools.product(EDGES, EDGES))
    pairs += zip(samples(rng, 200), samples(rng, 200), strict=True)
    pairs += [(a, a) for a in samples(rng, 20)]
    left, right = (np.array(side, np.uint32) for side in zip(*pairs, strict=True))
    program = element_wise([left_type, right_type], result_type, lambda a, b: Expr.binop(op, a, b))
    out = vyre.run(
        program,
        {"in0": left.view(NUMPY[left_type]), "in1": right.view(NUMPY[right_type]), "out": len(pairs)},
        groups(len(pairs)),
        **target,
    )["out"]
    assert out.dtype == NUMPY[result_type]
    expected = np.array([int(value(a, b)) & MASK for a, b in pairs], np.uint32)
    np.testing.assert_array_equal(out.view(np.uint32), expected)


@pytest.mark.parametrize("op", BINARY, ids=lambda op: op.name)
def test_binary_operator_on_constants(op, target):
    """The same from literals, where an optimiser folds and a driver compiles constants."""
    left_type, right_type, result_type, value = BINARY[op]
    literal = {U32: Expr.u32, I32: lambda bits: Expr.i32(signed(bits))}
    pairs = list(itertools.product([0, 1, 32, 33, 2**31, 2**32 - 1], repeat=2))
    x = vyre.Expr.var("i")
    chain = literal[result_type](0)
    for k, (a, b) in enumerate(pairs):
        here = Expr.binop(op, literal[left_type](a), literal[right_type](b))
        chain = Expr.select(Expr.eq(x, k), here, chain)
    program = element_wise([], result_type, lambda: chain)
    out = vyre.run(program, {"out": len(pairs)}, groups(len(pairs)), **target)["out"]
    expected = np.array([int(value(a, b)) & MASK for a, b in pairs], np.uint32)
    np.testing.assert_array_equal(out.view(np.uint32), expected)


@pytest.mark.parametrize("op", UNARY, ids=lambda op: op.name)
def test_unary_operator(op, target, rng):
    values = EDGES + [1 << k for k in range(32)] + samples(rng, 200)
    program = element_wise([U32], U32, lambda a: Expr.unop(op, a))
    out = vyre.run(program, {"in0": np.array(values, np.uint32), "out": len(values)}, groups(len(values)), **target)[
        "out"
    ]
    expected = np.array([int(UNARY[op](a)) & MASK for a in values], np.uint32)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("op", [*BINARY, *UNARY], ids=lambda op: f"{type(op).__name__}.{op.name}")
def test_result_does_not_depend_on_the_optimiser(op):
    """Both forms lower; their bytes are compared on devices through the tests above."""
    args = BINARY[op][:3] if op in BINARY else (U32, None, U32)
    if op in BINARY:
        program = element_wise(list(args[:2]), args[2], lambda a, b: Expr.binop(op, a, b))
    else:
        program = element_wise([U32], U32, lambda a: Expr.unop(op, a))
    for optimize in (True, False):
        words = vyre.lower(program, "spirv", optimize=optimize)
        assert words[:4] == bytes.fromhex("03022307")
        assert words == vyre.lower(program, "spirv", optimize=optimize)


def test_select_takes_any_non_zero(target):
    condition = np.array([0, 1, 2, 2**31, 2**32 - 1], np.uint32)
    program = element_wise([U32], U32, lambda c: Expr.select(c, 10, 20))
    out = vyre.run(program, {"in0": condition, "out": 5}, 1, **target)["out"]
    assert out.tolist() == [20, 10, 10, 10, 10]


PYTHON_ON_I32 = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}


@pytest.mark.parametrize("symbol", PYTHON_ON_I32)
def test_python_operator_on_i32(symbol, target):
    values = [0, 1, -1, 7, -8, 2**31 - 1, -(2**31)]
    pairs = list(itertools.product(values, values))
    left, right = (np.array(side, np.int32) for side in zip(*pairs, strict=True))
    function = PYTHON_ON_I32[symbol]
    program = element_wise([I32, I32], I32, lambda a, b: function(Expr.cast(I32, a), Expr.cast(I32, b)))
    out = vyre.run(program, {"in0": left, "in1": right, "out": len(pairs)}, groups(len(pairs)), **target)["out"]
    expected = np.array([function(a, b) & MASK for a, b in pairs], np.uint32)
    np.testing.assert_array_equal(out.view(np.uint32), expected)
