// primitive.bitwise.*: 32 bits at a time.
#include "vyre/ir/ops.hpp"
#include "vyre/ops/body.hpp"
#include "vyre/ops/families.hpp"

namespace vyre::ops {

std::vector<ir::OpTable::Spec> bitwise_ops() {
  using ir::BinOp;
  using ir::DataType;
  using ir::OpLaw;
  using ir::UnOp;
  return {
      make_op("primitive.bitwise.and", BinOp::BitAnd, {{{u32(0b1100), u32(0b1010)}, u32(0b1000)}}),
      make_op("primitive.bitwise.or", BinOp::BitOr, {{{u32(0b1100), u32(0b1010)}, u32(0b1110)}}),
      make_op("primitive.bitwise.xor", BinOp::BitXor, {{{u32(0b1100), u32(0b1010)}, u32(0b0110)}}),
      make_op("primitive.bitwise.not", UnOp::BitNot, {{{u32(0)}, u32(0xFFFFFFFF)}, {{u32(0x0F0F0F0F)}, u32(0xF0F0F0F0)}}),
      make_op(
          {"primitive.bitwise.and_not",
           {{DataType::U32, DataType::U32}, DataType::U32},
           "The bits of a that are not set in b.",
           {},
           {{{u32(0b1100), u32(0b1010)}, u32(0b0100)}}},
          [](Body& body) { return ir::expr::binary(BinOp::BitAnd, body.parameter(0), ir::expr::unary(UnOp::BitNot, body.parameter(1))); }),
      make_op("primitive.bitwise.shl", BinOp::Shl,
              {{{u32(1), u32(31)}, u32(0x80000000)}, {{u32(1), u32(32)}, u32(1)}, {{u32(3), u32(33)}, u32(6)}}),
      make_op("primitive.bitwise.shr", BinOp::Shr,
              {{{u32(0x80000000), u32(31)}, u32(1)}, {{u32(7), u32(32)}, u32(7)}, {{u32(7), u32(33)}, u32(3)}}),
      make_op("primitive.bitwise.sshr", BinOp::SShr,
              {{{i32(-8), u32(1)}, i32(-4)}, {{i32(-1), u32(31)}, i32(-1)}, {{i32(8), u32(33)}, i32(4)}}),
      make_op("primitive.bitwise.rotl", BinOp::RotateLeft,
              {{{u32(0x80000001), u32(1)}, u32(3)}, {{u32(0x12345678), u32(8)}, u32(0x34567812)}, {{u32(5), u32(32)}, u32(5)}}),
      make_op("primitive.bitwise.rotr", BinOp::RotateRight,
              {{{u32(3), u32(1)}, u32(0x80000001)}, {{u32(0x12345678), u32(8)}, u32(0x78123456)}, {{u32(5), u32(32)}, u32(5)}}),
      make_op("primitive.bitwise.popcount", UnOp::Popcount, {{{u32(0)}, u32(0)}, {{u32(0xFFFFFFFF)}, u32(32)}, {{u32(0x10101)}, u32(3)}}),
      make_op("primitive.bitwise.clz", UnOp::Clz, {{{u32(0)}, u32(32)}, {{u32(1)}, u32(31)}, {{u32(0x80000000)}, u32(0)}}),
      make_op("primitive.bitwise.ctz", UnOp::Ctz, {{{u32(0)}, u32(32)}, {{u32(1)}, u32(0)}, {{u32(0x80000000)}, u32(31)}}),
      make_op("primitive.bitwise.reverse_bits", UnOp::ReverseBits, {{{u32(1)}, u32(0x80000000)}, {{u32(0xB)}, u32(0xD0000000)}}),
      make_op({"primitive.bitwise.reverse_bytes",
               {{DataType::U32}, DataType::U32},
               "Byte i goes to 3 - i.",
               {OpLaw::Involution},
               {{{u32(0x01020304)}, u32(0x04030201)}}},
              [](Body& body) {
                // Bytes 0 and 2 are where they belong after a rotation to the left by 8, bytes 1 and 3 after one to the right.
                auto half = [&](BinOp rotate, std::uint32_t mask) {
                  return ir::expr::binary(BinOp::BitAnd, ir::expr::binary(rotate, body.parameter(0), ir::expr::u32(8)),
                                          ir::expr::u32(mask));
                };
                return ir::expr::binary(BinOp::BitOr, half(BinOp::RotateLeft, 0x00FF00FF), half(BinOp::RotateRight, 0xFF00FF00));
              }),
  };
}

}  // namespace vyre::ops
