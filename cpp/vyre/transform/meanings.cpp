#include "vyre/transform/meanings.hpp"

#include <algorithm>
#include <array>

#include "vyre/ir/ops.hpp"
#include "vyre/transform/value_key.hpp"

namespace vyre::transform {
namespace {

using validate::Step;

// The search through a value's operands gives up after this many expressions.
constexpr std::size_t kMostLookedAt = 64;

}  // namespace

Meanings::Meanings(const validate::ValidProgram& valid, const ExprFacts& facts, const IdVector<ExprId, Replacement>& result)
    : valid_(valid),
      program_(valid.program()),
      facts_(facts),
      result_(result),
      locals_(program_.exprs().size()),
      bindings_(valid.facts().locals.size()),
      further_(program_.exprs().size()) {
  find_bound();
}

void Meanings::find_bound() {
  const validate::Facts& facts = valid_.facts();
  std::vector<NodeId> loops;  // around the statement, the innermost last
  for (std::uint32_t index = 0; index < program_.nodes().size(); ++index) {
    const NodeId id{index};
    const ir::Node& node = program_.node(id);
    for (const Step& step : facts.steps_of(id)) {
      if (!step.local.valid()) continue;
      LocalId& local = locals_[step.expr];
      if (!local.valid()) local = step.local;
      // Sibling scopes may declare locals of the same name, and a shared expression may read both. Nothing is known about its value.
      if (local != step.local) bindings_[local].several = bindings_[step.local].several = true;
      Binding& binding = bindings_[step.local];
      // A loop that does not contain the Let reads the variable in every turn, so the last use is the end of the outermost such loop.
      const auto outermost = std::ranges::upper_bound(loops, NodeId{binding.let});
      binding.last_use =
          std::max(binding.last_use, outermost == loops.end() ? index : std::get_if<ir::Loop>(&program_.node(*outermost))->end.index);
    }
    const LocalId local = facts.statements[id].local;
    if (const auto* let = std::get_if<ir::Let>(&node)) {
      bindings_[local].let = index;
      if (!facts.locals[local].assigned) bindings_[local].value = let->value;
    } else if (std::holds_alternative<ir::Loop>(node)) {
      bindings_[local].let = index;
      loops.push_back(id);
    } else if (std::holds_alternative<ir::Assign>(node)) {
      assigns_.emplace_back(local, index);
    } else if (const auto* end = std::get_if<ir::End>(&node); end != nullptr && !loops.empty() && loops.back() == end->opener) {
      loops.pop_back();
    }
  }
  std::ranges::sort(assigns_);
  // Replacing a variable by the value of its Let moves the reads in that value to the variable's uses. So the last use of every local that
  // the Let reads is at least as late as the last use of the variable.
  for (std::uint32_t index = static_cast<std::uint32_t>(program_.nodes().size()); index-- > 0;) {
    const NodeId id{index};
    if (!std::holds_alternative<ir::Let>(program_.node(id))) continue;
    const Binding user = bindings_[facts.statements[id].local];
    for (const Step& step : facts.steps_of(id)) {
      if (step.local.valid()) bindings_[step.local].last_use = std::max(bindings_[step.local].last_use, user.last_use);
    }
  }
}

// Whether a statement after `after` and before `before` assigns the local.
bool Meanings::is_assigned_between(LocalId local, std::uint32_t after, std::uint32_t before) const {
  const auto next = std::ranges::upper_bound(assigns_, std::pair(local, after));
  return next != assigns_.end() && next->first == local && next->second < before;
}

// The value that a variable stands for wherever it is read; invalid for other expressions.
ExprId Meanings::value_of(ExprId id) {
  const LocalId local = locals_[id];
  if (!local.valid()) return {};
  Binding& binding = bindings_[local];
  // Expressions are simplified in the order of their numbers, so a value with a greater number has no replacement yet.
  if (!binding.value.valid() || binding.several || binding.value.index > id.index) return {};
  if (!binding.judged) {
    binding.judged = true;
    if (!stays(binding)) binding.value = ExprId{};
  }
  return binding.value;
}

// Whether the value is the same at every use as it was at the Let: it reads no memory that changes, and none of its variables is
// assigned in between. A later assignment in a loop around both does no harm, because the Let runs again before the next use.
bool Meanings::stays(const Binding& binding) const {
  std::array<ExprId, kMostLookedAt> pending{binding.value};
  std::size_t end = 1;
  bool result = true;
  for (std::size_t next = 0; next < end && result; ++next) {
    const Replacement& found = result_[pending[next]];
    if (found.constant) continue;
    if (const LocalId local = locals_[found.by]; local.valid()) {
      result = !bindings_[local].several && !is_assigned_between(local, binding.let, binding.last_use);
    }
    result = result && facts_.repeatable[found.by];
    for_each_operand(program_, found.by, [&](ExprId operand) {
      result = result && end < pending.size();
      if (result) pending[end++] = operand;
    });
  }
  return result;
}

const Replacement& Meanings::looked_through(ExprId id) {
  ExprId end = id;
  for (;;) {
    const Replacement& found = result_[end];
    if (found.constant) break;
    const ExprId next = further_[end].valid() ? further_[end] : value_of(found.by);
    if (!next.valid()) break;
    end = next;
  }
  // Each chain of variables is followed once: from now on, every expression on it leads directly to its end.
  for (ExprId at = id; at != end;) {
    const ExprId next = further_[at].valid() ? further_[at] : value_of(result_[at].by);
    further_[at] = end;
    at = next;
  }
  return result_[end];
}

bool Meanings::same(ExprId a, ExprId b) {
  if (a == b) return true;
  const Replacement& one = of(a);
  const Replacement& other = of(b);
  if (one.constant || other.constant) return same_throughout(a, b);
  if (one.by == other.by) return true;
  const ir::Expr& expr = program_.expr(one.by);
  if (kind(expr) != kind(program_.expr(other.by))) return false;
  if (ir::operator_of(expr) != ir::operator_of(program_.expr(other.by))) return false;
  return same_throughout(a, b);
}
bool Meanings::is_literal(const Replacement& found) const {
  return found.constant || std::holds_alternative<ir::Literal>(program_.expr(found.by));
}
bool Meanings::same_throughout(ExprId a, ExprId b) {
  std::array<std::pair<ExprId, ExprId>, kMostLookedAt> pending{std::pair(a, b)};
  std::size_t end = 1;
  for (std::size_t next = 0; next < end; ++next) {
    const auto [left, right] = pending[next];
    if (left == right) continue;
    const Replacement& one = of(left);
    const Replacement& other = of(right);
    if (!one.constant && !other.constant && one.by == other.by) continue;
    if (is_literal(one) || is_literal(other)) {
      if (!is_literal(one) || !is_literal(other)) return false;
      const Constant known = one.constant ? *one.constant : *constant_of(program_.expr(one.by));
      const Constant known_too = other.constant ? *other.constant : *constant_of(program_.expr(other.by));
      if (known.type != known_too.type || known.value.lanes != known_too.value.lanes) return false;
      continue;
    }
    const ir::Expr& expr = program_.expr(one.by);
    if (kind(expr) != kind(program_.expr(other.by)) || !facts_.repeatable[one.by] || !facts_.repeatable[other.by]) return false;
    const auto any = [](ExprId) { return ExprId{0}; };
    if (value_key(program_, expr, any) != value_key(program_, program_.expr(other.by), any)) return false;
    const std::size_t begin = end;
    for_each_operand(program_, one.by, [&](ExprId operand) {
      if (end < pending.size()) pending[end].first = operand;
      ++end;
    });
    if (end > pending.size()) return false;
    std::size_t at = begin;
    for_each_operand(program_, other.by, [&](ExprId operand) { pending[at++].second = operand; });
  }
  return true;
}

}  // namespace vyre::transform
