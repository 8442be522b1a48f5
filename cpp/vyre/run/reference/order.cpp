#include "vyre/run/reference/order.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "vyre/ir/ops.hpp"
#include "vyre/ir/program.hpp"

namespace vyre::run::reference {
namespace {

// Whether a buffer that only atomics of this operator change ends up the same in every order of the atomics.
bool commutes(ir::AtomicOp op) { return op != ir::AtomicOp::Exchange && op != ir::AtomicOp::CompareExchange; }

}  // namespace

std::vector<NodeId> ordered_atomics(const validate::ValidProgram& valid) {
  const ir::Program& program = valid.program();
  const validate::Facts& facts = valid.facts();

  std::set<LocalId> read;
  std::map<BufferId, std::set<ir::AtomicOp>> ops;
  for (const validate::Step& step : facts.steps) {
    const ir::Expr& expr = program.expr(step.expr);
    if (std::holds_alternative<ir::Var>(expr)) read.insert(step.local);
    if (const auto* atomic = std::get_if<ir::Atomic>(&expr)) ops[step.buffer].insert(atomic->op);
  }
  const auto mixed = [&](BufferId buffer) {
    const std::set<ir::AtomicOp>& all = ops[buffer];
    return all.size() > 1 || !std::all_of(all.begin(), all.end(), commutes);
  };

  std::vector<NodeId> result;
  for (std::uint32_t index = 0; index < program.nodes().size() && !ops.empty(); ++index) {
    const NodeId node{index};
    std::set<ExprId> atomics, used;
    bool ordered = false;
    for (const validate::Step& step : facts.steps_of(node)) {
      if (std::holds_alternative<ir::Atomic>(program.expr(step.expr))) {
        atomics.insert(step.expr);
        ordered |= mixed(step.buffer);
      }
      if (!atomics.empty()) ir::for_each_operand(program, step.expr, [&](ExprId operand) { used.insert(operand); });
    }
    if (atomics.empty()) continue;
    // The result is unused when it is bound to a variable that is never read.
    const LocalId local = facts.statements[node].local;
    const bool binds = std::holds_alternative<ir::Let>(program.node(node)) || std::holds_alternative<ir::Assign>(program.node(node));
    if (!binds || read.contains(local)) ir::for_each_root(program.node(node), [&](ExprId root) { used.insert(root); });
    ordered |= std::any_of(atomics.begin(), atomics.end(), [&](ExprId atomic) { return used.contains(atomic); });
    if (ordered) result.push_back(node);
  }
  return result;
}

}  // namespace vyre::run::reference
