"""Every standard operation written by hand with the operators of the IR: what a caller would write in its place.

``FORMS`` maps an id without ``primitive.`` to a function of expressions. The forms of ``LOOPS`` have statements; their
first argument is a `Writer`, which collects them. A U64 is two words by hand: a `Pair`, its low word first.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

from vyre import BinOp, DataType, Expr, Node, UnOp

if TYPE_CHECKING:
    from collections.abc import Callable

U32, I32, U64, VEC2, VEC4 = DataType.U32, DataType.I32, DataType.U64, DataType.Vec2U32, DataType.Vec4U32
ALL, TOP, MOST = 2**32 - 1, 2**31, 2**31 - 1
select = Expr.select


def signed(x):
    return Expr.cast(I32, x)


def unsigned(x):
    return Expr.cast(U32, x)


def wrapping(operator) -> Callable[..., Expr]:
    """A signed operator that has the bits of the unsigned one."""
    return lambda *args: signed(operator(*map(unsigned, args)))


def negative(word):
    return Expr.slt(signed(word), Expr.i32(0))


def truth(x):
    return Expr.ne(x, 0)


# Fields of bits: an offset of at most `size`, and a count of at most what is left above it.


def field(offset, count, size=32):
    offset = Expr.min(offset, size)
    return offset, Expr.min(count, Expr.u32(size) - offset)


def at_top(x, offset, count):
    return x << (Expr.u32(32) - (offset + count))


def sign_filled(word, count):
    return select(count, Expr.sshr(signed(word), Expr.u32(32) - count), Expr.i32(0))


def extract_bits(x, offset, count):
    offset, count = field(offset, count)
    return select(count, at_top(x, offset, count) >> (Expr.u32(32) - count), 0)


def sextract_bits(x, offset, count):
    offset, count = field(offset, count)
    return sign_filled(at_top(unsigned(x), offset, count), count)


def insert_bits(x, bits, offset, count):
    offset, count = field(offset, count)
    ones = select(count, Expr.u32(ALL) >> (Expr.u32(32) - count), 0)
    mask = ones << offset
    return (x & Expr.bitnot(mask)) | ((bits << offset) & mask)


def sign_extend(x, count):
    count = Expr.min(count, 32)
    return sign_filled(x << (Expr.u32(32) - count), count)


def reverse_bytes(x):
    return (Expr.rotl(x, 8) & 0x00FF00FF) | (Expr.rotr(x, 8) & 0xFF00FF00)


def pack4(v):
    x, y, z, w = (Expr.lane(v, k) for k in range(4))
    return ((x & 255) | ((y & 255) << 8)) | (((z & 255) << 16) | (w << 24))


def saturated(x, overflow, result):
    limit = select(negative(unsigned(x)), TOP, MOST)
    return signed(select(negative(overflow), limit, result))


def sadd_saturating(x, y):
    total = unsigned(x) + unsigned(y)
    return saturated(x, (unsigned(x) ^ total) & (unsigned(y) ^ total), total)


def ssub_saturating(x, y):
    difference = unsigned(x) - unsigned(y)
    return saturated(x, (unsigned(x) ^ unsigned(y)) & (unsigned(x) ^ difference), difference)


def smulhi(x, y):
    def excess(of, other):
        return unsigned(Expr.sshr(of, 31)) & unsigned(other)

    return signed(Expr.mulhi(unsigned(x), unsigned(y)) - excess(x, y) - excess(y, x))


def half_of_difference(x, y):
    return unsigned(Expr.sshr(signed(unsigned(x) ^ unsigned(y)), 1))


def add_saturating(x, y):
    total = x + y
    return select(total < x, ALL, total)


def dot4(byte):
    def form(x, y):
        products = [byte(x, k) * byte(y, k) for k in range(4)]
        return (products[0] + products[1]) + (products[2] + products[3])

    return form


def unsigned_byte(x, k):
    return (x >> 8 * k if k else x) & 255


def signed_byte(x, k):
    return unsigned(Expr.sshr(signed(x << 24 - 8 * k if k < 3 else x), 24))


def philox(counter, key):
    c = [Expr.lane(counter, k) for k in range(4)]
    for turn in range(10):
        keys = [
            Expr.lane(key, k) + (turn * step & ALL) if turn else Expr.lane(key, k)
            for k, step in enumerate((0x9E3779B9, 0xBB67AE85))
        ]
        c = [
            (Expr.mulhi(c[2], 0xCD9E8D57) ^ c[1]) ^ keys[0],
            c[2] * 0xCD9E8D57,
            (Expr.mulhi(c[0], 0xD2511F53) ^ c[3]) ^ keys[1],
            c[0] * 0xD2511F53,
        ]
    return Expr.pack(VEC4, c)


def threefry(counter, key):
    keys = [Expr.lane(key, 0), Expr.lane(key, 1)]
    keys.append((keys[0] ^ keys[1]) ^ 0x1BD11BDA)
    x, y = Expr.lane(counter, 0) + keys[0], Expr.lane(counter, 1) + keys[1]
    for turn in range(20):
        x = x + y
        y = Expr.rotl(y, (13, 15, 26, 6, 17, 29, 16, 24)[turn % 8]) ^ x
        if turn % 4 == 3:
            step = turn // 4 + 1
            x = x + keys[step % 3]
            y = y + (keys[(step + 1) % 3] + step)
    return Expr.pack(VEC2, [x, y])


WORDS = {
    "bitwise.and": lambda x, y: x & y,
    "bitwise.or": lambda x, y: x | y,
    "bitwise.xor": lambda x, y: x ^ y,
    "bitwise.not": lambda x: Expr.unop(UnOp.BitNot, x),
    "bitwise.and_not": lambda x, y: x & Expr.bitnot(y),
    "bitwise.shl": lambda x, y: x << y,
    "bitwise.shr": lambda x, y: x >> y,
    "bitwise.sshr": lambda x, y: Expr.binop(BinOp.SShr, x, y),
    "bitwise.rotl": lambda x, y: Expr.binop(BinOp.RotateLeft, x, y),
    "bitwise.rotr": lambda x, y: Expr.binop(BinOp.RotateRight, x, y),
    "bitwise.popcount": lambda x: Expr.unop(UnOp.Popcount, x),
    "bitwise.clz": lambda x: Expr.unop(UnOp.Clz, x),
    "bitwise.ctz": lambda x: Expr.unop(UnOp.Ctz, x),
    "bitwise.reverse_bits": lambda x: Expr.unop(UnOp.ReverseBits, x),
    "bitwise.reverse_bytes": reverse_bytes,
    "bitwise.extract_bits": extract_bits,
    "bitwise.sextract_bits": sextract_bits,
    "bitwise.insert_bits": insert_bits,
    "bitwise.sign_extend": sign_extend,
    "bitwise.first_leading_bit": lambda x: Expr.u32(31) - Expr.clz(x),
    "bitwise.sfirst_leading_bit": lambda x: Expr.u32(31) - Expr.clz(unsigned(x) ^ unsigned(Expr.sshr(x, 31))),
    "bitwise.first_trailing_bit": lambda x: select(x, Expr.ctz(x), ALL),
    "bitwise.pack4": pack4,
    "bitwise.unpack4": lambda x: Expr.pack(VEC4, [x & 255, (x >> 8) & 255, (x >> 16) & 255, x >> 24]),
    "compare.eq": lambda x, y: Expr.eq(x, y),
    "compare.ne": lambda x, y: Expr.ne(x, y),
    "compare.lt": lambda x, y: x < y,
    "compare.gt": lambda x, y: x > y,
    "compare.le": lambda x, y: x <= y,
    "compare.ge": lambda x, y: x >= y,
    "compare.slt": lambda x, y: Expr.binop(BinOp.SLt, x, y),
    "compare.sgt": lambda x, y: Expr.binop(BinOp.SGt, x, y),
    "compare.sle": lambda x, y: Expr.binop(BinOp.SLe, x, y),
    "compare.sge": lambda x, y: Expr.binop(BinOp.SGe, x, y),
    "compare.is_zero": lambda x: Expr.eq(x, 0),
    "compare.select": lambda x, y, z: select(x, y, z),
    "logical.and": lambda x, y: Expr.binop(BinOp.And, x, y),
    "logical.or": lambda x, y: Expr.binop(BinOp.Or, x, y),
    "logical.xor": lambda x, y: Expr.ne(truth(x), truth(y)),
    "logical.nand": lambda x, y: Expr.logical_not(Expr.logical_and(x, y)),
    "logical.nor": lambda x, y: Expr.logical_not(Expr.logical_or(x, y)),
    "logical.xnor": lambda x, y: Expr.eq(truth(x), truth(y)),
    "logical.implies": lambda x, y: Expr.logical_or(Expr.logical_not(x), y),
    "logical.not": lambda x: Expr.unop(UnOp.LogicalNot, x),
    "math.add": lambda x, y: x + y,
    "math.sub": lambda x, y: x - y,
    "math.mul": lambda x, y: x * y,
    "math.div": lambda x, y: x // y,
    "math.mod": lambda x, y: x % y,
    "math.mulhi": lambda x, y: Expr.binop(BinOp.MulHigh, x, y),
    "math.min": lambda x, y: Expr.binop(BinOp.Min, x, y),
    "math.max": lambda x, y: Expr.binop(BinOp.Max, x, y),
    "math.abs_diff": lambda x, y: Expr.binop(BinOp.AbsDiff, x, y),
    "math.negate": lambda x: Expr.unop(UnOp.Negate, x),
    "math.clamp": lambda x, low, high: Expr.min(Expr.max(x, low), high),
    "math.add_saturating": add_saturating,
    "math.sub_saturating": lambda x, y: Expr.max(x, y) - y,
    "math.sadd": wrapping(Expr.add),
    "math.ssub": wrapping(Expr.sub),
    "math.smul": wrapping(Expr.mul),
    "math.snegate": wrapping(Expr.negate),
    "math.sdiv": lambda x, y: Expr.binop(BinOp.SDiv, x, y),
    "math.smod": lambda x, y: Expr.binop(BinOp.SMod, x, y),
    "math.smin": lambda x, y: Expr.binop(BinOp.SMin, x, y),
    "math.smax": lambda x, y: Expr.binop(BinOp.SMax, x, y),
    "math.sabs": lambda x: select(Expr.slt(x, Expr.i32(0)), Expr.negate(unsigned(x)), unsigned(x)),
    "math.sabs_diff": lambda x, y: unsigned(Expr.smax(x, y)) - unsigned(Expr.smin(x, y)),
    "math.sclamp": lambda x, low, high: Expr.smin(Expr.smax(x, low), high),
    "math.sign": lambda x: Expr.smin(Expr.smax(x, Expr.i32(-1)), Expr.i32(1)),
    "math.sadd_saturating": sadd_saturating,
    "math.ssub_saturating": ssub_saturating,
    "math.smulhi": smulhi,
    "math.hadd": lambda x, y: (x & y) + ((x ^ y) >> 1),
    "math.rhadd": lambda x, y: (x | y) - ((x ^ y) >> 1),
    "math.shadd": lambda x, y: signed((unsigned(x) & unsigned(y)) + half_of_difference(x, y)),
    "math.srhadd": lambda x, y: signed((unsigned(x) | unsigned(y)) - half_of_difference(x, y)),
    "math.dot4": dot4(unsigned_byte),
    "math.sdot4": lambda x, y: signed(dot4(signed_byte)(x, y)),
    "rng.philox4x32_10": philox,
    "rng.threefry2x32_20": threefry,
}


# 64 bits by hand: pairs of words.


class Pair(NamedTuple):
    low: Expr
    high: Expr


def lanes(x) -> Pair:
    return x if isinstance(x, Pair) else Pair(Expr.lane(x, 0), Expr.lane(x, 1))


def packed(x):
    return Expr.pack(U64, list(x)) if isinstance(x, Pair) else x


def literal(value) -> Pair:
    return Pair(Expr.u32(value & ALL), Expr.u32(value >> 32 & ALL))


def choose(condition, x, y) -> Pair:
    """Either pair, chosen as a whole."""
    return lanes(select(condition, packed(x), packed(y)))


def add64(x, y):
    low = x.low + y.low
    return Pair(low, (x.high + y.high) + (low < x.low))


def sub64(x, y):
    return Pair(x.low - y.low, (x.high - y.high) - (x.low < y.low))


def mul64(x, y):
    return Pair(x.low * y.low, Expr.mulhi(x.low, y.low) + (x.low * y.high + x.high * y.low))


def equal64(x, y):
    return Expr.logical_and(Expr.eq(x.low, y.low), Expr.eq(x.high, y.high))


def less64(x, y):
    return Expr.logical_or(x.high < y.high, Expr.logical_and(Expr.eq(x.high, y.high), x.low < y.low))


def zero64(x):
    return Expr.eq(x.low | x.high, 0)


def otherwise(condition):
    return condition ^ 1


def min64(x, y):
    return choose(less64(y, x), y, x)


def max64(x, y):
    return choose(less64(x, y), y, x)


def each(operator):
    return lambda x, *y: Pair(operator(x.low, *(k.low for k in y)), operator(x.high, *(k.high for k in y)))


and64, or64, xor64, not64 = each(Expr.bitand), each(Expr.bitor), each(Expr.bitxor), each(Expr.bitnot)


def negate64(x):
    return sub64(literal(0), x)


def from_the_left(high, low, amount):
    return (high << amount) | ((low >> 1) >> (amount ^ 31))


def from_the_right(high, low, amount):
    return (low >> amount) | ((high << 1) << (amount ^ 31))


def amount64(amount):
    """Whether the words change places, and the shift within them."""
    return amount & 32, amount & 31


def shl64(x, amount):
    swap, rest = amount64(amount)
    low, high = select(swap, 0, x.low), select(swap, x.low, x.high)
    return Pair(low << rest, from_the_left(high, low, rest))


def shr64(x, amount):
    swap, rest = amount64(amount)
    low, high = select(swap, x.high, x.low), select(swap, 0, x.high)
    return Pair(from_the_right(high, low, rest), high >> rest)


def rotl64(x, amount):
    swap, rest = amount64(amount)
    low, high = select(swap, x.high, x.low), select(swap, x.low, x.high)
    return Pair(from_the_left(low, high, rest), from_the_left(high, low, rest))


def rotr64(x, amount):
    swap, rest = amount64(amount)
    low, high = select(swap, x.high, x.low), select(swap, x.low, x.high)
    return Pair(from_the_right(high, low, rest), from_the_right(low, high, rest))


def popcount64(x):
    return Expr.popcount(x.low) + Expr.popcount(x.high)


def clz64(x):
    return select(x.high, Expr.clz(x.high), Expr.clz(x.low) + 32)


def ctz64(x):
    return select(x.low, Expr.ctz(x.low), Expr.ctz(x.high) + 32)


def absolute_difference64(x, y):
    return choose(less64(x, y), sub64(y, x), sub64(x, y))


def product(x, y):
    return Pair(x * y, Expr.mulhi(x, y))


def mulhi64(x, y):
    def wide(word):
        return Pair(word, Expr.u32(0))

    first = add64(product(x.low, y.high), wide(Expr.mulhi(x.low, y.low)))
    second = add64(product(x.high, y.low), wide(first.low))
    return add64(add64(product(x.high, y.high), wide(first.high)), wide(second.high))


def mean64(shared, half, shift):
    return lambda x, y: half(shared(x, y), shift(xor64(x, y), Expr.u32(1)))


def is_negative64(x):
    return x.high >> 31


def signs64(x):
    word = Expr.u32(0) - is_negative64(x)
    return Pair(word, word)


def biased(x):
    return Pair(x.low, x.high ^ TOP)


def sless64(x, y):
    return less64(biased(x), biased(y))


def sshr64(x, amount):
    sign = signs64(x)
    return xor64(shr64(xor64(x, sign), amount), sign)


def magnitude64(x):
    return choose(is_negative64(x), negate64(x), x)


def add_saturating64(x, y):
    total = add64(x, y)
    return choose(less64(total, x), literal(2**64 - 1), total)


def saturated64(x, overflow, result):
    limit = choose(is_negative64(x), literal(2**63), literal(2**63 - 1))
    return choose(is_negative64(overflow), limit, result)


def sadd_saturating64(x, y):
    total = add64(x, y)
    return saturated64(x, and64(xor64(x, total), xor64(y, total)), total)


def ssub_saturating64(x, y):
    difference = sub64(x, y)
    return saturated64(x, and64(xor64(x, y), xor64(x, difference)), difference)


def smulhi64(x, y):
    left = sub64(mulhi64(x, y), choose(is_negative64(x), y, literal(0)))
    return sub64(left, choose(is_negative64(y), x, literal(0)))


def smin64(x, y):
    return choose(sless64(y, x), y, x)


def smax64(x, y):
    return choose(sless64(x, y), y, x)


def extracted64(shift, x, end, count):
    return choose(count, shift(shl64(x, Expr.u32(64) - end), Expr.u32(64) - count), literal(0))


def extract64(shift):
    def form(x, offset, count):
        offset, count = field(offset, count, 64)
        return extracted64(shift, x, offset + count, count)

    return form


def sign_extend64(x, count):
    count = Expr.min(count, 64)
    return extracted64(sshr64, x, count, count)


def insert64(x, bits, offset, count):
    offset, count = field(offset, count, 64)
    ones = choose(count, shr64(literal(2**64 - 1), Expr.u32(64) - count), literal(0))
    mask = shl64(ones, offset)
    return or64(and64(x, not64(mask)), and64(shl64(bits, offset), mask))


def sign64(x):
    return choose(is_negative64(x), literal(2**64 - 1), choose(zero64(x), literal(0), literal(1)))


# The functions of pairs; what else they take are words.
PAIRS = {
    "add": add64,
    "sub": sub64,
    "mul": mul64,
    "negate": negate64,
    "abs_diff": absolute_difference64,
    "min": min64,
    "max": max64,
    "and": and64,
    "or": or64,
    "xor": xor64,
    "not": not64,
    "and_not": lambda x, y: and64(x, not64(y)),
    "shl": shl64,
    "shr": shr64,
    "rotl": rotl64,
    "rotr": rotr64,
    "popcount": popcount64,
    "clz": clz64,
    "ctz": ctz64,
    "reverse_bits": lambda x: Pair(Expr.reverse_bits(x.high), Expr.reverse_bits(x.low)),
    "reverse_bytes": lambda x: Pair(reverse_bytes(x.high), reverse_bytes(x.low)),
    "eq": equal64,
    "ne": lambda x, y: otherwise(equal64(x, y)),
    "lt": less64,
    "gt": lambda x, y: less64(y, x),
    "le": lambda x, y: otherwise(less64(y, x)),
    "ge": lambda x, y: otherwise(less64(x, y)),
    "is_zero": zero64,
    "add_saturating": add_saturating64,
    "sub_saturating": lambda x, y: sub64(max64(x, y), y),
    "mulhi": mulhi64,
    "hadd": mean64(and64, add64, shr64),
    "rhadd": mean64(or64, sub64, shr64),
    "clamp": lambda x, low, high: min64(max64(x, low), high),
    "extract_bits": extract64(shr64),
    "insert_bits": insert64,
    "first_leading_bit": lambda x: Expr.u32(63) - clz64(x),
    "first_trailing_bit": lambda x: select(zero64(x), ALL, ctz64(x)),
    "sshr": sshr64,
    "slt": lambda x, y: truth(sless64(x, y)),
    "sgt": lambda x, y: truth(sless64(y, x)),
    "sle": lambda x, y: truth(otherwise(less64(biased(y), biased(x)))),
    "sge": lambda x, y: truth(otherwise(less64(biased(x), biased(y)))),
    "smin": smin64,
    "smax": smax64,
    "sclamp": lambda x, low, high: smin64(smax64(x, low), high),
    "sabs": magnitude64,
    "sign": sign64,
    "sadd_saturating": sadd_saturating64,
    "ssub_saturating": ssub_saturating64,
    "smulhi": smulhi64,
    "shadd": mean64(and64, add64, sshr64),
    "srhadd": mean64(or64, sub64, sshr64),
    "sextract_bits": extract64(sshr64),
    "sign_extend": sign_extend64,
    "sfirst_leading_bit": lambda x: Expr.u32(63) - clz64(xor64(x, signs64(x))),
}


def of_words(function, types):
    """The function of pairs as one of expressions: of U64 where `types` says so."""
    return lambda *args: packed(
        function(*(lanes(arg) if kind == U64 else arg for arg, kind in zip(args, types, strict=True)))
    )


class Writer:
    """Collects the statements of a form."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.numbers = itertools.count()

    def let(self, value) -> Expr:
        if isinstance(value, Pair):
            return Pair(*map(self.let, value))
        name = f"h{next(self.numbers)}"
        self.nodes.append(Node.let(name, value))
        return Expr.var(name)

    def whole(self, value) -> Pair:
        """The pair bound as one U64: a choice between two is made once, and not for each word."""
        return lanes(self.let(packed(value)))

    def variable(self, value) -> str:
        name = f"v{next(self.numbers)}"
        self.nodes.append(Node.let(name, value))
        return name

    def set(self, name, value) -> None:
        self.nodes.append(Node.assign(name, value))

    def loop(self, turns, write) -> None:
        outer, self.nodes = self.nodes, []
        write()
        outer.append(Node.loop(f"turn{next(self.numbers)}", 0, turns, self.nodes))
        self.nodes = outer

    def if_(self, condition, write) -> None:
        outer, self.nodes = self.nodes, []
        write()
        outer.append(Node.if_(condition, self.nodes))
        self.nodes = outer

    def stop(self) -> None:
        self.nodes.append(Node.break_())


