// Puts the value of a Let in place of its uses, and drops the Let, where
//   - the Let is never assigned and its value cannot change until then: it reads no writable memory, makes no atomic, and its
//     variables are never assigned either;
//   - nothing is evaluated more often: there is one use, in the same rounds of the same loops, or the value is a literal or
//     a variable.
// Names cannot be caught on the way: shadowing is not allowed, so a name that is visible at the Let means the same at a use.
#include "vyre/transform/passes.hpp"
#include "vyre/transform/rebuild.hpp"

namespace vyre::transform {
namespace {

using validate::Step;

struct Use {
  std::uint32_t count = 0;
  bool same_loop = true;  // as the Let, all of them
};

}  // namespace

validate::ValidProgram propagate_lets(const validate::ValidProgram& valid) {
  const ir::Program& program = valid.program();
  const validate::Facts& facts = valid.facts();
  const ExprFacts exprs = expr_facts(valid);

  // The innermost loop around each statement; a loop's own bounds are evaluated outside it.
  IdVector<NodeId, NodeId> loop(program.nodes().size());
  std::vector<NodeId> open;
  IdVector<LocalId, Use> uses(facts.locals.size());
  for (std::uint32_t index = 0; index < program.nodes().size(); ++index) {
    const NodeId id{index};
    const ir::Node& node = program.node(id);
    if (const auto* end = std::get_if<ir::End>(&node); end != nullptr && !open.empty() && open.back() == end->opener) open.pop_back();
    if (!open.empty()) loop[id] = open.back();
    if (std::holds_alternative<ir::Loop>(node)) open.push_back(id);
    for (const Step& step : facts.steps_of(id)) {
      if (!step.local.valid()) continue;
      Use& use = uses[step.local];
      ++use.count;
      use.same_loop = use.same_loop && loop[id] == loop[facts.locals[step.local].declaration];
    }
  }

  // Which Lets go. `root` is what a replaced Let's uses become: followed through Lets that are replaced themselves.
  IdVector<LocalId, std::uint8_t> replaced(facts.locals.size(), 0);
  IdVector<LocalId, ExprId> root(facts.locals.size());
  bool changes = false;
  for (std::uint32_t index = 0; index < program.nodes().size(); ++index) {
    const NodeId id{index};
    const auto* let = std::get_if<ir::Let>(&program.node(id));
    if (let == nullptr) continue;
    const LocalId local = facts.statements[id].local;
    bool constant = exprs.fixed[let->value] && !facts.locals[local].assigned;
    ExprId value = let->value;
    for (const Step& step : facts.steps_of(id)) {
      if (!step.local.valid()) continue;
      constant = constant && !facts.locals[step.local].assigned;
      if (step.expr == let->value && replaced[step.local]) value = root[step.local];
    }
    if (!constant || uses[local].count == 0) continue;
    const bool copies = constant_of(program.expr(value)) || std::holds_alternative<ir::Var>(program.expr(value));
    if (!copies && !(uses[local].count == 1 && uses[local].same_loop)) continue;
    replaced[local] = 1;
    root[local] = value;
    changes = true;
  }
  if (!changes) return valid;

  // Expressions that no replaced variable is part of are copied once for all statements.
  IdVector<ExprId, std::uint8_t> touched(program.exprs().size(), 0);
  for (const Step& step : facts.steps) {
    bool touch = touched[step.expr] || (step.local.valid() && replaced[step.local]);
    for_each_operand(program, step.expr, [&](ExprId operand) { touch = touch || touched[operand]; });
    touched[step.expr] = touch;
  }

  Rebuild rebuild(valid);
  IdVector<ExprId, ExprId> moved(program.exprs().size());
  IdVector<LocalId, ExprId> value(facts.locals.size());
  for (std::uint32_t index = 0; index < program.nodes().size(); ++index) {
    const NodeId id{index};
    for (const Step& step : facts.steps_of(id)) {
      if (step.local.valid() && replaced[step.local]) {
        moved[step.expr] = value[step.local];
      } else if (touched[step.expr] || !moved[step.expr].valid()) {
        moved[step.expr] = rebuild.copy(step.expr, [&](ExprId operand) { return moved[operand]; });
      }
    }
    const auto* let = std::get_if<ir::Let>(&program.node(id));
    if (let != nullptr && replaced[facts.statements[id].local]) {
      value[facts.statements[id].local] = moved[let->value];
      continue;
    }
    rebuild.copy(id, [&](ExprId expr) { return moved[expr]; });
  }
  return rebuild.finish();
}

}  // namespace vyre::transform
