// Writes the hints for a barrier that a part of the workgroup misses: where the workgroup's ways part, and how its invocations meet all the
// same.
#include <fmt/format.h>

#include "vyre/ir/ops.hpp"
#include "vyre/validate/hint_text.hpp"
#include "vyre/validate/hints.hpp"
#include "vyre/validate/python_text.hpp"

namespace vyre::validate {
// Where the workgroup's ways part, and how its invocations meet at the barrier all the same.
std::string Hints::barrier(NodeId at) {
  if (!barriers_) {
    barriers_.emplace();
    for (const DivergentBarrier& found : divergent_barriers(gathered_)) barriers_->emplace(found.barrier, found);
  }
  const auto found = barriers_->find(at);
  if (found == barriers_->end()) return {};
  const auto& [id, guard, returned, direct, broken, loop] = found->second;
  if (!guard.valid()) return left_loop(found->second);
  const Roots& roots = gathered_.roots[guard];
  const auto* branch = std::get_if<ir::If>(&program_.node(guard));
  if (returned.valid()) {
    // A Return that an If of the entry takes by itself: what is left of the entry is for the other invocations.
    const Scopes& all = scopes();
    const bool alone = branch != nullptr && direct && !all.openers.at(guard).valid();
    if (!alone) {
      const std::string name = python_name(new_name("returned"));
      return say<Hint::RememberReturn>(place(returned, at), name, name, name);
    }
    const bool in_else = branch->otherwise.valid() && branch->otherwise.index < returned.index;
    const std::string name = python_name(new_name("inside"));
    const std::string inside = in_else ? code(roots.first, "condition") : negated(roots.first);
    return say<Hint::GuardStores>(place(returned, at), name, inside, name);
  }
  if (branch != nullptr) {
    const std::string name = python_name(new_name("inside"));
    return say<Hint::CloseIf>(place(guard, at), name, code(roots.first, "condition"), name);
  }
  const std::string variable = fmt::format("Expr.var({})", python_name(program_.text(gathered_.node<ir::Loop>(guard).variable)));
  const std::string from = code(roots.first, "from_"), below = fmt::format("Expr.lt({}, {})", variable, code(roots.second, "to"));
  const std::string inside = from == "0" ? below : fmt::format("Expr.bitand(Expr.le({}, {}), {})", from, variable, below);
  return say<Hint::SameTurns>(place(guard, at), inside);
}

// For a barrier that a part of the workgroup misses because it left a Loop by a Break: the Loop around the barrier, or around a Return.
std::string Hints::left_loop(const DivergentBarrier& found) {
  if (found.returned.valid()) {
    const std::string name = python_name(new_name("returned"));
    return say<Hint::RememberReturn>(place(found.returned, found.barrier), name, name, name);
  }
  if (!found.broken.valid()) return {};
  // Without the Break the Loop runs to its end, which a `while` does not have.
  constexpr std::uint32_t kMostTurns = 1u << 16;
  const Step& to = gathered_.step(gathered_.roots[found.loop].second);
  if (const auto turns = ir::literal_u32(program_.expr(to.expr)); turns && *turns > kMostTurns) return {};
  const std::string name = python_name(new_name("left"));
  return say<Hint::RememberBreak>(place(found.broken, found.barrier), name, name, name);
}

// The opposite of a condition.
std::string Hints::negated(StepId id) const {
  const Step& step = gathered_.step(id);
  const std::string text = code(id, "condition");
  const auto* binary = std::get_if<ir::Binary>(&program_.expr(step.expr));
  if (binary != nullptr && text != "condition") {
    if (const auto opposite = python_opposite(binary->op)) {
      const std::string left = code(gathered_.operands(id)[0], "left"), right = code(gathered_.operands(id)[1], "right");
      return fmt::format("Expr.{}({}, {})", ir::info(*opposite).text, left, right);
    }
  }
  return python_unary(ir::UnOp::LogicalNot, {or_u32(step.type), text});
}

}  // namespace vyre::validate