def gcd(w, a, b):
    """Stein's algorithm."""
    x, y = w.variable(a >> Expr.ctz(a)), w.variable(select(a, b, 0))

    def turn():
        w.if_(Expr.eq(Expr.var(y), 0), w.stop)
        odd = w.let(Expr.var(y) >> Expr.ctz(Expr.var(y)))
        w.set(y, Expr.abs_diff(Expr.var(x), odd))
        w.set(x, Expr.min(Expr.var(x), odd))

    w.loop(64, turn)
    either = a | b
    return select(Expr.logical_and(a, b), Expr.var(x) << Expr.ctz(either), either)


def gcd64(w, a, b):
    x = w.variable(packed(shr64(a, ctz64(a))))
    y = w.variable(packed(choose(zero64(a), literal(0), b)))

    def turn():
        now = lanes(Expr.var(y))
        w.if_(zero64(now), w.stop)
        odd = w.let(shr64(now, ctz64(now)))
        before = lanes(Expr.var(x))
        w.set(y, packed(absolute_difference64(before, odd)))
        w.set(x, packed(min64(before, odd)))

    w.loop(128, turn)
    either = or64(a, b)
    return choose(Expr.logical_or(zero64(a), zero64(b)), either, shl64(lanes(Expr.var(x)), ctz64(either)))


