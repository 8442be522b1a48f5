// primitive.math.*: sums that stop at the limits, high products, averages, products of packed bytes, divisors.
#include "vyre/ir/ops.hpp"
#include "vyre/ops/body.hpp"
#include "vyre/ops/families.hpp"

namespace vyre::ops {
namespace {

using ir::BinOp;
using ir::DataType;
using ir::OpLaw;
using ir::UnOp;
using ir::expr::binary;
using ir::expr::cast;
using ir::expr::select;
using Expr = ir::ExprHandle;

Expr bits(const Body& body, std::size_t k) { return cast(DataType::U32, body.parameter(k)); }
Expr is_negative(const Expr& word) { return binary(BinOp::SLt, cast(DataType::I32, word), ir::expr::i32(0)); }

// `result` unless the true value is outside of I32, which the sign of `overflow` says; then the limit on the side of a.
Expr saturated(Body& body, const Expr& overflow, const Expr& result) {
  const Expr limit = select(is_negative(bits(body, 0)), lit(0x80000000), lit(0x7FFFFFFF));
  return cast(DataType::I32, select(is_negative(overflow), limit, result));
}

// Byte k of a word as a number, its sign in all higher bits.
Expr signed_byte(const Expr& word, std::uint32_t k) {
  const Expr up = k == 3 ? word : binary(BinOp::Shl, word, lit(24 - 8 * k));
  return cast(DataType::U32, binary(BinOp::SShr, cast(DataType::I32, up), lit(24)));
}
Expr unsigned_byte(const Expr& word, std::uint32_t k) {
  return binary(BinOp::BitAnd, k == 0 ? word : binary(BinOp::Shr, word, lit(8 * k)), lit(0xFF));
}

Expr dot4(Body& body, Expr (*byte)(const Expr&, std::uint32_t)) {
  const auto product = [&](std::uint32_t k) { return binary(BinOp::Mul, byte(body.parameter(0), k), byte(body.parameter(1), k)); };
  return binary(BinOp::Add, binary(BinOp::Add, product(0), product(1)), binary(BinOp::Add, product(2), product(3)));
}

}  // namespace

std::vector<ir::OpTable::Spec> saturating_ops() {
  const DataType s = DataType::I32;
  const std::vector<OpLaw> commutative{OpLaw::Commutative};
  return {
      make_op({"primitive.math.sadd_saturating",
               {{s, s}, s},
               "Signed sum, or the nearer end of I32 when that is outside.",
               commutative,
               {{{i32(-2), i32(5)}, i32(3)}, {{i32(kMaxI32), i32(1)}, i32(kMaxI32)}, {{i32(kMinI32), i32(-1)}, i32(kMinI32)}}},
              [](Body& body) {
                const Expr sum = body.let("sum", binary(BinOp::Add, bits(body, 0), bits(body, 1)));
                const Expr overflow =
                    binary(BinOp::BitAnd, binary(BinOp::BitXor, bits(body, 0), sum), binary(BinOp::BitXor, bits(body, 1), sum));
                return saturated(body, overflow, sum);
              }),
      make_op({"primitive.math.ssub_saturating",
               {{s, s}, s},
               "Signed difference, or the nearer end of I32 when that is outside.",
               {},
               {{{i32(2), i32(5)}, i32(-3)},
                {{i32(kMinI32), i32(1)}, i32(kMinI32)},
                {{i32(0), i32(kMinI32)}, i32(kMaxI32)},
                {{i32(-1), i32(kMinI32)}, i32(kMaxI32)}}},
              [](Body& body) {
                const Expr difference = body.let("difference", binary(BinOp::Sub, bits(body, 0), bits(body, 1)));
                const Expr overflow = binary(BinOp::BitAnd, binary(BinOp::BitXor, bits(body, 0), bits(body, 1)),
                                             binary(BinOp::BitXor, bits(body, 0), difference));
                return saturated(body, overflow, difference);
              }),
      make_op({"primitive.math.smulhi",
               {{s, s}, s},
               "High 32 bits of the signed 64-bit product.",
               commutative,
               {{{i32(-1), i32(1)}, i32(-1)},
                {{i32(kMinI32), i32(kMinI32)}, i32(0x40000000)},
                {{i32(kMaxI32), i32(kMinI32)}, i32(-0x40000000)},
                {{i32(0x10000), i32(-0x10000)}, i32(-1)}}},
              [](Body& body) {
                // Read as unsigned, a negative number is 2^32 too large, which adds the other factor to the high word.
                const auto excess = [&](std::size_t k) {
                  return binary(BinOp::BitAnd, cast(DataType::U32, binary(BinOp::SShr, body.parameter(k), lit(31))), bits(body, 1 - k));
                };
                const Expr high = binary(BinOp::MulHigh, bits(body, 0), bits(body, 1));
                return cast(DataType::I32, binary(BinOp::Sub, binary(BinOp::Sub, high, excess(0)), excess(1)));
              }),
  };
}

std::vector<ir::OpTable::Spec> average_ops() {
  const DataType u = DataType::U32, s = DataType::I32;
  const std::vector<OpLaw> mean{OpLaw::Commutative, OpLaw::Idempotent};
  return {
      make_op({"primitive.math.hadd",
               {{u, u}, u},
               "Half of the sum, rounded down; the sum does not wrap.",
               mean,
               {{{u32(1), u32(2)}, u32(1)}, {{u32(0xFFFFFFFF), u32(0xFFFFFFFD)}, u32(0xFFFFFFFE)}}},
              [](Body& body) {
                const Expr a = body.parameter(0), b = body.parameter(1);
                return binary(BinOp::Add, binary(BinOp::BitAnd, a, b), binary(BinOp::Shr, binary(BinOp::BitXor, a, b), lit(1)));
              }),
      make_op({"primitive.math.rhadd",
               {{u, u}, u},
               "Half of the sum, rounded up; the sum does not wrap.",
               mean,
               {{{u32(1), u32(2)}, u32(2)}, {{u32(0xFFFFFFFF), u32(0xFFFFFFFE)}, u32(0xFFFFFFFF)}}},
              [](Body& body) {
                const Expr a = body.parameter(0), b = body.parameter(1);
                return binary(BinOp::Sub, binary(BinOp::BitOr, a, b), binary(BinOp::Shr, binary(BinOp::BitXor, a, b), lit(1)));
              }),
      make_op({"primitive.math.shadd",
               {{s, s}, s},
               "Half of the signed sum, rounded down; the sum does not wrap.",
               mean,
               {{{i32(-1), i32(-2)}, i32(-2)}, {{i32(1), i32(-2)}, i32(-1)}, {{i32(kMaxI32), i32(kMaxI32 - 2)}, i32(kMaxI32 - 1)}}},
              [](Body& body) {
                const Expr differ = cast(DataType::I32, binary(BinOp::BitXor, bits(body, 0), bits(body, 1)));
                const Expr half = cast(DataType::U32, binary(BinOp::SShr, differ, lit(1)));
                return cast(DataType::I32, binary(BinOp::Add, binary(BinOp::BitAnd, bits(body, 0), bits(body, 1)), half));
              }),
      make_op({"primitive.math.srhadd",
               {{s, s}, s},
               "Half of the signed sum, rounded up; the sum does not wrap.",
               mean,
               {{{i32(-1), i32(-2)}, i32(-1)}, {{i32(1), i32(-2)}, i32(0)}, {{i32(kMinI32), i32(kMinI32 + 1)}, i32(kMinI32 + 1)}}},
              [](Body& body) {
                const Expr differ = cast(DataType::I32, binary(BinOp::BitXor, bits(body, 0), bits(body, 1)));
                const Expr half = cast(DataType::U32, binary(BinOp::SShr, differ, lit(1)));
                return cast(DataType::I32, binary(BinOp::Sub, binary(BinOp::BitOr, bits(body, 0), bits(body, 1)), half));
              }),
  };
}

std::vector<ir::OpTable::Spec> signed_ops() {
  const DataType u = DataType::U32, s = DataType::I32;
  const std::vector<OpLaw> commutative{OpLaw::Commutative};
  return {
      make_op({"primitive.math.sclamp",
               {{s, s, s}, s},
               "a, but at least b and at most c, signed; c when b > c.",
               {},
               {{{i32(5), i32(-1), i32(9)}, i32(5)},
                {{i32(-5), i32(-1), i32(9)}, i32(-1)},
                {{i32(10), i32(-1), i32(9)}, i32(9)},
                {{i32(5), i32(9), i32(-1)}, i32(-1)}}},
              [](Body& body) { return binary(BinOp::SMin, binary(BinOp::SMax, body.parameter(0), body.parameter(1)), body.parameter(2)); }),
      make_op({"primitive.math.sign",
               {{s}, s},
               "-1, 0 or 1: the sign of a.",
               {},
               {{{i32(-7)}, i32(-1)}, {{i32(0)}, i32(0)}, {{i32(7)}, i32(1)}, {{i32(kMinI32)}, i32(-1)}}},
              [](Body& body) { return binary(BinOp::SMin, binary(BinOp::SMax, body.parameter(0), ir::expr::i32(-1)), ir::expr::i32(1)); }),
      make_op({"primitive.math.sabs_diff",
               {{s, s}, u},
               "Distance of two signed numbers.",
               commutative,
               {{{i32(-3), i32(4)}, u32(7)}, {{i32(kMinI32), i32(kMaxI32)}, u32(0xFFFFFFFF)}}},
              [](Body& body) {
                const Expr high = cast(DataType::U32, binary(BinOp::SMax, body.parameter(0), body.parameter(1)));
                return binary(BinOp::Sub, high, cast(DataType::U32, binary(BinOp::SMin, body.parameter(0), body.parameter(1))));
              }),
  };
}

std::vector<ir::OpTable::Spec> dot_ops() {
  const DataType u = DataType::U32, s = DataType::I32;
  const std::vector<OpLaw> commutative{OpLaw::Commutative};
  return {
      make_op({"primitive.math.dot4",
               {{u, u}, u},
               "Sum of the products of the four unsigned bytes of a and b.",
               commutative,
               {{{u32(0x04030201), u32(0x08070605)}, u32(70)}, {{u32(0xFFFFFFFF), u32(0xFFFFFFFF)}, u32(4 * 255 * 255)}}},
              [](Body& body) { return dot4(body, unsigned_byte); }),
      make_op({"primitive.math.sdot4",
               {{u, u}, s},
               "Sum of the products of the four signed bytes of a and b.",
               commutative,
               {{{u32(0x04030201), u32(0xF8070605)}, i32(6)}, {{u32(0x80808080), u32(0x7F7F7F7F)}, i32(4 * -128 * 127)}}},
              [](Body& body) { return cast(DataType::I32, dot4(body, signed_byte)); }),
  };
}

std::vector<ir::OpTable::Spec> divisor_ops() {
  const DataType u = DataType::U32;
  const std::vector<OpLaw> mean{OpLaw::Commutative, OpLaw::Idempotent};
  return {
      make_op({"primitive.math.gcd",
               {{u, u}, u},
               "Greatest common divisor; gcd(a, 0) = a.",
               {OpLaw::Commutative, OpLaw::Associative, OpLaw::Idempotent},
               {{{u32(12), u32(18)}, u32(6)},
                {{u32(0), u32(5)}, u32(5)},
                {{u32(5), u32(0)}, u32(5)},
                {{u32(0), u32(0)}, u32(0)},
                {{u32(0x80000000), u32(0xC0000000)}, u32(0x40000000)},
                {{u32(2971215073), u32(1836311903)}, u32(1)}}},
              [](Body& body) {
                // Stein's algorithm. x is odd; a round makes y odd and takes the smaller from the larger, so that with the next
                // round's halving x * y is at most half of what it was: below 2^64 at first, it is 0 after 64 rounds.
                const Expr a = body.parameter(0), b = body.parameter(1);
                const Expr x = body.let("x", binary(BinOp::Shr, a, ir::expr::unary(UnOp::Ctz, a)));
                const Expr y = body.let("y", select(a, b, lit(0)));
                body.repeat(64, [&] {
                  body.break_if(binary(BinOp::Eq, y, lit(0)));
                  const Expr odd = body.let("odd", binary(BinOp::Shr, y, ir::expr::unary(UnOp::Ctz, y)));
                  body.assign(y, binary(BinOp::AbsDiff, x, odd));
                  body.assign(x, binary(BinOp::Min, x, odd));
                });
                const Expr either = body.let("either", binary(BinOp::BitOr, a, b));
                return select(binary(BinOp::And, a, b), binary(BinOp::Shl, x, ir::expr::unary(UnOp::Ctz, either)), either);
              }),
      make_op({"primitive.math.lcm",
               {{u, u}, u},
               "Low 32 bits of the least common multiple; lcm(a, 0) = 0.",
               mean,
               {{{u32(4), u32(6)}, u32(12)},
                {{u32(0), u32(5)}, u32(0)},
                {{u32(0), u32(0)}, u32(0)},
                {{u32(0x10000), u32(0x10001)}, u32(0x10000)}}},
              [](Body& body) {
                const Expr divisor = ir::expr::call("primitive.math.gcd", {body.parameter(0), body.parameter(1)});
                return binary(BinOp::Mul, binary(BinOp::Div, body.parameter(0), divisor), body.parameter(1));
              }),
  };
}

}  // namespace vyre::ops
