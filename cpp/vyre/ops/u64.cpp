// primitive.u64.*: 64-bit arithmetic on pairs of u32 lanes, lane 0 low (docs/semantics.md). No target needs 64-bit
// integers. Amounts of shifts and rotations are U32, masked with 63; x / 0 = 0 and x % 0 = 0, as for U32.
#include "vyre/ops/u64.hpp"

#include "vyre/ir/ops.hpp"
#include "vyre/ops/body.hpp"
#include "vyre/ops/families.hpp"

namespace vyre::ops {
namespace {

using ir::BinOp;
using ir::DataType;
using ir::OpExample;
using ir::OpLaw;
using ir::UnOp;
using ir::expr::select;

using Expr = ir::ExprHandle;

// Two lanes, each an expression that may be used more than once.
struct Pair {
  Expr low, high;
};

Expr op(BinOp operation, Expr left, Expr right) { return ir::expr::binary(operation, std::move(left), std::move(right)); }
Expr op(UnOp operation, Expr operand) { return ir::expr::unary(operation, std::move(operand)); }
Expr packed(const Pair& pair) { return pack64(pair.low, pair.high); }

Pair parameter(const Body& body, std::size_t k) { return {ir::expr::lane(body.parameter(k), 0), ir::expr::lane(body.parameter(k), 1)}; }

// The expressions below are built from handles, and one handle is evaluated once: sharing is wanted.
Expr add(Body& body, const Pair& a, const Pair& b) {
  const Expr low = body.let("low", op(BinOp::Add, a.low, b.low));
  // The sum of the low lanes wrapped around exactly if it is less than either of them.
  const Expr carry = op(BinOp::Lt, low, a.low);
  return pack64(low, op(BinOp::Add, op(BinOp::Add, a.high, b.high), carry));
}

Pair difference(const Pair& a, const Pair& b) {
  const Expr borrow = op(BinOp::Lt, a.low, b.low);
  return {op(BinOp::Sub, a.low, b.low), op(BinOp::Sub, op(BinOp::Sub, a.high, b.high), borrow)};
}

Expr equal(const Pair& a, const Pair& b) { return op(BinOp::And, op(BinOp::Eq, a.low, b.low), op(BinOp::Eq, a.high, b.high)); }

Expr less(const Pair& a, const Pair& b) {
  return op(BinOp::Or, op(BinOp::Lt, a.high, b.high), op(BinOp::And, op(BinOp::Eq, a.high, b.high), op(BinOp::Lt, a.low, b.low)));
}

Expr is_zero(const Pair& a) { return op(BinOp::Eq, op(BinOp::BitOr, a.low, a.high), lit(0)); }
Expr negated(const Expr& truth) { return op(BinOp::BitXor, truth, lit(1)); }

// The 32 bits at `by` above the bottom of (low, high) shifted left: high << by, filled up from low. Shl and Shr mask
// amounts with 31, so `low >> (32 - by)` would be wrong for 0; halving first makes it right.
Expr funnel_left(const Expr& high, const Expr& low, const Expr& by) {
  const Expr rest = op(BinOp::Shr, op(BinOp::Shr, low, lit(1)), op(BinOp::BitXor, by, lit(31)));
  return op(BinOp::BitOr, op(BinOp::Shl, high, by), rest);
}
Expr funnel_right(const Expr& high, const Expr& low, const Expr& by) {
  const Expr rest = op(BinOp::Shl, op(BinOp::Shl, high, lit(1)), op(BinOp::BitXor, by, lit(31)));
  return op(BinOp::BitOr, op(BinOp::Shr, low, by), rest);
}

struct Amount {
  Expr swap;  // non-zero when the amount is 32..63: the lanes move by one place
  Expr rest;  // 0..31
};
Amount amount(Body& body) {
  const Expr given = body.parameter(1);
  return {body.let("swap", op(BinOp::BitAnd, given, lit(32))), body.let("rest", op(BinOp::BitAnd, given, lit(31)))};
}

Expr shift_left(Body& body) {
  const Pair a = parameter(body, 0);
  const Amount by = amount(body);
  const Expr low = body.let("low", select(by.swap, lit(0), a.low));
  const Expr high = body.let("high", select(by.swap, a.low, a.high));
  return pack64(op(BinOp::Shl, low, by.rest), funnel_left(high, low, by.rest));
}

Expr shift_right(Body& body) {
  const Pair a = parameter(body, 0);
  const Amount by = amount(body);
  const Expr low = body.let("low", select(by.swap, a.high, a.low));
  const Expr high = body.let("high", select(by.swap, lit(0), a.high));
  return pack64(funnel_right(high, low, by.rest), op(BinOp::Shr, high, by.rest));
}

Expr rotate(Body& body, Expr (*funnel)(const Expr&, const Expr&, const Expr&)) {
  const Pair a = parameter(body, 0);
  const Amount by = amount(body);
  const Expr low = body.let("low", select(by.swap, a.high, a.low));
  const Expr high = body.let("high", select(by.swap, a.low, a.high));
  // To the left, each lane is filled up from the other one; to the right, likewise from above.
  return funnel == funnel_left ? pack64(funnel(low, high, by.rest), funnel(high, low, by.rest))
                               : pack64(funnel(high, low, by.rest), funnel(low, high, by.rest));
}

// A digit of 16 bits: the quotient of (rest, next 16 bits) by a divisor of 32 bits whose highest bit is set and which is above `rest`. The
// estimate from the divisor's upper half is at most two too large (Knuth, The Art of Computer Programming, volume 2, section 4.3.1).
struct Digit {
  Expr quotient, rest;
};
Digit digit(Body& body, const std::string& name, const Expr& rest, const Expr& next, const Expr& divisor) {
  const Expr upper = op(BinOp::Shr, divisor, lit(16)), lower = op(BinOp::BitAnd, divisor, lit(0xFFFF));
  const Expr estimate = body.let(name + "_estimate", op(BinOp::Div, rest, upper));
  const Expr left = op(BinOp::Sub, rest, op(BinOp::Mul, estimate, upper));
  const Expr have = body.let(name + "_have", op(BinOp::BitOr, op(BinOp::Shl, left, lit(16)), next));
  const Expr need = body.let(name + "_need", op(BinOp::Mul, estimate, lower));
  const Expr lacks = body.let(name + "_lacks", op(BinOp::Sub, need, have));
  const Expr once = op(BinOp::Lt, have, need), twice = op(BinOp::BitAnd, once, op(BinOp::Lt, divisor, lacks));
  const Expr excess = body.let(name + "_excess", op(BinOp::Add, once, twice));
  return {op(BinOp::Sub, estimate, excess), body.let(name, op(BinOp::Sub, op(BinOp::Mul, excess, divisor), lacks))};
}

// The quotient of two words by one has two digits. A divisor of one word divides the high word first, and what is left with the low word
// then. For a divisor of two words, its highest 32 bits divide half of the dividend, and what that gives, less one, is the quotient or one
// less (Warren, Hacker's Delight, section 9-5). Of a divisor of zero, every quotient is 0.
Expr divide(Body& body) {
  const Pair a = parameter(body, 0);
  const Pair b = parameter(body, 1);
  const Expr two_words = op(BinOp::Ne, b.high, lit(0));
  const Expr high = body.let("high", op(BinOp::Div, a.high, b.low));
  const Expr left = op(BinOp::Sub, a.high, op(BinOp::Mul, high, b.low));
  const Expr top = body.let("top", select(two_words, b.high, b.low));
  const Expr by = body.let("by", op(UnOp::Clz, top));
  const Expr divisor = body.let("divisor", funnel_left(top, select(two_words, b.low, lit(0)), by));
  const Expr upper = select(two_words, op(BinOp::Shr, a.high, lit(1)), funnel_left(left, a.low, by));
  const Expr lower = body.let("lower", select(two_words, funnel_right(a.high, a.low, lit(1)), op(BinOp::Shl, a.low, by)));
  const Digit first = digit(body, "first", upper, op(BinOp::Shr, lower, lit(16)), divisor);
  const Digit second = digit(body, "second", first.rest, op(BinOp::BitAnd, lower, lit(0xFFFF)), divisor);
  const Expr digits = body.let("digits", op(BinOp::Add, op(BinOp::Shl, first.quotient, lit(16)), second.quotient));
  const Expr estimate = op(BinOp::Shr, digits, op(BinOp::BitXor, by, lit(31)));
  const Expr low = body.let("low", op(BinOp::Sub, estimate, op(BinOp::Ne, estimate, lit(0))));
  const Pair product{op(BinOp::Mul, low, b.low), op(BinOp::Add, op(BinOp::MulHigh, low, b.low), op(BinOp::Mul, low, b.high))};
  const Expr exact = op(BinOp::Add, low, negated(less(difference(a, product), b)));
  return pack64(select(two_words, exact, digits), select(two_words, lit(0), high));
}

Expr lanewise(Body& body, BinOp operation) {
  const Pair a = parameter(body, 0);
  const Pair b = parameter(body, 1);
  return pack64(op(operation, a.low, b.low), op(operation, a.high, b.high));
}

using Spec = ir::OpTable::Spec;

// Each comparison from equal() and less(): which of them, of what, and whether the opposite holds.
Spec compare64(std::string_view name, std::string summary, std::array<std::uint32_t, 3> less_equal_greater,
               const std::function<Expr(const Pair&, const Pair&)>& value) {
  // The pairs differ in the low lane, in nothing, and in both lanes the opposite way.
  std::vector<OpExample> examples{{{u64(0x100000001), u64(0x100000002)}, u32(less_equal_greater[0])},
                                  {{u64(0x100000001), u64(0x100000001)}, u32(less_equal_greater[1])},
                                  {{u64(0x100000000), u64(0x0FFFFFFFF)}, u32(less_equal_greater[2])}};
  const bool symmetric = less_equal_greater[0] == less_equal_greater[2];
  return op64(name, {{DataType::U64, DataType::U64}, DataType::U32}, std::move(summary),
              symmetric ? std::vector{OpLaw::Commutative} : std::vector<OpLaw>{}, std::move(examples),
              [&](Body& body) { return value(parameter(body, 0), parameter(body, 1)); });
}

}  // namespace

std::vector<Spec> u64_ops() {
  const ir::OpSignature binary{{DataType::U64, DataType::U64}, DataType::U64};
  const ir::OpSignature unary{{DataType::U64}, DataType::U64};
  const ir::OpSignature shift{{DataType::U64, DataType::U32}, DataType::U64};
  const ir::OpSignature count{{DataType::U64}, DataType::U32};
  const std::vector<OpLaw> ring{OpLaw::Commutative, OpLaw::Associative};
  const std::vector<OpLaw> lattice{OpLaw::Commutative, OpLaw::Associative, OpLaw::Idempotent};
  return {
      op64("add", binary, "Sum modulo 2^64.", ring,
           {{{u64(0xFFFFFFFF), u64(1)}, u64(0x100000000)}, {{u64(kAll), u64(1)}, u64(0)}, {{u64(kAll), u64(kAll)}, u64(kAll - 1)}},
           [](Body& body) { return add(body, parameter(body, 0), parameter(body, 1)); }),
      op64("sub", binary, "Difference modulo 2^64.", {}, {{{u64(0x100000000), u64(1)}, u64(0xFFFFFFFF)}, {{u64(0), u64(1)}, u64(kAll)}},
           [](Body& body) { return packed(difference(parameter(body, 0), parameter(body, 1))); }),
      op64("mul", binary, "Low 64 bits of the product.", ring,
           {{{u64(0xFFFFFFFF), u64(0xFFFFFFFF)}, u64(0xFFFFFFFE00000001)},
            {{u64(0x100000000), u64(0x100000000)}, u64(0)},
            {{u64(10000000000), u64(1000000000)}, u64(10000000000000000000u)}},
           [](Body& body) {
             const Pair a = parameter(body, 0);
             const Pair b = parameter(body, 1);
             const Expr cross = op(BinOp::Add, op(BinOp::Mul, a.low, b.high), op(BinOp::Mul, a.high, b.low));
             return pack64(op(BinOp::Mul, a.low, b.low), op(BinOp::Add, op(BinOp::MulHigh, a.low, b.low), cross));
           }),
      op64("mul_u32", {{DataType::U32, DataType::U32}, DataType::U64}, "The whole product of two U32.", {OpLaw::Commutative},
           {{{u32(0xFFFFFFFF), u32(0xFFFFFFFF)}, u64(0xFFFFFFFE00000001)}, {{u32(0x10000), u32(0x10000)}, u64(0x100000000)}},
           [](Body& body) {
             return pack64(op(BinOp::Mul, body.parameter(0), body.parameter(1)), op(BinOp::MulHigh, body.parameter(0), body.parameter(1)));
           }),
      op64("div", binary, "Truncating quotient; x / 0 = 0.", {},
           {{{u64(10000000000000000000u), u64(10000000000)}, u64(1000000000)},
            {{u64(kAll), u64(kTop)}, u64(1)},
            {{u64(kAll), u64(1)}, u64(kAll)},
            {{u64(7), u64(0)}, u64(0)}},
           divide),
      op64("mod", binary, "Remainder; x % 0 = 0.", {},
           {{{u64(10000000000000000007u), u64(10000000000)}, u64(7)}, {{u64(kAll), u64(kTop)}, u64(kTop - 1)}, {{u64(7), u64(0)}, u64(0)}},
           [](Body& body) {
             const Pair b = parameter(body, 1);
             const Expr quotient = ir::expr::call("primitive.u64.div", {body.parameter(0), body.parameter(1)});
             const Expr product = ir::expr::call("primitive.u64.mul", {quotient, body.parameter(1)});
             const Expr rest = body.let("rest", ir::expr::call("primitive.u64.sub", {body.parameter(0), product}));
             return select(is_zero(b), ir::expr::u64(0), rest);
           }),
      op64("negate", unary, "Two's complement.", {OpLaw::Involution},
           {{{u64(1)}, u64(kAll)}, {{u64(0)}, u64(0)}, {{u64(0x100000000)}, u64(0xFFFFFFFF00000000)}},
           [](Body& body) {
             return packed(difference({lit(0), lit(0)}, parameter(body, 0)));
           }),
      op64("abs_diff", binary, "Unsigned distance of a and b.", {OpLaw::Commutative},
           {{{u64(1), u64(0x100000000)}, u64(0xFFFFFFFF)}, {{u64(0x100000000), u64(1)}, u64(0xFFFFFFFF)}},
           [](Body& body) {
             const Pair a = parameter(body, 0);
             const Pair b = parameter(body, 1);
             return select(less(a, b), packed(difference(b, a)), packed(difference(a, b)));
           }),
      op64("min", binary, "Unsigned minimum.", lattice, {{{u64(0x100000000), u64(0xFFFFFFFF)}, u64(0xFFFFFFFF)}},
           [](Body& body) { return select(less(parameter(body, 1), parameter(body, 0)), body.parameter(1), body.parameter(0)); }),
      op64("max", binary, "Unsigned maximum.", lattice, {{{u64(0x100000000), u64(0xFFFFFFFF)}, u64(0x100000000)}},
           [](Body& body) { return select(less(parameter(body, 0), parameter(body, 1)), body.parameter(1), body.parameter(0)); }),

      op64("and", binary, "Bitwise and.", lattice, {{{u64(0xF0F0F0F0F0F0F0F0), u64(0xFFFF0000FFFF0000)}, u64(0xF0F00000F0F00000)}},
           [](Body& body) { return lanewise(body, BinOp::BitAnd); }),
      op64("or", binary, "Bitwise or.", lattice, {{{u64(0xF0F0F0F0F0F0F0F0), u64(0xFFFF0000FFFF0000)}, u64(0xFFFFF0F0FFFFF0F0)}},
           [](Body& body) { return lanewise(body, BinOp::BitOr); }),
      op64("xor", binary, "Bitwise exclusive or.", ring, {{{u64(0xF0F0F0F0F0F0F0F0), u64(0xFFFF0000FFFF0000)}, u64(0x0F0FF0F00F0FF0F0)}},
           [](Body& body) { return lanewise(body, BinOp::BitXor); }),
      op64("not", unary, "Ones' complement.", {OpLaw::Involution}, {{{u64(0x00000000FFFFFFFF)}, u64(0xFFFFFFFF00000000)}},
           [](Body& body) {
             const Pair a = parameter(body, 0);
             return pack64(op(UnOp::BitNot, a.low), op(UnOp::BitNot, a.high));
           }),
      op64("shl", shift, "Left shift; the amount is masked with 63.", {},
           {{{u64(1), u32(63)}, u64(kTop)},
            {{u64(1), u32(32)}, u64(0x100000000)},
            {{u64(3), u32(31)}, u64(0x180000000)},
            {{u64(5), u32(64)}, u64(5)}},
           shift_left),
      op64("shr", shift, "Logical right shift; the amount is masked with 63.", {},
           {{{u64(kTop), u32(63)}, u64(1)},
            {{u64(0x100000000), u32(32)}, u64(1)},
            {{u64(0x180000000), u32(31)}, u64(3)},
            {{u64(5), u32(64)}, u64(5)}},
           shift_right),
      op64("rotl", shift, "Left rotation; the amount is masked with 63.", {},
           {{{u64(0x0123456789ABCDEF), u32(8)}, u64(0x23456789ABCDEF01)},
            {{u64(0x0123456789ABCDEF), u32(32)}, u64(0x89ABCDEF01234567)},
            {{u64(0x0123456789ABCDEF), u32(64)}, u64(0x0123456789ABCDEF)}},
           [](Body& body) { return rotate(body, funnel_left); }),
      op64("rotr", shift, "Right rotation; the amount is masked with 63.", {},
           {{{u64(0x0123456789ABCDEF), u32(8)}, u64(0xEF0123456789ABCD)},
            {{u64(0x0123456789ABCDEF), u32(32)}, u64(0x89ABCDEF01234567)},
            {{u64(0x0123456789ABCDEF), u32(64)}, u64(0x0123456789ABCDEF)}},
           [](Body& body) { return rotate(body, funnel_right); }),
      op64("popcount", count, "Number of one bits, 0..64.", {}, {{{u64(0)}, u32(0)}, {{u64(kAll)}, u32(64)}, {{u64(0x100000003)}, u32(3)}},
           [](Body& body) {
             const Pair a = parameter(body, 0);
             return op(BinOp::Add, op(UnOp::Popcount, a.low), op(UnOp::Popcount, a.high));
           }),
      op64("clz", count, "Leading zero bits; of 0 it is 64.", {},
           {{{u64(0)}, u32(64)}, {{u64(1)}, u32(63)}, {{u64(0x100000000)}, u32(31)}, {{u64(kTop)}, u32(0)}},
           [](Body& body) {
             const Pair a = parameter(body, 0);
             return select(a.high, op(UnOp::Clz, a.high), op(BinOp::Add, op(UnOp::Clz, a.low), lit(32)));
           }),
      op64("ctz", count, "Trailing zero bits; of 0 it is 64.", {},
           {{{u64(0)}, u32(64)}, {{u64(1)}, u32(0)}, {{u64(0x100000000)}, u32(32)}, {{u64(kTop)}, u32(63)}},
           [](Body& body) {
             const Pair a = parameter(body, 0);
             return select(a.low, op(UnOp::Ctz, a.low), op(BinOp::Add, op(UnOp::Ctz, a.high), lit(32)));
           }),
      op64("reverse_bits", unary, "Bit i goes to 63 - i.", {OpLaw::Involution},
           {{{u64(1)}, u64(kTop)}, {{u64(0xB)}, u64(0xD000000000000000)}},
           [](Body& body) {
             const Pair a = parameter(body, 0);
             return pack64(op(UnOp::ReverseBits, a.high), op(UnOp::ReverseBits, a.low));
           }),

      compare64("eq", "1 if equal, else 0.", {0, 1, 0}, [](const Pair& a, const Pair& b) { return equal(a, b); }),
      compare64("ne", "1 if different, else 0.", {1, 0, 1}, [](const Pair& a, const Pair& b) { return negated(equal(a, b)); }),
      compare64("lt", "1 if a < b, unsigned, else 0.", {1, 0, 0}, [](const Pair& a, const Pair& b) { return less(a, b); }),
      compare64("gt", "1 if a > b, unsigned, else 0.", {0, 0, 1}, [](const Pair& a, const Pair& b) { return less(b, a); }),
      compare64("le", "1 if a <= b, unsigned, else 0.", {1, 1, 0}, [](const Pair& a, const Pair& b) { return negated(less(b, a)); }),
      compare64("ge", "1 if a >= b, unsigned, else 0.", {0, 1, 1}, [](const Pair& a, const Pair& b) { return negated(less(a, b)); }),
      op64("is_zero", count, "1 if zero, else 0.", {}, {{{u64(0)}, u32(1)}, {{u64(1)}, u32(0)}, {{u64(0x100000000)}, u32(0)}},
           [](Body& body) { return is_zero(parameter(body, 0)); }),
  };
}

}  // namespace vyre::ops
