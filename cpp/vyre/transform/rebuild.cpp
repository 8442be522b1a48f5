#include "vyre/transform/rebuild.hpp"

#include <algorithm>
#include <array>

#include "vyre/base/assert.hpp"
#include "vyre/ir/data_type.hpp"

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

std::optional<ir::Literal> literal(const Constant& constant) {
  const ir::TypeInfo& type = info(constant.type);
  if (!type.literal) return std::nullopt;
  const auto& lanes = constant.value.lanes;
  if (type.kind == ir::TypeKind::Boolean) return ir::Literal::boolean(lanes[0] != 0);
  return ir::Literal{constant.type, lanes[0], type.lanes == 2 ? lanes[1] : 0};
}

ExprId add_constant(ir::ProgramBuilder& to, const Constant& constant) {
  if (const std::optional<ir::Literal> plain = literal(constant)) return to.add(*plain);
  std::array<ExprId, 4> lanes;
  const std::size_t count = ir::lanes(constant.type);
  for (std::size_t lane = 0; lane < count; ++lane) lanes[lane] = to.add(ir::Literal::u32(constant.value.lanes[lane]));
  return to.add(ir::Pack{constant.type, to.list({lanes.data(), count})});
}

std::optional<Constant> constant_of(const ir::Expr& expr) {
  const ir::Literal* literal = std::get_if<ir::Literal>(&expr);
  if (literal == nullptr) return std::nullopt;
  return Constant{literal->type, ir::Value{{literal->low, literal->high, 0, 0}}};
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
      moved[id] = add_constant(rebuild.to(), *replacement.constant);
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

ValidProgram validate_result(const ir::Program& program, const Operations& ops, bool uniformity) {
  ir::OpTable table;
  Operations reached = ops;
  for (std::size_t next = 0; next < reached.size(); ++next) {
    const validate::ValidOp& op = *reached[next];
    if (table.find(op.spec().id) == op.shared_spec()) continue;
    table = table.with(op.shared_spec());
    for (const auto& callee : op.facts().ops) reached.push_back(callee);
  }
  validate::Options options;
  options.limits = false;
  options.uniformity = uniformity;
  validate::Verdict verdict = validate::validate(program, table, options);
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