def divide64(w, a, b, want_quotient):
    """Long division, one bit a turn."""
    names = [w.variable(value) for value in (a.low, a.high, Expr.u32(0), Expr.u32(0))]
    quotient_low, quotient_high, rest_low, rest_high = names
    value = Expr.var

    def turn():
        one = Expr.u32(1)
        w.set(rest_high, from_the_left(value(rest_high), value(rest_low), one))
        w.set(rest_low, from_the_left(value(rest_low), value(quotient_high), one))
        w.set(quotient_high, from_the_left(value(quotient_high), value(quotient_low), one))
        w.set(quotient_low, value(quotient_low) << 1)
        rest = Pair(value(rest_low), value(rest_high))

        def take():
            less = sub64(rest, b)
            low = w.let(less.low)
            w.set(rest_high, less.high)
            w.set(rest_low, low)
            w.set(quotient_low, value(quotient_low) | 1)

        w.if_(w.let(otherwise(less64(rest, b))), take)

    w.loop(64, turn)
    low, high = (value(name) for name in (names[:2] if want_quotient else names[2:]))
    by_zero = w.let(zero64(b))
    return Pair(select(by_zero, 0, low), select(by_zero, 0, high))


def div64(w, a, b):
    return divide64(w, a, b, True)


def mod64(w, a, b):
    return divide64(w, a, b, False)


