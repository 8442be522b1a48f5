// Programs' parts as a Python user writes them, for hints: ready to paste, and short, because what a user builds is not.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "vyre/ir/op_spec.hpp"
#include "vyre/ir/program.hpp"

namespace vyre::validate {

// "\"out\"". Of a very long name both ends.
std::string python_name(std::string_view name);

// "DataType.U32"
std::string python_type(ir::DataType type);

// "BufferDecl.read("left", 0, DataType.U32)"
std::string python_declaration(const ir::BufferDecl& decl);

// "Expr.load("left", Expr.var("i"))"; `otherwise` for what is long, for atomics and calls, which are not to be repeated, and for what holds
// one of `wrong`.
std::string python_expr(const ir::Program& program, ExprId id, std::string_view otherwise, const std::unordered_set<ExprId>& wrong = {});

// Zero of a type: "Expr.i32(0)".
std::string python_zero(ir::DataType type);

// The value as another type. Every cast of the table is one; a type with more lanes is filled with zeros. Empty for Bytes.
std::string python_converted(ir::DataType want, ir::DataType got, std::string_view code);

// Binary and unary operators on operands of these types, whatever types their rows have: signed forms on I32, registered operations on
// U64 as far as `ops` has them, lane by lane on vectors. Empty when there is nothing that says the same.
struct PythonOperand {
  ir::DataType type;
  std::string code;
  bool literal = false;  // an integer of the type U32
};
std::string python_binary(ir::BinOp op, const PythonOperand& left, const PythonOperand& right, const ir::OpTable& ops);
std::string python_unary(ir::UnOp op, const PythonOperand& operand);

// An operator whose result depends on the sign, between a literal above the largest I32 and an I32: no I32 stands for the literal.
struct BeyondI32 {
  std::string literal;
  std::string on_bits;         // the same on the bits of both, as U32
  std::optional<bool> always;  // the result of a comparison with an I32, whatever its value
};
std::optional<BeyondI32> python_beyond_i32(ir::BinOp op, const PythonOperand& left, const PythonOperand& right);

// The comparison that is true where this one is false; nothing for what is no comparison.
std::optional<ir::BinOp> python_opposite(ir::BinOp op);

}  // namespace vyre::validate
