"""The meaning of every operator and of every standard operation, in Python's unbounded integers.

This is the one model that Python compares the core with: conformance cases and tests import it. Operators are written
from the table of the semantics page, operations from their summaries, and nothing here reads the core's tables of
values. A model takes the arguments as unsigned integers (an I32 as its 32 bits) and gives an integer, which is taken
modulo the width of the result.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from vyre import BinOp, UnOp
from vyre.conformance.values import MASK, signed

if TYPE_CHECKING:
    from collections.abc import Callable

    Model = Callable[..., int]


def truncated(a: int, b: int) -> int:
    """The quotient of a and b, towards zero.

    >>> truncated(-7, 2)
    -3
    """
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


# The value of each operator for the 32 bits of its operands: any integer, modulo 2^32.
BINARY: dict[BinOp, Callable[[int, int], int]] = {
    BinOp.Add: lambda a, b: a + b,
    BinOp.Sub: lambda a, b: a - b,
    BinOp.Mul: lambda a, b: a * b,
    BinOp.Div: lambda a, b: a // b if b else 0,
    BinOp.Mod: lambda a, b: a % b if b else 0,
    BinOp.BitAnd: lambda a, b: a & b,
    BinOp.BitOr: lambda a, b: a | b,
    BinOp.BitXor: lambda a, b: a ^ b,
    BinOp.Shl: lambda a, b: a << b % 32,
    BinOp.Shr: lambda a, b: a >> b % 32,
    BinOp.RotateLeft: lambda a, b: a << b % 32 | a >> (32 - b % 32),
    BinOp.RotateRight: lambda a, b: a >> b % 32 | a << (32 - b % 32),
    BinOp.MulHigh: lambda a, b: a * b >> 32,
    BinOp.AbsDiff: lambda a, b: abs(a - b),
    BinOp.Min: min,
    BinOp.Max: max,
    BinOp.Eq: lambda a, b: a == b,
    BinOp.Ne: lambda a, b: a != b,
    BinOp.Lt: lambda a, b: a < b,
    BinOp.Gt: lambda a, b: a > b,
    BinOp.Le: lambda a, b: a <= b,
    BinOp.Ge: lambda a, b: a >= b,
    BinOp.And: lambda a, b: a != 0 and b != 0,
    BinOp.Or: lambda a, b: a != 0 or b != 0,
    BinOp.SDiv: lambda a, b: truncated(signed(a), signed(b)) if b else 0,
    BinOp.SMod: lambda a, b: signed(a) - signed(b) * truncated(signed(a), signed(b)) if b else 0,
    BinOp.SLt: lambda a, b: signed(a) < signed(b),
    BinOp.SGt: lambda a, b: signed(a) > signed(b),
    BinOp.SLe: lambda a, b: signed(a) <= signed(b),
    BinOp.SGe: lambda a, b: signed(a) >= signed(b),
    BinOp.SMin: lambda a, b: min(signed(a), signed(b)),
    BinOp.SMax: lambda a, b: max(signed(a), signed(b)),
    BinOp.SShr: lambda a, b: signed(a) >> b % 32,
    BinOp.AddSat: lambda a, b: min(a + b, MASK),
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


def binary(op: BinOp, a: int, b: int) -> int:
    """The 32 bits of a binary operator's value for the bits of its operands.

    >>> binary(BinOp.Sub, 0, 1) == 0xFFFFFFFF
    True
    """
    return int(BINARY[op](a, b)) & MASK


def unary(op: UnOp, a: int) -> int:
    """The 32 bits of a unary operator's value for the bits of its operand.

    >>> unary(UnOp.Clz, 1)
    31
    """
    return int(UNARY[op](a)) & MASK


def _of(op: BinOp | UnOp) -> Model:
    return BINARY[op] if isinstance(op, BinOp) else UNARY[op]


def signed64(value: int) -> int:
    """The number that 64 bits stand for in two's complement.

    >>> signed64(2**64 - 1)
    -1
    """
    return value - 2**64 if value >> 63 else value


def _extracted(width: int, value: int, offset: int, count: int) -> int:
    offset = min(offset, width)
    return value >> offset & (1 << min(count, width - offset)) - 1


def _sign_extended(width: int, value: int, offset: int, count: int) -> int:
    offset = min(offset, width)
    count = min(count, width - offset)
    field = value >> offset & (1 << count) - 1
    return field - (1 << count) if count and field >> count - 1 else field


def _inserted(width: int, value: int, bits: int, offset: int, count: int) -> int:
    offset = min(offset, width)
    mask = (1 << min(count, width - offset)) - 1
    return value & ~(mask << offset) | (bits & mask) << offset


def _saturated(value: int, width: int) -> int:
    found: int = max(min(value, 2 ** (width - 1) - 1), -(2 ** (width - 1)))
    return found


def _leading(value: int) -> int:
    """The position of the highest bit that differs from the sign; -1, a U32 of all ones, if none does."""
    return (~value if value < 0 else value).bit_length() - 1


def _trailing(value: int) -> int:
    return (value & -value).bit_length() - 1


def _byte_numbers(word: int, signed_bytes: bool) -> list[int]:
    return [int.from_bytes([byte], "little", signed=signed_bytes) for byte in word.to_bytes(4, "little")]


def _dot4(a: int, b: int, signed_bytes: bool) -> int:
    return sum(x * y for x, y in zip(_byte_numbers(a, signed_bytes), _byte_numbers(b, signed_bytes), strict=True))


def _words(value: int, count: int) -> list[int]:
    return [value >> 32 * k & MASK for k in range(count)]


def _number(words: list[int]) -> int:
    return sum(word << 32 * k for k, word in enumerate(words))


def philox4x32_10(counter: int, key: int) -> int:
    """Philox 4x32 with 10 rounds, from the definition in "Parallel Random Numbers: As Easy as 1, 2, 3" (SC 2011).

    >>> hex(philox4x32_10(0, 0) & MASK)
    '0x6627e8d5'
    """
    x, (k0, k1) = _words(counter, 4), _words(key, 2)
    for _ in range(10):
        first, second = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [second >> 32 ^ x[1] ^ k0, second & MASK, first >> 32 ^ x[3] ^ k1, first & MASK]
        k0, k1 = (k0 + 0x9E3779B9) & MASK, (k1 + 0xBB67AE85) & MASK
    return _number(x)


def threefry2x32_20(counter: int, key: int) -> int:
    """Threefry 2x32 with 20 rounds, from the same paper.

    >>> hex(threefry2x32_20(0, 0) & MASK)
    '0x6b200159'
    """
    (x, y), keys = _words(counter, 2), _words(key, 2)
    keys.append(0x1BD11BDA ^ keys[0] ^ keys[1])
    for round in range(20):
        if round % 4 == 0:
            x, y = (x + keys[round // 4 % 3]) & MASK, (y + keys[(round // 4 + 1) % 3] + round // 4) & MASK
        x = (x + y) & MASK
        amount = (13, 15, 26, 6, 17, 29, 16, 24)[round % 8]
        y = ((y << amount | y >> 32 - amount) & MASK) ^ x
    return _number([(x + keys[5 % 3]) & MASK, (y + keys[6 % 3] + 5) & MASK])


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
    "primitive.bitwise.extract_bits": lambda a, b, c: _extracted(32, a, b, c),
    "primitive.bitwise.sextract_bits": lambda a, b, c: _sign_extended(32, a, b, c),
    "primitive.bitwise.insert_bits": lambda a, b, c, d: _inserted(32, a, b, c, d),
    "primitive.bitwise.sign_extend": lambda a, b: _sign_extended(32, a, 0, b),
    "primitive.bitwise.first_leading_bit": _leading,
    "primitive.bitwise.sfirst_leading_bit": lambda a: _leading(signed(a)),
    "primitive.bitwise.first_trailing_bit": _trailing,
    "primitive.bitwise.pack4": lambda a: int.from_bytes([word & 0xFF for word in _words(a, 4)], "little"),
    "primitive.bitwise.unpack4": lambda a: _number(list(a.to_bytes(4, "little"))),
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
    "primitive.math.sadd_saturating": lambda a, b: _saturated(signed(a) + signed(b), 32),
    "primitive.math.ssub_saturating": lambda a, b: _saturated(signed(a) - signed(b), 32),
    "primitive.math.smulhi": lambda a, b: signed(a) * signed(b) >> 32,
    "primitive.math.hadd": lambda a, b: a + b >> 1,
    "primitive.math.rhadd": lambda a, b: a + b + 1 >> 1,
    "primitive.math.shadd": lambda a, b: signed(a) + signed(b) >> 1,
    "primitive.math.srhadd": lambda a, b: signed(a) + signed(b) + 1 >> 1,
    "primitive.math.sclamp": lambda a, b, c: min(max(signed(a), signed(b)), signed(c)),
    "primitive.math.sign": lambda a: (signed(a) > 0) - (signed(a) < 0),
    "primitive.math.sabs_diff": lambda a, b: abs(signed(a) - signed(b)),
    "primitive.math.dot4": lambda a, b: _dot4(a, b, False),
    "primitive.math.sdot4": lambda a, b: _dot4(a, b, True),
    "primitive.math.gcd": math.gcd,
    "primitive.math.lcm": math.lcm,
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
    "primitive.u64.add_saturating": lambda a, b: min(a + b, 2**64 - 1),
    "primitive.u64.sub_saturating": lambda a, b: max(a - b, 0),
    "primitive.u64.mulhi": lambda a, b: a * b >> 64,
    "primitive.u64.hadd": lambda a, b: a + b >> 1,
    "primitive.u64.rhadd": lambda a, b: a + b + 1 >> 1,
    "primitive.u64.clamp": lambda a, b, c: min(max(a, b), c),
    "primitive.u64.and_not": lambda a, b: a & ~b,
    "primitive.u64.reverse_bytes": lambda a: int.from_bytes(a.to_bytes(8, "little"), "big"),
    "primitive.u64.extract_bits": lambda a, b, c: _extracted(64, a, b, c),
    "primitive.u64.insert_bits": lambda a, b, c, d: _inserted(64, a, b, c, d),
    "primitive.u64.first_leading_bit": _leading,
    "primitive.u64.first_trailing_bit": _trailing,
    "primitive.u64.gcd": math.gcd,
    "primitive.u64.lcm": math.lcm,
    # u64, signed
    "primitive.u64.sdiv": lambda a, b: truncated(signed64(a), signed64(b)) if b else 0,
    "primitive.u64.smod": lambda a, b: signed64(a) - signed64(b) * truncated(signed64(a), signed64(b)) if b else 0,
    "primitive.u64.sshr": lambda a, b: signed64(a) >> (b & 63),
    "primitive.u64.slt": lambda a, b: signed64(a) < signed64(b),
    "primitive.u64.sgt": lambda a, b: signed64(a) > signed64(b),
    "primitive.u64.sle": lambda a, b: signed64(a) <= signed64(b),
    "primitive.u64.sge": lambda a, b: signed64(a) >= signed64(b),
    "primitive.u64.smin": lambda a, b: min(signed64(a), signed64(b)),
    "primitive.u64.smax": lambda a, b: max(signed64(a), signed64(b)),
    "primitive.u64.sclamp": lambda a, b, c: min(max(signed64(a), signed64(b)), signed64(c)),
    "primitive.u64.sabs": lambda a: abs(signed64(a)),
    "primitive.u64.sign": lambda a: (signed64(a) > 0) - (signed64(a) < 0),
    "primitive.u64.sadd_saturating": lambda a, b: _saturated(signed64(a) + signed64(b), 64),
    "primitive.u64.ssub_saturating": lambda a, b: _saturated(signed64(a) - signed64(b), 64),
    "primitive.u64.smulhi": lambda a, b: signed64(a) * signed64(b) >> 64,
    "primitive.u64.shadd": lambda a, b: signed64(a) + signed64(b) >> 1,
    "primitive.u64.srhadd": lambda a, b: signed64(a) + signed64(b) + 1 >> 1,
    "primitive.u64.sextract_bits": lambda a, b, c: _sign_extended(64, a, b, c),
    "primitive.u64.sign_extend": lambda a, b: _sign_extended(64, a, 0, b),
    "primitive.u64.sfirst_leading_bit": lambda a: _leading(signed64(a)),
    # rng
    "primitive.rng.philox4x32_10": philox4x32_10,
    "primitive.rng.threefry2x32_20": threefry2x32_20,
}