def sdiv64(w, a, b):
    quotient = div64(w, w.whole(magnitude64(a)), w.whole(magnitude64(b)))
    return choose(is_negative64(a) ^ is_negative64(b), negate64(quotient), quotient)


def smod64(w, a, b):
    rest = mod64(w, w.whole(magnitude64(a)), w.whole(magnitude64(b)))
    return choose(is_negative64(a), negate64(rest), rest)


LOOPS = {
    "math.gcd": gcd,
    "math.lcm": lambda w, a, b: (a // gcd(w, a, b)) * b,
    "u64.gcd": lambda w, a, b: packed(gcd64(w, lanes(a), lanes(b))),
    "u64.lcm": lambda w, a, b: packed(mul64(div64(w, lanes(a), w.whole(gcd64(w, lanes(a), lanes(b)))), lanes(b))),
    "u64.div": lambda w, a, b: packed(div64(w, lanes(a), lanes(b))),
    "u64.mod": lambda w, a, b: packed(mod64(w, lanes(a), lanes(b))),
    "u64.sdiv": lambda w, a, b: packed(sdiv64(w, lanes(a), lanes(b))),
    "u64.smod": lambda w, a, b: packed(smod64(w, lanes(a), lanes(b))),
}


def forms(signature_of) -> dict[str, Callable[..., Expr]]:
    """The forms without statements; `signature_of` gives the signature of an id."""
    made = dict(WORDS)
    made["u64.mul_u32"] = lambda x, y: packed(product(x, y))
    for name, function in PAIRS.items():
        made[f"u64.{name}"] = of_words(function, signature_of(f"primitive.u64.{name}").inputs)
    return made
