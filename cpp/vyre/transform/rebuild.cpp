#include "vyre/transform/rebuild.hpp"

#include <algorithm>

#include "vyre/base/assert.hpp"

namespace vyre::transform {

using ir::DataType;
using validate::Step;
using validate::ValidProgram;

bool is_writable_load(const ValidProgram& program, const Step& step) {
  return std::holds_alternative<ir::Load>(program.program().expr(step.expr)) &&
         ir::writable(program.program().buffers()[step.buffer.index].access);
}

ExprFacts expr_facts(const ValidProgram& valid) {
  const ir::Program& program = valid.program();
  ExprFacts facts;
  facts.repeatable.resize(program.exprs().size(), 1);
  facts.fixed.resize(program.exprs().size(), 1);
  facts.types.resize(program.exprs().size());
  IdVector<ExprId, std::uint8_t> seen(program.exprs().size(), 0);
  for (const Step& step : valid.facts().steps) {
    if (!seen[step.expr]) {
      seen[step.expr] = 1;
      facts.types[step.expr] = step.type;
      bool fixed = !std::holds_alternative<ir::Atomic>(program.expr(step.expr)) && !is_writable_load(valid, step);
      facts.repeatable[step.expr] = fixed;
      for_each_operand(program, step.expr, [&](ExprId operand) { fixed = fixed && facts.fixed[operand]; });
      facts.fixed[step.expr] = fixed;
    } else if (facts.types[step.expr] != step.type) {
      facts.types[step.expr].reset();
    }
  }
  return facts;
}

std::optional<ir::Expr> literal(const Constant& constant) {
  const auto& lanes = constant.value.lanes;
  switch (constant.type) {
    case DataType::U32:
      return ir::LitU32{lanes[0]};
    case DataType::I32:
      return ir::LitI32{static_cast<std::int32_t>(lanes[0])};
    case DataType::Bool:
      return ir::LitBool{lanes[0] != 0};
    case DataType::U64:
      return ir::LitU64{lanes[0], lanes[1]};
    case DataType::Vec2U32:
    case DataType::Vec4U32:
    case DataType::Bytes:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Constant> constant_of(const ir::Expr& expr) {
  if (const auto* u32 = std::get_if<ir::LitU32>(&expr)) return Constant{DataType::U32, ir::scalar(u32->value)};
  if (const auto* i32 = std::get_if<ir::LitI32>(&expr)) {
    return Constant{DataType::I32, ir::scalar(static_cast<std::uint32_t>(i32->value))};
  }
  if (const auto* boolean = std::get_if<ir::LitBool>(&expr)) return Constant{DataType::Bool, ir::scalar(boolean->value)};
  if (const auto* u64 = std::get_if<ir::LitU64>(&expr)) return Constant{DataType::U64, ir::Value{{u64->low, u64->high, 0, 0}}};
  return std::nullopt;
}

ValidProgram replace(const ValidProgram& valid, const IdVector<ExprId, Replacement>& replacements) {
  const ir::Program& program = valid.program();
  bool changes = false;
  for (std::uint32_t index = 0; index < replacements.size(); ++index) {
    const Replacement& replacement = replacements[ExprId{index}];
    changes = changes || replacement.constant || replacement.by.index != index;
  }
  if (!changes) return valid;

  Rebuild rebuild(valid);
  IdVector<ExprId, ExprId> moved(program.exprs().size());
  for (std::uint32_t index = 0; index < program.exprs().size(); ++index) {
    const ExprId id{index};
    const Replacement& replacement = replacements[id];
    if (replacement.constant) {
      const std::optional<ir::Expr> expr = literal(*replacement.constant);
      VYRE_ASSERT(expr.has_value());
      moved[id] = rebuild.to().add(*expr);
    } else if (replacement.by != id) {
      VYRE_ASSERT(replacement.by.index < index);
      moved[id] = moved[replacement.by];
    } else {
      moved[id] = rebuild.copy(id, [&](ExprId operand) { return moved[operand]; });
    }
  }
  for (std::uint32_t index = 0; index < program.nodes().size(); ++index) {
    rebuild.copy(NodeId{index}, [&](ExprId root) { return moved[root]; });
  }
  return rebuild.finish();
}

std::string free_prefix(const ir::Program& program, std::string prefix) {
  auto taken = [&] {
    for (std::uint32_t index = 0; index < program.names().size(); ++index) {
      if (program.text(NameId{index}).starts_with(prefix)) return true;
    }
    return std::ranges::any_of(program.buffers(), [&](const ir::BufferDecl& decl) { return decl.name.starts_with(prefix); });
  };
  while (taken()) prefix += '_';
  return prefix;
}

ValidProgram validate_result(const ir::Program& program, bool uniformity) {
  validate::Options options;
  options.limits = false;
  options.uniformity = uniformity;
  validate::Verdict verdict = validate::validate(program, ir::OpTable(), options);
  VYRE_ASSERT(verdict.program.has_value());
  return *std::move(verdict.program);
}

Rebuild::Rebuild(const ValidProgram& from) : from_(from), names_(from.program().names().size()) {
  const ir::Program& program = from.program();
  for (const ir::BufferDecl& decl : program.buffers()) to_.buffer(decl);
  to_.workgroup_size(program.workgroup_size());
  to_.reserve(program.exprs().size(), program.nodes().size());
}

NameId Rebuild::name(NameId old) {
  NameId& result = names_[old];
  if (!result.valid()) result = to_.name(from_.program().text(old));
  return result;
}

}  // namespace vyre::transform
