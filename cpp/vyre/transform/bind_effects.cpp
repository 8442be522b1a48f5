// Binds every atomic and every load of writable memory to a Let of its own, in evaluation order, in front of the statement that evaluates
// it. Every other pass then sees a variable in place of such an expression, whether the user bound it or wrote it in place. So rules such
// as x - x = 0 apply to both spellings, and the rest of the statement may be dropped, merged or moved.
#include <fmt/format.h>

#include <algorithm>

#include "vyre/transform/passes.hpp"
#include "vyre/transform/rebuild.hpp"

namespace vyre::transform {
namespace {

using validate::Step;

// Returns the value of a Let, which needs no binding; invalid for any other statement.
ExprId bound_already(const ir::Node& node) {
  const auto* let = std::get_if<ir::Let>(&node);
  return let != nullptr ? let->value : ExprId{};
}

}  // namespace

validate::ValidProgram bind_effects(const validate::ValidProgram& valid) {
  const ir::Program& program = valid.program();
  const validate::Facts& facts = valid.facts();
  const auto is_effect = [&](const Step& step) {
    return std::holds_alternative<ir::Atomic>(program.expr(step.expr)) || is_writable_load(valid, step);
  };
  const auto binds = [&](NodeId id) {
    const ExprId already = bound_already(program.node(id));
    return std::ranges::any_of(facts.steps_of(id), [&](const Step& step) { return step.expr != already && is_effect(step); });
  };
  bool changes = false;
  for (std::uint32_t index = 0; index < program.nodes().size() && !changes; ++index) changes = binds(NodeId{index});
  if (!changes) return valid;

  Rebuild rebuild(valid);
  const std::string prefix = free_prefix(program, "__bound");
  std::uint32_t number = 0;
  // A fixed expression (rebuild.hpp) is copied once and shared by all statements. Any other expression contains an atomic or a load of
  // writable memory. Each statement evaluates these itself and binds them to its own names, so each statement gets its own copy.
  const ExprFacts exprs = expr_facts(valid);
  IdVector<ExprId, ExprId> moved(program.exprs().size());
  for (std::uint32_t index = 0; index < program.nodes().size(); ++index) {
    const NodeId id{index};
    const ExprId already = bound_already(program.node(id));
    for (const Step& step : facts.steps_of(id)) {
      if (exprs.fixed[step.expr] && moved[step.expr].valid()) continue;
      moved[step.expr] = rebuild.copy(step.expr, [&](ExprId operand) { return moved[operand]; });
      if (step.expr == already || !is_effect(step)) continue;
      const NameId name = rebuild.to().name(fmt::format("{}{}", prefix, number++));
      rebuild.to().let(name, moved[step.expr], program.place(id));
      moved[step.expr] = rebuild.to().add(ir::Var{name});
    }
    rebuild.copy(id, [&](ExprId root) { return moved[root]; });
  }
  return rebuild.finish();
}

}  // namespace vyre::transform
