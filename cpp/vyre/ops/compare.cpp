// primitive.compare.*: 1 when it holds, else 0.
#include "vyre/ir/ops.hpp"
#include "vyre/ops/body.hpp"
#include "vyre/ops/families.hpp"

namespace vyre::ops {

std::vector<ir::OpTable::Spec> compare_ops() {
  using ir::BinOp;
  using ir::DataType;
  // 2^32 - 1 is the largest U32, and -1 as an I32.
  const ir::Value high = u32(0xFFFFFFFF);
  return {
      make_op("primitive.compare.eq", BinOp::Eq, {{{u32(3), u32(3)}, u32(1)}, {{u32(3), u32(4)}, u32(0)}}),
      make_op("primitive.compare.ne", BinOp::Ne, {{{u32(3), u32(3)}, u32(0)}, {{u32(3), u32(4)}, u32(1)}}),
      make_op("primitive.compare.lt", BinOp::Lt, {{{u32(1), high}, u32(1)}, {{high, u32(1)}, u32(0)}, {{high, high}, u32(0)}}),
      make_op("primitive.compare.gt", BinOp::Gt, {{{u32(1), high}, u32(0)}, {{high, u32(1)}, u32(1)}, {{high, high}, u32(0)}}),
      make_op("primitive.compare.le", BinOp::Le, {{{u32(1), high}, u32(1)}, {{high, u32(1)}, u32(0)}, {{high, high}, u32(1)}}),
      make_op("primitive.compare.ge", BinOp::Ge, {{{u32(1), high}, u32(0)}, {{high, u32(1)}, u32(1)}, {{high, high}, u32(1)}}),
      make_op("primitive.compare.slt", BinOp::SLt,
              {{{i32(-1), i32(1)}, u32(1)}, {{i32(1), i32(-1)}, u32(0)}, {{i32(-1), i32(-1)}, u32(0)}}),
      make_op("primitive.compare.sgt", BinOp::SGt,
              {{{i32(-1), i32(1)}, u32(0)}, {{i32(1), i32(-1)}, u32(1)}, {{i32(-1), i32(-1)}, u32(0)}}),
      make_op("primitive.compare.sle", BinOp::SLe,
              {{{i32(-1), i32(1)}, u32(1)}, {{i32(1), i32(-1)}, u32(0)}, {{i32(-1), i32(-1)}, u32(1)}}),
      make_op("primitive.compare.sge", BinOp::SGe,
              {{{i32(-1), i32(1)}, u32(0)}, {{i32(1), i32(-1)}, u32(1)}, {{i32(-1), i32(-1)}, u32(1)}}),
      make_op({"primitive.compare.is_zero",
               {{DataType::U32}, DataType::U32},
               "1 if zero, else 0.",
               {},
               {{{u32(0)}, u32(1)}, {{u32(1)}, u32(0)}, {{high}, u32(0)}}},
              [](Body& body) { return ir::expr::binary(BinOp::Eq, body.parameter(0), ir::expr::u32(0)); }),
      make_op({"primitive.compare.select",
               {{DataType::U32, DataType::U32, DataType::U32}, DataType::U32},
               "b if a is non-zero, else c.",
               {},
               {{{u32(0), u32(7), u32(9)}, u32(9)}, {{u32(2), u32(7), u32(9)}, u32(7)}}},
              [](Body& body) { return ir::expr::select(body.parameter(0), body.parameter(1), body.parameter(2)); }),
  };
}

}  // namespace vyre::ops
