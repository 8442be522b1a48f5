// primitive.math.*: arithmetic modulo 2^32, and the signed forms on I32.
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

// Wrapping I32 arithmetic has the bits of the U32 operator, because both are modulo 2^32.
ir::OpTable::Spec wrapping(std::string id, BinOp op, std::string summary, std::vector<OpLaw> laws, std::vector<ir::OpExample> examples) {
  return make_op({std::move(id), {{DataType::I32, DataType::I32}, DataType::I32}, std::move(summary), std::move(laws), std::move(examples)},
                 [op](Body& body) {
                   return cast(DataType::I32, binary(op, cast(DataType::U32, body.parameter(0)), cast(DataType::U32, body.parameter(1))));
                 });
}

}  // namespace

std::vector<ir::OpTable::Spec> math_ops() {
  return {
      make_op("primitive.math.add", BinOp::Add, {{{u32(2), u32(3)}, u32(5)}, {{u32(0xFFFFFFFF), u32(1)}, u32(0)}}),
      make_op("primitive.math.sub", BinOp::Sub, {{{u32(5), u32(3)}, u32(2)}, {{u32(0), u32(1)}, u32(0xFFFFFFFF)}}),
      make_op("primitive.math.mul", BinOp::Mul, {{{u32(6), u32(7)}, u32(42)}, {{u32(0x10000), u32(0x10000)}, u32(0)}}),
      make_op("primitive.math.div", BinOp::Div, {{{u32(17), u32(5)}, u32(3)}, {{u32(17), u32(0)}, u32(0)}}),
      make_op("primitive.math.mod", BinOp::Mod, {{{u32(17), u32(5)}, u32(2)}, {{u32(17), u32(0)}, u32(0)}}),
      make_op("primitive.math.mulhi", BinOp::MulHigh,
              {{{u32(0x10000), u32(0x10000)}, u32(1)}, {{u32(0xFFFFFFFF), u32(0xFFFFFFFF)}, u32(0xFFFFFFFE)}}),
      make_op("primitive.math.min", BinOp::Min, {{{u32(1), u32(0xFFFFFFFF)}, u32(1)}}),
      make_op("primitive.math.max", BinOp::Max, {{{u32(1), u32(0xFFFFFFFF)}, u32(0xFFFFFFFF)}}),
      make_op("primitive.math.abs_diff", BinOp::AbsDiff, {{{u32(3), u32(10)}, u32(7)}, {{u32(0xFFFFFFFF), u32(0)}, u32(0xFFFFFFFF)}}),
      make_op("primitive.math.negate", UnOp::Negate, {{{u32(1)}, u32(0xFFFFFFFF)}, {{u32(0x80000000)}, u32(0x80000000)}}),
      make_op({"primitive.math.clamp",
               {{DataType::U32, DataType::U32, DataType::U32}, DataType::U32},
               "a, but at least b and at most c; c when b > c.",
               {},
               {{{u32(5), u32(1), u32(9)}, u32(5)},
                {{u32(0), u32(1), u32(9)}, u32(1)},
                {{u32(10), u32(1), u32(9)}, u32(9)},
                {{u32(5), u32(9), u32(1)}, u32(1)}}},
              [](Body& body) { return binary(BinOp::Min, binary(BinOp::Max, body.parameter(0), body.parameter(1)), body.parameter(2)); }),
      make_op({"primitive.math.add_saturating",
               {{DataType::U32, DataType::U32}, DataType::U32},
               "Sum, or 2^32 - 1 when that is more.",
               {OpLaw::Commutative, OpLaw::Associative},
               {{{u32(2), u32(3)}, u32(5)}, {{u32(0xFFFFFFFF), u32(1)}, u32(0xFFFFFFFF)}}},
              [](Body& body) {
                const auto sum = body.let("sum", binary(BinOp::Add, body.parameter(0), body.parameter(1)));
                return ir::expr::select(binary(BinOp::Lt, sum, body.parameter(0)), ir::expr::u32(0xFFFFFFFF), sum);
              }),
      make_op({"primitive.math.sub_saturating",
               {{DataType::U32, DataType::U32}, DataType::U32},
               "Difference, or 0 when that is less.",
               {},
               {{{u32(5), u32(3)}, u32(2)}, {{u32(3), u32(5)}, u32(0)}}},
              [](Body& body) { return binary(BinOp::Sub, binary(BinOp::Max, body.parameter(0), body.parameter(1)), body.parameter(1)); }),
      wrapping("primitive.math.sadd", BinOp::Add, "Signed sum modulo 2^32.", {OpLaw::Commutative, OpLaw::Associative},
               {{{i32(-2), i32(5)}, i32(3)}, {{i32(kMaxI32), i32(1)}, i32(kMinI32)}}),
      wrapping("primitive.math.ssub", BinOp::Sub, "Signed difference modulo 2^32.", {},
               {{{i32(2), i32(5)}, i32(-3)}, {{i32(kMinI32), i32(1)}, i32(kMaxI32)}}),
      wrapping("primitive.math.smul", BinOp::Mul, "Signed product modulo 2^32.", {OpLaw::Commutative, OpLaw::Associative},
               {{{i32(-3), i32(5)}, i32(-15)}, {{i32(kMinI32), i32(-1)}, i32(kMinI32)}}),
      make_op("primitive.math.sdiv", BinOp::SDiv,
              {{{i32(-17), i32(5)}, i32(-3)},
               {{i32(17), i32(-5)}, i32(-3)},
               {{i32(17), i32(0)}, i32(0)},
               {{i32(kMinI32), i32(-1)}, i32(kMinI32)}}),
      make_op(
          "primitive.math.smod", BinOp::SMod,
          {{{i32(-17), i32(5)}, i32(-2)}, {{i32(17), i32(-5)}, i32(2)}, {{i32(17), i32(0)}, i32(0)}, {{i32(kMinI32), i32(-1)}, i32(0)}}),
      make_op("primitive.math.smin", BinOp::SMin, {{{i32(1), i32(-1)}, i32(-1)}}),
      make_op("primitive.math.smax", BinOp::SMax, {{{i32(1), i32(-1)}, i32(1)}}),
      make_op({"primitive.math.snegate",
               {{DataType::I32}, DataType::I32},
               "0 - a modulo 2^32.",
               {OpLaw::Involution},
               {{{i32(7)}, i32(-7)}, {{i32(kMinI32)}, i32(kMinI32)}}},
              [](Body& body) { return cast(DataType::I32, ir::expr::unary(UnOp::Negate, cast(DataType::U32, body.parameter(0)))); }),
      make_op({"primitive.math.sabs",
               {{DataType::I32}, DataType::U32},
               "Distance of a from 0; of -2^31 it is 2^31.",
               {},
               {{{i32(-7)}, u32(7)}, {{i32(7)}, u32(7)}, {{i32(kMinI32)}, u32(0x80000000)}}},
              [](Body& body) {
                const auto bits = body.let("bits", cast(DataType::U32, body.parameter(0)));
                return ir::expr::select(binary(BinOp::SLt, body.parameter(0), ir::expr::i32(0)), ir::expr::unary(UnOp::Negate, bits), bits);
              }),
  };
}

}  // namespace vyre::ops
