// primitive.bitwise.*: fields of bits, positions of bits, and the four bytes of a word. Fields are clamped to the word as WGSL clamps
// them: the offset to 32, then the count to what is left above the offset.

#include "vyre/ir/ops.hpp"
#include "vyre/ops/body.hpp"
#include "vyre/ops/families.hpp"

namespace vyre::ops {
namespace {

using ir::BinOp;
using ir::DataType;
using ir::UnOp;
using ir::expr::binary;
using ir::expr::cast;
using ir::expr::select;
using Expr = ir::ExprHandle;

struct Field {
  Expr offset, count;  // the count is 0 or offset + count <= 32
};

Field field(Body& body, std::size_t first) {
  const Expr offset = body.let("offset", binary(BinOp::Min, body.parameter(first), lit(32)));
  return {offset, body.let("count", binary(BinOp::Min, body.parameter(first + 1), binary(BinOp::Sub, lit(32), offset)))};
}

// The field's bits at the top of the word. Amounts of shifts are masked with 31, so a count of 0 needs a select behind this.
Expr at_top(const Expr& bits, const Field& f) {
  return binary(BinOp::Shl, bits, binary(BinOp::Sub, lit(32), binary(BinOp::Add, f.offset, f.count)));
}

// A word's top `count` bits at its bottom, filled up with the sign; 0 for no bits.
Expr sign_filled(const Expr& word, const Expr& count) {
  return select(count, binary(BinOp::SShr, cast(DataType::I32, word), binary(BinOp::Sub, lit(32), count)), ir::expr::i32(0));
}

}  // namespace

std::vector<ir::OpTable::Spec> bit_field_ops() {
  const DataType u = DataType::U32, s = DataType::I32;
  return {
      make_op({"primitive.bitwise.extract_bits",
               {{u, u, u}, u},
               "c bits of a from bit b up, as an unsigned number; b is at most 32 and c at most 32 - b.",
               {},
               {{{u32(0x12345678), u32(8), u32(8)}, u32(0x56)},
                {{u32(0x12345678), u32(0), u32(32)}, u32(0x12345678)},
                {{u32(0x12345678), u32(28), u32(100)}, u32(1)},
                {{u32(0x12345678), u32(32), u32(4)}, u32(0)},
                {{u32(0x12345678), u32(4), u32(0)}, u32(0)}}},
              [](Body& body) {
                const Field f = field(body, 1);
                return select(f.count, binary(BinOp::Shr, at_top(body.parameter(0), f), binary(BinOp::Sub, lit(32), f.count)), lit(0));
              }),
      make_op({"primitive.bitwise.sextract_bits",
               {{s, u, u}, s},
               "c bits of a from bit b up, as a signed number; b is at most 32 and c at most 32 - b.",
               {},
               {{{i32(0x123456F8), u32(0), u32(8)}, i32(-8)},
                {{i32(0x12345678), u32(0), u32(8)}, i32(0x78)},
                {{i32(-1), u32(28), u32(100)}, i32(-1)},
                {{i32(-1), u32(32), u32(4)}, i32(0)}}},
              [](Body& body) {
                const Field f = field(body, 1);
                return sign_filled(at_top(cast(DataType::U32, body.parameter(0)), f), f.count);
              }),
      make_op({"primitive.bitwise.insert_bits",
               {{u, u, u, u}, u},
               "a with its d bits from bit c up replaced by the low bits of b; c is at most 32 and d at most 32 - c.",
               {},
               {{{u32(0x12345678), u32(0xAB), u32(8), u32(8)}, u32(0x1234AB78)},
                {{u32(0x12345678), u32(0xFAB), u32(8), u32(8)}, u32(0x1234AB78)},
                {{u32(0x12345678), u32(7), u32(0), u32(32)}, u32(7)},
                {{u32(0x12345678), u32(0xAB), u32(28), u32(9)}, u32(0xB2345678)},
                {{u32(0x12345678), u32(0xAB), u32(32), u32(4)}, u32(0x12345678)}}},
              [](Body& body) {
                const Field f = field(body, 2);
                const Expr ones = select(f.count, binary(BinOp::Shr, lit(0xFFFFFFFF), binary(BinOp::Sub, lit(32), f.count)), lit(0));
                const Expr mask = body.let("mask", binary(BinOp::Shl, ones, f.offset));
                const Expr kept = binary(BinOp::BitAnd, body.parameter(0), ir::expr::unary(UnOp::BitNot, mask));
                return binary(BinOp::BitOr, kept, binary(BinOp::BitAnd, binary(BinOp::Shl, body.parameter(1), f.offset), mask));
              }),
      make_op({"primitive.bitwise.sign_extend",
               {{u, u}, s},
               "The low b bits of a as a signed number; b is at most 32, and no bits are 0.",
               {},
               {{{u32(0xFFF8), u32(4)}, i32(-8)},
                {{u32(0xFFF7), u32(4)}, i32(7)},
                {{u32(0x80000000), u32(32)}, i32(-2147483647 - 1)},
                {{u32(0x80000000), u32(99)}, i32(-2147483647 - 1)},
                {{u32(0xFFFF), u32(0)}, i32(0)}}},
              [](Body& body) {
                const Expr count = body.let("count", binary(BinOp::Min, body.parameter(1), lit(32)));
                return sign_filled(binary(BinOp::Shl, body.parameter(0), binary(BinOp::Sub, lit(32), count)), count);
              }),
  };
}

std::vector<ir::OpTable::Spec> bit_position_ops() {
  const DataType u = DataType::U32, s = DataType::I32, v = DataType::Vec4U32;
  const ir::Value none = u32(0xFFFFFFFF);
  return {
      make_op({"primitive.bitwise.first_leading_bit",
               {{u}, u},
               "Position of the highest one bit, 0..31; of 0 it is 2^32 - 1.",
               {},
               {{{u32(0)}, none}, {{u32(1)}, u32(0)}, {{u32(0x80000000)}, u32(31)}, {{u32(0x10101)}, u32(16)}}},
              [](Body& body) { return binary(BinOp::Sub, lit(31), ir::expr::unary(UnOp::Clz, body.parameter(0))); }),
      make_op({"primitive.bitwise.sfirst_leading_bit",
               {{s}, u},
               "Position of the highest bit that differs from the sign, 0..30; of 0 and -1 it is 2^32 - 1.",
               {},
               {{{i32(0)}, none}, {{i32(-1)}, none}, {{i32(1)}, u32(0)}, {{i32(-2)}, u32(0)}, {{i32(-2147483647 - 1)}, u32(30)}}},
              [](Body& body) {
                const Expr sign = cast(DataType::U32, binary(BinOp::SShr, body.parameter(0), lit(31)));
                const Expr bits = binary(BinOp::BitXor, cast(DataType::U32, body.parameter(0)), sign);
                return binary(BinOp::Sub, lit(31), ir::expr::unary(UnOp::Clz, bits));
              }),
      make_op({"primitive.bitwise.first_trailing_bit",
               {{u}, u},
               "Position of the lowest one bit, 0..31; of 0 it is 2^32 - 1.",
               {},
               {{{u32(0)}, none}, {{u32(1)}, u32(0)}, {{u32(0x80000000)}, u32(31)}, {{u32(0x10100)}, u32(8)}}},
              [](Body& body) { return select(body.parameter(0), ir::expr::unary(UnOp::Ctz, body.parameter(0)), lit(0xFFFFFFFF)); }),
      make_op({"primitive.bitwise.pack4",
               {{v}, u},
               "The low bytes of four words as one word, x lowest.",
               {},
               {{{vec4(1, 2, 3, 4)}, u32(0x04030201)}, {{vec4(0x1FF, 0x100, 0xFFFFFFFF, 0x80)}, u32(0x80FF00FF)}}},
              [](Body& body) {
                const auto byte = [&](std::uint32_t k) {
                  const Expr low = k == 3 ? ir::expr::lane(body.parameter(0), k)
                                          : binary(BinOp::BitAnd, ir::expr::lane(body.parameter(0), k), lit(0xFF));
                  return k == 0 ? low : binary(BinOp::Shl, low, lit(8 * k));
                };
                return binary(BinOp::BitOr, binary(BinOp::BitOr, byte(0), byte(1)), binary(BinOp::BitOr, byte(2), byte(3)));
              }),
      make_op({"primitive.bitwise.unpack4",
               {{u}, v},
               "The four bytes of a word as four words, the lowest as x.",
               {},
               {{{u32(0x04030201)}, vec4(1, 2, 3, 4)}, {{u32(0xFF00FF80)}, vec4(0x80, 0xFF, 0, 0xFF)}}},
              [](Body& body) {
                const auto byte = [&](std::uint32_t k) {
                  const Expr down = k == 0 ? body.parameter(0) : binary(BinOp::Shr, body.parameter(0), lit(8 * k));
                  return k == 3 ? down : binary(BinOp::BitAnd, down, lit(0xFF));
                };
                return ir::expr::pack(DataType::Vec4U32, {byte(0), byte(1), byte(2), byte(3)});
              }),
  };
}

}  // namespace vyre::ops
