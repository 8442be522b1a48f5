// primitive.logical.*: any non-zero U32 is true; the result is 1 or 0.
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
using ir::expr::unary;

ir::OpTable::Spec truth_table(std::string id, std::string summary, std::array<std::uint32_t, 4> results, std::vector<OpLaw> laws,
                              const std::function<ir::ExprHandle(const ir::ExprHandle&, const ir::ExprHandle&)>& value) {
  std::vector<ir::OpExample> examples;
  for (std::uint32_t row = 0; row < 4; ++row) {
    // 2 and 4 share no bit: a bitwise operator would be found out.
    examples.push_back({{u32((row & 2) != 0 ? 2 : 0), u32((row & 1) != 0 ? 4 : 0)}, u32(results[row])});
  }
  return make_op({std::move(id), {{DataType::U32, DataType::U32}, DataType::U32}, std::move(summary), std::move(laws), std::move(examples)},
                 [&](Body& body) { return value(body.parameter(0), body.parameter(1)); });
}

ir::ExprHandle truth(const ir::ExprHandle& value) { return binary(BinOp::Ne, value, ir::expr::u32(0)); }

}  // namespace

std::vector<ir::OpTable::Spec> logical_ops() {
  using Expr = const ir::ExprHandle&;
  return {
      truth_table("primitive.logical.and", "1 if both are non-zero, else 0.", {0, 0, 0, 1}, {OpLaw::Commutative, OpLaw::Associative},
                  [](Expr a, Expr b) { return binary(BinOp::And, a, b); }),
      truth_table("primitive.logical.or", "1 if either is non-zero, else 0.", {0, 1, 1, 1}, {OpLaw::Commutative, OpLaw::Associative},
                  [](Expr a, Expr b) { return binary(BinOp::Or, a, b); }),
      truth_table("primitive.logical.xor", "1 if exactly one is non-zero, else 0.", {0, 1, 1, 0}, {OpLaw::Commutative, OpLaw::Associative},
                  [](Expr a, Expr b) { return binary(BinOp::Ne, truth(a), truth(b)); }),
      truth_table("primitive.logical.nand", "0 if both are non-zero, else 1.", {1, 1, 1, 0}, {OpLaw::Commutative},
                  [](Expr a, Expr b) { return unary(UnOp::LogicalNot, binary(BinOp::And, a, b)); }),
      truth_table("primitive.logical.nor", "0 if either is non-zero, else 1.", {1, 0, 0, 0}, {OpLaw::Commutative},
                  [](Expr a, Expr b) { return unary(UnOp::LogicalNot, binary(BinOp::Or, a, b)); }),
      truth_table("primitive.logical.xnor", "1 if both or neither are non-zero, else 0.", {1, 0, 0, 1},
                  {OpLaw::Commutative, OpLaw::Associative}, [](Expr a, Expr b) { return binary(BinOp::Eq, truth(a), truth(b)); }),
      truth_table("primitive.logical.implies", "0 if the first is non-zero and the second is zero, else 1.", {1, 1, 0, 1}, {},
                  [](Expr a, Expr b) { return binary(BinOp::Or, unary(UnOp::LogicalNot, a), b); }),
      make_op("primitive.logical.not", UnOp::LogicalNot, {{{u32(0)}, u32(1)}, {{u32(1)}, u32(0)}, {{u32(0x80000000)}, u32(0)}}),
  };
}

}  // namespace vyre::ops
