// Builds typed expressions and keeps what a generator must know of each: its type, what it costs, and whether it is the same for a
// whole workgroup. It says that a value is uniform only where validation does (docs/semantics.md, Barriers are reached by all).
#pragma once

#include <cstdint>
#include <span>

#include "vyre/fuzz/random.hpp"
#include "vyre/ir/builder.hpp"
#include "vyre/ir/data_type.hpp"
#include "vyre/ir/op_spec.hpp"

namespace vyre::fuzz {

struct Value {
  ir::DataType type = ir::DataType::U32;
  std::uint32_t cost = 1;  // instructions, about
  bool uniform = false;    // the same for a whole workgroup, by the rules of V010
  bool stable = false;     // the same whenever it is evaluated while its variables live
  bool fleeting = false;   // reads or changes memory that has another role after the next barrier
};

class Writer {
 public:
  explicit Writer(Random& random) : random_(random) {}

  // Before any id is made.
  void workgroup_size(const ir::WorkgroupSize& size);

  ir::ProgramBuilder& to() { return to_; }
  const Value& of(ExprId id) const { return values_[id]; }
  ir::DataType type(ExprId id) const { return values_[id].type; }

  ExprId u32(std::uint32_t value) { return leaf(ir::Literal::u32(value), ir::DataType::U32); }
  ExprId i32(std::uint32_t bits) { return leaf(ir::Literal::i32(static_cast<std::int32_t>(bits)), ir::DataType::I32); }
  ExprId boolean(bool value) { return leaf(ir::Literal::boolean(value), ir::DataType::Bool); }
  ExprId u64(std::uint32_t low, std::uint32_t high) { return leaf(ir::Literal{ir::DataType::U64, low, high}, ir::DataType::U64); }
  // A value of the edges; vectors are packed.
  ExprId literal(ir::DataType type);
  ExprId id(ir::GridIdKind kind, std::uint32_t axis);
  ExprId length(NameId buffer) { return leaf(ir::BufLen{buffer}, ir::DataType::U32); }
  ExprId var(NameId name, ir::DataType type, bool uniform, bool stable);
  ExprId apply(const ir::OpInfo& op, std::span<const ExprId> operands);
  ExprId binary(ir::BinOp op, ExprId left, ExprId right);
  ExprId unary(ir::UnOp op, ExprId operand);
  ExprId select(ExprId condition, ExprId if_true, ExprId if_false);
  ExprId cast(ir::DataType target, ExprId value);
  ExprId lane(ExprId value, std::uint32_t k);
  ExprId pack(ir::DataType type, std::span<const ExprId> lanes);
  ExprId call(NameId op, ir::DataType type, std::uint32_t cost, std::span<const ExprId> arguments);
  // `constant`: the memory is never written; `fleeting`: see Value.
  ExprId load(NameId buffer, ir::DataType element, ExprId index, bool constant, bool fleeting);
  ExprId atomic(ir::AtomicOp op, NameId buffer, ExprId index, ExprId expected, ExprId value, bool fleeting);

  // Shorthands. Literals on the right.
  ExprId add(ExprId a, std::uint32_t b);
  ExprId add(ExprId a, ExprId b);
  ExprId times(ExprId a, std::uint32_t b);
  // 0 .. limit - 1
  ExprId below(ExprId a, std::uint32_t limit);

 private:
  ExprId leaf(const ir::Expr& expr, ir::DataType type, bool uniform = true, bool stable = true);
  ExprId over(const ir::Expr& expr, ir::DataType type, std::span<const ExprId> operands, std::uint32_t cost = 1);

  Random& random_;
  ir::WorkgroupSize size_{1, 1, 1};
  ir::ProgramBuilder to_;
  IdVector<ExprId, Value> values_;
};

// Instructions that one call of the operation executes at most, about. `table` has everything it calls.
std::uint32_t cost_of(const ir::OpSpec& op, const ir::OpTable& table);

}  // namespace vyre::fuzz
