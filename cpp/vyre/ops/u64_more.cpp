// primitive.u64.*: signed forms on the same 64 bits in two's complement, and what the 32-bit families have beside the operators. The
// bodies call the operators of u64.cpp.

#include "vyre/ir/ops.hpp"
#include "vyre/ops/body.hpp"
#include "vyre/ops/families.hpp"
#include "vyre/ops/u64.hpp"

namespace vyre::ops {
namespace {

using ir::BinOp;
using ir::DataType;
using ir::OpExample;
using ir::OpLaw;
using ir::expr::binary;
using ir::expr::lane;
using ir::expr::select;
using Expr = ir::ExprHandle;
using Spec = ir::OpTable::Spec;

constexpr DataType w = DataType::U64, u = DataType::U32;
constexpr std::uint64_t kMost = kTop - 1;

Expr lit64(std::uint64_t value) { return ir::expr::u64(value); }
Expr call(std::string_view name, std::vector<Expr> arguments) {
  return ir::expr::call("primitive.u64." + std::string(name), std::move(arguments));
}
Expr is_negative64(const Expr& a) { return binary(BinOp::Shr, lane(a, 1), lit(31)); }
// All 64 bits are the sign.
Expr signs(const Expr& a) {
  const Expr word = binary(BinOp::Sub, lit(0), is_negative64(a));
  return pack64(word, word);
}
// Orders signed numbers as unsigned ones.
Expr biased(const Expr& a) { return pack64(lane(a, 0), binary(BinOp::BitXor, lane(a, 1), lit(0x80000000))); }
Expr signed_less(const Expr& a, const Expr& b) { return call("lt", {biased(a), biased(b)}); }
Expr magnitude(const Expr& a) { return select(is_negative64(a), call("negate", {a}), a); }
Expr a(const Body& body) { return body.parameter(0); }
Expr b(const Body& body) { return body.parameter(1); }
ir::Value n(std::int64_t value) { return u64(static_cast<std::uint64_t>(value)); }
Expr is_true(const Expr& condition) { return binary(BinOp::Ne, condition, lit(0)); }

struct Field64 {
  Expr offset, count;  // the count is 0 or offset + count <= 64
};

Field64 field64(Body& body, std::size_t first) {
  const Expr offset = body.let("offset", binary(BinOp::Min, body.parameter(first), lit(64)));
  return {offset, body.let("count", binary(BinOp::Min, body.parameter(first + 1), binary(BinOp::Sub, lit(64), offset)))};
}

// `count` bits of `value` up to its bit `end`, by a shift right that fills up; 0 for no bits. Amounts are masked with 63.
Expr extracted(std::string_view shift_right, const Expr& value, const Expr& end, const Expr& count) {
  const Expr top = call("shl", {value, binary(BinOp::Sub, lit(64), end)});
  return select(count, call(shift_right, {top, binary(BinOp::Sub, lit(64), count)}), lit64(0));
}

// `result` unless the true value is outside of 64 signed bits, which the sign of `overflow` says; then the limit on the side of a.
Expr saturated64(const Body& body, const Expr& overflow, const Expr& result) {
  const Expr limit = select(is_negative64(body.parameter(0)), lit64(kTop), lit64(kMost));
  return select(is_negative64(overflow), limit, result);
}

Spec compare_signed(std::string_view name, std::string summary, std::array<std::uint32_t, 3> less_equal_greater,
                    const std::function<Expr(const Expr&, const Expr&)>& value) {
  std::vector<OpExample> examples{{{u64(kAll), u64(1)}, u32(less_equal_greater[0])},
                                  {{u64(kTop), u64(kTop)}, u32(less_equal_greater[1])},
                                  {{u64(kAll), u64(kAll - 1)}, u32(less_equal_greater[2])}};
  return op64(name, {{DataType::U64, DataType::U64}, DataType::U32}, std::move(summary), {}, std::move(examples),
              [&](Body& body) { return is_true(value(body.parameter(0), body.parameter(1))); });
}

Spec average(std::string_view name, std::string summary, std::vector<OpExample> examples, std::string_view shared, std::string_view half,
             std::string_view shift_right) {
  return op64(name, {{DataType::U64, DataType::U64}, DataType::U64}, std::move(summary), {OpLaw::Commutative, OpLaw::Idempotent},
              std::move(examples), [=](Body& body) {
                const Expr a = body.parameter(0), b = body.parameter(1);
                return call(half, {call(shared, {a, b}), call(shift_right, {call("xor", {a, b}), lit(1)})});
              });
}

}  // namespace

std::vector<Spec> u64_range_ops() {
  const ir::OpSignature binary64{{w, w}, w}, three{{w, w, w}, w};
  const std::vector<OpLaw> commutative{OpLaw::Commutative};
  return {
      op64("add_saturating", binary64, "Sum, or 2^64 - 1 when that is more.", {OpLaw::Commutative, OpLaw::Associative},
           {{{u64(0xFFFFFFFF), u64(1)}, u64(0x100000000)}, {{u64(kAll), u64(1)}, u64(kAll)}, {{u64(kTop), u64(kTop)}, u64(kAll)}},
           [&](Body& body) {
             const Expr sum = body.let("sum", call("add", {a(body), b(body)}));
             return select(call("lt", {sum, a(body)}), lit64(kAll), sum);
           }),
      op64("sub_saturating", binary64, "Difference, or 0 when that is less.", {},
           {{{u64(0x100000000), u64(1)}, u64(0xFFFFFFFF)}, {{u64(1), u64(0x100000000)}, u64(0)}},
           [&](Body& body) {
             return call("sub", {call("max", {a(body), b(body)}), b(body)});
           }),
      op64("mulhi", binary64, "High 64 bits of the 128-bit product.", commutative,
           {{{u64(kAll), u64(kAll)}, u64(kAll - 1)}, {{u64(0x100000000), u64(0x100000000)}, u64(1)}, {{u64(kTop), u64(2)}, u64(1)}},
           [&](Body& body) {
             const auto product = [&](std::uint32_t i, std::uint32_t k) { return call("mul_u32", {lane(a(body), i), lane(b(body), k)}); };
             const auto wide = [](const Expr& word) { return pack64(word, lit(0)); };
             // Neither sum wraps: (2^32 - 1)^2 + 2^32 - 1 is below 2^64.
             const Expr carried = binary(BinOp::MulHigh, lane(a(body), 0), lane(b(body), 0));
             const Expr first = body.let("first", call("add", {product(0, 1), wide(carried)}));
             const Expr second = body.let("second", call("add", {product(1, 0), wide(lane(first, 0))}));
             const Expr high = call("add", {product(1, 1), wide(lane(first, 1))});
             return call("add", {high, wide(lane(second, 1))});
           }),
      average("hadd", "Half of the sum, rounded down; the sum does not wrap.",
              {{{u64(1), u64(2)}, u64(1)}, {{u64(kAll), u64(kAll - 2)}, u64(kAll - 1)}}, "and", "add", "shr"),
      average("rhadd", "Half of the sum, rounded up; the sum does not wrap.",
              {{{u64(1), u64(2)}, u64(2)}, {{u64(kAll), u64(kAll - 1)}, u64(kAll)}}, "or", "sub", "shr"),
      op64("clamp", three, "a, but at least b and at most c; c when b > c.", {},
           {{{u64(kTop), u64(1), u64(kAll)}, u64(kTop)},
            {{u64(0), u64(0x100000000), u64(kAll)}, u64(0x100000000)},
            {{u64(kAll), u64(1), u64(0x100000000)}, u64(0x100000000)},
            {{u64(5), u64(9), u64(1)}, u64(1)}},
           [&](Body& body) {
             return call("min", {call("max", {a(body), b(body)}), body.parameter(2)});
           }),
  };
}

std::vector<Spec> u64_bit_ops() {
  const ir::OpSignature binary64{{w, w}, w}, unary64{{w}, w}, position{{w}, u}, bits{{w, u, u}, w};
  const ir::Value none = u32(0xFFFFFFFF);
  return {
      op64("and_not", binary64, "The bits of a that are not set in b.", {},
           {{{u64(0xF0F0F0F0F0F0F0F0), u64(0xFFFF0000FFFF0000)}, u64(0x0000F0F00000F0F0)}},
           [&](Body& body) {
             return call("and", {a(body), call("not", {b(body)})});
           }),
      op64("reverse_bytes", unary64, "Byte i goes to 7 - i.", {OpLaw::Involution}, {{{u64(0x0102030405060708)}, u64(0x0807060504030201)}},
           [&](Body& body) {
             const auto turned = [&](std::uint32_t k) { return ir::expr::call("primitive.bitwise.reverse_bytes", {lane(a(body), k)}); };
             return pack64(turned(1), turned(0));
           }),
      op64("extract_bits", bits, "c bits of a from bit b up, as an unsigned number; b is at most 64 and c at most 64 - b.", {},
           {{{u64(0x0123456789ABCDEF), u32(24), u32(16)}, u64(0x6789)},
            {{u64(kTop), u32(63), u32(100)}, u64(1)},
            {{u64(kAll), u32(0), u32(64)}, u64(kAll)},
            {{u64(kAll), u32(64), u32(1)}, u64(0)},
            {{u64(kAll), u32(3), u32(0)}, u64(0)}},
           [&](Body& body) {
             const Field64 f = field64(body, 1);
             return extracted("shr", a(body), binary(BinOp::Add, f.offset, f.count), f.count);
           }),
      op64("insert_bits", {{w, w, u, u}, w},
           "a with its d bits from bit c up replaced by the low bits of b; c is at most 64 and d at most 64 - c.", {},
           {{{u64(0x0123456789ABCDEF), u64(0xFFFF), u32(24), u32(16)}, u64(0x012345FFFFABCDEF)},
            {{u64(0), u64(kAll), u32(60), u32(9)}, u64(0xF000000000000000)},
            {{u64(1), u64(kAll), u32(64), u32(9)}, u64(1)},
            {{u64(1), u64(kTop), u32(0), u32(64)}, u64(kTop)}},
           [&](Body& body) {
             const Field64 f = field64(body, 2);
             const Expr ones = select(f.count, call("shr", {lit64(kAll), binary(BinOp::Sub, lit(64), f.count)}), lit64(0));
             const Expr mask = body.let("mask", call("shl", {ones, f.offset}));
             const Expr placed = call("and", {call("shl", {b(body), f.offset}), mask});
             return call("or", {call("and", {a(body), call("not", {mask})}), placed});
           }),
      op64("first_leading_bit", position, "Position of the highest one bit, 0..63; of 0 it is 2^32 - 1.", {},
           {{{u64(0)}, none}, {{u64(1)}, u32(0)}, {{u64(0x100000000)}, u32(32)}, {{u64(kTop)}, u32(63)}},
           [&](Body& body) { return binary(BinOp::Sub, lit(63), call("clz", {a(body)})); }),
      op64("first_trailing_bit", position, "Position of the lowest one bit, 0..63; of 0 it is 2^32 - 1.", {},
           {{{u64(0)}, none}, {{u64(1)}, u32(0)}, {{u64(0x100000000)}, u32(32)}, {{u64(kTop)}, u32(63)}},
           [&](Body& body) { return select(call("is_zero", {a(body)}), lit(0xFFFFFFFF), call("ctz", {a(body)})); }),
  };
}

std::vector<Spec> u64_divisor_ops() {
  const ir::OpSignature binary64{{w, w}, w};
  const std::vector<OpLaw> lattice{OpLaw::Commutative, OpLaw::Associative, OpLaw::Idempotent};
  return {
      op64("gcd", binary64, "Greatest common divisor; gcd(a, 0) = a.", lattice,
           {{{u64(12), u64(18)}, u64(6)},
            {{u64(0), u64(kTop)}, u64(kTop)},
            {{u64(kTop), u64(0)}, u64(kTop)},
            {{u64(0x300000000), u64(0x500000000)}, u64(0x100000000)},
            {{u64(12200160415121876738u), u64(7540113804746346429u)}, u64(1)}},
           [&](Body& body) {
             // The algorithm of primitive.math.gcd: x * y is below 2^128 at first, and 0 after 128 rounds.
             const Expr x = body.let("x", call("shr", {a(body), call("ctz", {a(body)})}));
             const Expr y = body.let("y", select(call("is_zero", {a(body)}), lit64(0), b(body)));
             body.repeat(128, [&] {
               body.break_if(call("is_zero", {y}));
               const Expr odd = body.let("odd", call("shr", {y, call("ctz", {y})}));
               body.assign(y, call("abs_diff", {x, odd}));
               body.assign(x, call("min", {x, odd}));
             });
             const Expr either = body.let("either", call("or", {a(body), b(body)}));
             const Expr one_is_zero = binary(BinOp::Or, call("is_zero", {a(body)}), call("is_zero", {b(body)}));
             return select(one_is_zero, either, call("shl", {x, call("ctz", {either})}));
           }),
      op64("lcm", binary64, "Low 64 bits of the least common multiple; lcm(a, 0) = 0.", {OpLaw::Commutative, OpLaw::Idempotent},
           {{{u64(4), u64(6)}, u64(12)}, {{u64(0), u64(5)}, u64(0)}, {{u64(0x100000000), u64(0x100000001)}, u64(0x100000000)}},
           [&](Body& body) {
             return call("mul", {call("div", {a(body), call("gcd", {a(body), b(body)})}), b(body)});
           }),
  };
}

std::vector<Spec> u64_signed_ops() {
  const ir::OpSignature binary64{{w, w}, w};
  const std::vector<OpLaw> lattice{OpLaw::Commutative, OpLaw::Associative, OpLaw::Idempotent};
  return {
      op64("sdiv", binary64, "Signed truncating quotient; x / 0 = 0, MIN / -1 = MIN.", {},
           {{{n(-17), n(5)}, n(-3)},
            {{n(17), n(-5)}, n(-3)},
            {{n(-17), n(-5)}, n(3)},
            {{n(17), n(0)}, n(0)},
            {{u64(kTop), n(-1)}, u64(kTop)}},
           [&](Body& body) {
             const Expr quotient = body.let("quotient", call("div", {magnitude(a(body)), magnitude(b(body))}));
             const Expr differ = binary(BinOp::BitXor, is_negative64(a(body)), is_negative64(b(body)));
             return select(differ, call("negate", {quotient}), quotient);
           }),
      op64("smod", binary64, "Signed remainder with the sign of the dividend; x % 0 = 0, MIN % -1 = 0.", {},
           {{{n(-17), n(5)}, n(-2)}, {{n(17), n(-5)}, n(2)}, {{n(17), n(0)}, n(0)}, {{u64(kTop), n(-1)}, n(0)}},
           [&](Body& body) {
             const Expr rest = body.let("rest", call("mod", {magnitude(a(body)), magnitude(b(body))}));
             return select(is_negative64(a(body)), call("negate", {rest}), rest);
           }),
      op64("sshr", {{w, u}, w}, "Arithmetic right shift; the amount is masked with 63.", {},
           {{{n(-8), u32(1)}, n(-4)}, {{n(-1), u32(63)}, n(-1)}, {{u64(kTop), u32(32)}, u64(0xFFFFFFFF80000000)}, {{n(8), u32(65)}, n(4)}},
           [&](Body& body) {
             const Expr sign = body.let("sign", signs(a(body)));
             return call("xor", {call("shr", {call("xor", {a(body), sign}), b(body)}), sign});
           }),
      compare_signed("slt", "1 if a < b, signed, else 0.", {1, 0, 0}, [](const Expr& x, const Expr& y) { return signed_less(x, y); }),
      compare_signed("sgt", "1 if a > b, signed, else 0.", {0, 0, 1}, [](const Expr& x, const Expr& y) { return signed_less(y, x); }),
      compare_signed("sle", "1 if a <= b, signed, else 0.", {1, 1, 0},
                     [](const Expr& x, const Expr& y) {
                       return call("le", {biased(x), biased(y)});
                     }),
      compare_signed("sge", "1 if a >= b, signed, else 0.", {0, 1, 1},
                     [](const Expr& x, const Expr& y) {
                       return call("ge", {biased(x), biased(y)});
                     }),
      op64("smin", binary64, "Signed minimum.", lattice, {{{n(1), n(-1)}, n(-1)}, {{u64(kTop), u64(kMost)}, u64(kTop)}},
           [&](Body& body) { return select(signed_less(b(body), a(body)), b(body), a(body)); }),
      op64("smax", binary64, "Signed maximum.", lattice, {{{n(1), n(-1)}, n(1)}, {{u64(kTop), u64(kMost)}, u64(kMost)}},
           [&](Body& body) { return select(signed_less(a(body), b(body)), b(body), a(body)); }),
  };
}

std::vector<Spec> u64_signed_range_ops() {
  const ir::OpSignature binary64{{w, w}, w}, unary64{{w}, w}, three{{w, w, w}, w};
  const std::vector<OpLaw> commutative{OpLaw::Commutative};
  return {
      op64("sclamp", three, "a, but at least b and at most c, signed; c when b > c.", {},
           {{{n(-5), n(-1), n(9)}, n(-1)}, {{n(10), n(-1), n(9)}, n(9)}, {{n(5), n(-1), n(9)}, n(5)}, {{n(5), n(9), n(-1)}, n(-1)}},
           [&](Body& body) {
             return call("smin", {call("smax", {a(body), b(body)}), body.parameter(2)});
           }),
      op64("sabs", unary64, "Distance of a from 0, signed; of -2^63 it is 2^63.", {},
           {{{n(-7)}, n(7)}, {{n(7)}, n(7)}, {{u64(kTop)}, u64(kTop)}}, [&](Body& body) { return magnitude(a(body)); }),
      op64("sign", unary64, "-1, 0 or 1: the sign of a.", {},
           {{{n(-7)}, n(-1)}, {{n(0)}, n(0)}, {{u64(0x100000000)}, n(1)}, {{u64(kTop)}, n(-1)}},
           [&](Body& body) { return select(is_negative64(a(body)), lit64(kAll), select(call("is_zero", {a(body)}), lit64(0), lit64(1))); }),
      op64("sadd_saturating", binary64, "Signed sum, or the nearer end of the 64-bit range when that is outside.", commutative,
           {{{n(-2), n(5)}, n(3)}, {{u64(kMost), n(1)}, u64(kMost)}, {{u64(kTop), n(-1)}, u64(kTop)}},
           [&](Body& body) {
             const Expr sum = body.let("sum", call("add", {a(body), b(body)}));
             return saturated64(body, call("and", {call("xor", {a(body), sum}), call("xor", {b(body), sum})}), sum);
           }),
      op64("ssub_saturating", binary64, "Signed difference, or the nearer end of the 64-bit range when that is outside.", {},
           {{{n(2), n(5)}, n(-3)}, {{u64(kTop), n(1)}, u64(kTop)}, {{n(0), u64(kTop)}, u64(kMost)}},
           [&](Body& body) {
             const Expr difference = body.let("difference", call("sub", {a(body), b(body)}));
             return saturated64(body, call("and", {call("xor", {a(body), b(body)}), call("xor", {a(body), difference})}), difference);
           }),
      op64("smulhi", binary64, "High 64 bits of the signed 128-bit product.", commutative,
           {{{n(-1), n(1)}, n(-1)}, {{u64(kTop), u64(kTop)}, u64(0x4000000000000000)}, {{n(-1), n(-1)}, n(0)}},
           [&](Body& body) {
             const Expr high = call("mulhi", {a(body), b(body)});
             // Read as unsigned, a negative number is 2^64 too large, which adds the other factor to the high half.
             const Expr left = call("sub", {high, select(is_negative64(a(body)), b(body), lit64(0))});
             return call("sub", {left, select(is_negative64(b(body)), a(body), lit64(0))});
           }),
      average("shadd", "Half of the signed sum, rounded down; the sum does not wrap.", {{{n(-1), n(-2)}, n(-2)}, {{n(1), n(-2)}, n(-1)}},
              "and", "add", "sshr"),
      average("srhadd", "Half of the signed sum, rounded up; the sum does not wrap.", {{{n(-1), n(-2)}, n(-1)}, {{n(1), n(-2)}, n(0)}},
              "or", "sub", "sshr"),
  };
}

std::vector<Spec> u64_signed_bit_ops() {
  const ir::OpSignature position{{w}, u}, bits{{w, u, u}, w};
  const ir::Value none = u32(0xFFFFFFFF);
  return {
      op64("sextract_bits", bits, "c bits of a from bit b up, as a signed number; b is at most 64 and c at most 64 - b.", {},
           {{{u64(0x0000F80000000000), u32(40), u32(8)}, n(-8)}, {{n(-1), u32(63), u32(100)}, n(-1)}, {{n(-1), u32(64), u32(4)}, n(0)}},
           [&](Body& body) {
             const Field64 f = field64(body, 1);
             return extracted("sshr", a(body), binary(BinOp::Add, f.offset, f.count), f.count);
           }),
      op64("sign_extend", {{w, u}, w}, "The low b bits of a as a signed number; b is at most 64, and no bits are 0.", {},
           {{{u64(0xFFF8), u32(4)}, n(-8)},
            {{u64(0x180000000), u32(33)}, u64(0xFFFFFFFF80000000)},
            {{u64(kTop), u32(99)}, u64(kTop)},
            {{u64(kAll), u32(0)}, n(0)}},
           [&](Body& body) {
             const Expr count = body.let("count", binary(BinOp::Min, b(body), lit(64)));
             return extracted("sshr", a(body), count, count);
           }),
      op64("sfirst_leading_bit", position, "Position of the highest bit that differs from the sign, 0..62; of 0 and -1 it is 2^32 - 1.", {},
           {{{n(0)}, none}, {{n(-1)}, none}, {{n(1)}, u32(0)}, {{n(-2)}, u32(0)}, {{u64(kTop)}, u32(62)}},
           [&](Body& body) {
             return binary(BinOp::Sub, lit(63), call("clz", {call("xor", {a(body), signs(a(body))})}));
           }),
  };
}

}  // namespace vyre::ops
