"""What the standard operations give, in Python's unbounded integers: one line each, written from their summaries.

A model takes the arguments as unsigned integers (of an I32, its 32 bits) and gives an integer, taken modulo the width
of the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre import BinOp, UnOp
from vyre.conformance.operators import BINARY, UNARY
from vyre.conformance.values import MASK, signed

if TYPE_CHECKING:
    from collections.abc import Callable

    Model = Callable[..., int]

WIDE = 2**64 - 1


def _of(op: BinOp | UnOp) -> Model:
    return BINARY[op][3] if isinstance(op, BinOp) else UNARY[op]


MODELS: dict[str, Model] = {
    # bitwise
    "primitive.bitwise.and": _of(BinOp.BitAnd),
    "primitive.bitwise.or": _of(BinOp.BitOr),
    "primitive.bitwise.xor": _of(BinOp.BitXor),
    "primitive.bitwise.not": _of(UnOp.BitNot),
    "primitive.bitwise.and_not": lambda a, b: a & (MASK - b),
    "primitive.bitwise.shl": _of(BinOp.Shl),
    "primitive.bitwise.shr": _of(BinOp.Shr),
    "primitive.bitwise.sshr": _of(BinOp.SShr),
    "primitive.bitwise.rotl": _of(BinOp.RotateLeft),
    "primitive.bitwise.rotr": _of(BinOp.RotateRight),
    "primitive.bitwise.popcount": _of(UnOp.Popcount),
    "primitive.bitwise.clz": _of(UnOp.Clz),
    "primitive.bitwise.ctz": _of(UnOp.Ctz),
    "primitive.bitwise.reverse_bits": _of(UnOp.ReverseBits),
    "primitive.bitwise.reverse_bytes": lambda a: int.from_bytes(a.to_bytes(4, "little"), "big"),
    # math
    "primitive.math.add": _of(BinOp.Add),
    "primitive.math.sub": _of(BinOp.Sub),
    "primitive.math.mul": _of(BinOp.Mul),
    "primitive.math.mulhi": _of(BinOp.MulHigh),
    "primitive.math.div": _of(BinOp.Div),
    "primitive.math.mod": _of(BinOp.Mod),
    "primitive.math.min": min,
    "primitive.math.max": max,
    "primitive.math.abs_diff": _of(BinOp.AbsDiff),
    "primitive.math.negate": _of(UnOp.Negate),
    "primitive.math.add_saturating": lambda a, b: min(a + b, MASK),
    "primitive.math.sub_saturating": lambda a, b: max(a - b, 0),
    "primitive.math.clamp": lambda a, b, c: min(max(a, b), c),
    "primitive.math.sadd": lambda a, b: signed(a) + signed(b),
    "primitive.math.ssub": lambda a, b: signed(a) - signed(b),
    "primitive.math.smul": lambda a, b: signed(a) * signed(b),
    "primitive.math.sdiv": _of(BinOp.SDiv),
    "primitive.math.smod": _of(BinOp.SMod),
    "primitive.math.smin": _of(BinOp.SMin),
    "primitive.math.smax": _of(BinOp.SMax),
    "primitive.math.sabs": lambda a: abs(signed(a)),
    "primitive.math.snegate": lambda a: -signed(a),
    # compare
    "primitive.compare.eq": lambda a, b: a == b,
    "primitive.compare.ne": lambda a, b: a != b,
    "primitive.compare.lt": lambda a, b: a < b,
    "primitive.compare.gt": lambda a, b: a > b,
    "primitive.compare.le": lambda a, b: a <= b,
    "primitive.compare.ge": lambda a, b: a >= b,
    "primitive.compare.slt": lambda a, b: signed(a) < signed(b),
    "primitive.compare.sgt": lambda a, b: signed(a) > signed(b),
    "primitive.compare.sle": lambda a, b: signed(a) <= signed(b),
    "primitive.compare.sge": lambda a, b: signed(a) >= signed(b),
    "primitive.compare.is_zero": lambda a: a == 0,
    "primitive.compare.select": lambda a, b, c: b if a else c,
    # logical
    "primitive.logical.and": lambda a, b: bool(a) and bool(b),
    "primitive.logical.or": lambda a, b: bool(a) or bool(b),
    "primitive.logical.xor": lambda a, b: bool(a) != bool(b),
    "primitive.logical.xnor": lambda a, b: bool(a) == bool(b),
    "primitive.logical.nand": lambda a, b: not (a and b),
    "primitive.logical.nor": lambda a, b: not (a or b),
    "primitive.logical.not": lambda a: not a,
    "primitive.logical.implies": lambda a, b: not a or bool(b),
    # u64
    "primitive.u64.add": lambda a, b: a + b,
    "primitive.u64.sub": lambda a, b: a - b,
    "primitive.u64.mul": lambda a, b: a * b,
    "primitive.u64.mul_u32": lambda a, b: a * b,
    "primitive.u64.div": lambda a, b: a // b if b else 0,
    "primitive.u64.mod": lambda a, b: a % b if b else 0,
    "primitive.u64.min": min,
    "primitive.u64.max": max,
    "primitive.u64.abs_diff": lambda a, b: abs(a - b),
    "primitive.u64.negate": lambda a: -a,
    "primitive.u64.and": lambda a, b: a & b,
    "primitive.u64.or": lambda a, b: a | b,
    "primitive.u64.xor": lambda a, b: a ^ b,
    "primitive.u64.not": lambda a: ~a,
    "primitive.u64.shl": lambda a, b: a << (b & 63),
    "primitive.u64.shr": lambda a, b: a >> (b & 63),
    "primitive.u64.rotl": lambda a, b: a << (b & 63) | a >> (64 - (b & 63)),
    "primitive.u64.rotr": lambda a, b: a >> (b & 63) | a << (64 - (b & 63)),
    "primitive.u64.popcount": lambda a: bin(a).count("1"),
    "primitive.u64.clz": lambda a: 64 - a.bit_length(),
    "primitive.u64.ctz": lambda a: (a & -a).bit_length() - 1 if a else 64,
    "primitive.u64.reverse_bits": lambda a: int(f"{a:064b}"[::-1], 2),
    "primitive.u64.is_zero": lambda a: a == 0,
    "primitive.u64.eq": lambda a, b: a == b,
    "primitive.u64.ne": lambda a, b: a != b,
    "primitive.u64.lt": lambda a, b: a < b,
    "primitive.u64.gt": lambda a, b: a > b,
    "primitive.u64.le": lambda a, b: a <= b,
    "primitive.u64.ge": lambda a, b: a >= b,
}
