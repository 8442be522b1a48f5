// Puts the value of a Let in place of its uses, and drops the Let, where
//   - the local is never assigned, and its value would be the same at the use: it reads no writable memory, contains no atomic, and none of
//     its variables is assigned between the Let and the use;
//   - nothing is evaluated more often: there is only one use, and the same loop is innermost around it and the Let; or the value is a
//     literal or a variable.
// No name is captured when an expression moves: shadowing is not allowed, so a name that is visible at the Let means the same at a use.
#include "vyre/transform/passes.hpp"
#include "vyre/transform/rebuild.hpp"

namespace vyre::transform {
namespace {

using validate::Step;

// Where the rewritten program will use a local: a statement, and the node of the variable in it.
struct Use {
  NodeId statement;  // a statement that uses it, the only one unless `several_statements`; invalid when there is none
  ExprId node;
  bool several_statements = false, several_nodes = false;

  void add(NodeId at, ExprId variable) {
    several_statements = several_statements || (statement.valid() && statement != at);
    several_nodes = several_nodes || (statement.valid() && node != variable);
    statement = at;
    node = variable;
  }
  bool single() const { return statement.valid() && !several_statements && !several_nodes; }
};

}  // namespace

validate::ValidProgram propagate_lets(const validate::ValidProgram& valid) {
  const ir::Program& program = valid.program();
  const validate::Facts& facts = valid.facts();
  const ExprFacts exprs = expr_facts(valid);

  // The innermost loop around each statement; a loop's own bounds are evaluated outside it.
  IdVector<NodeId, NodeId> loop(program.nodes().size());
  std::vector<NodeId> open;
  for (std::uint32_t index = 0; index < program.nodes().size(); ++index) {
    const NodeId id{index};
    const ir::Node& node = program.node(id);
    if (const auto* end = std::get_if<ir::End>(&node); end != nullptr && !open.empty() && open.back() == end->opener) open.pop_back();
    if (!open.empty()) loop[id] = open.back();
    if (std::holds_alternative<ir::Loop>(node)) open.push_back(id);
  }

  // For each local, the first statement after the current one that assigns it.
  IdVector<LocalId, NodeId> next_assign(facts.locals.size());
  // Whether no statement assigns the variable between the Let and its last use. Assignments before the Let or after the use in the loop
  // body run in other turns and do not matter.
  const auto keeps_value = [&](LocalId variable, NodeId let, const Use& use) {
    if (!facts.locals[variable].assigned) return true;
    return !use.several_statements && loop[use.statement] == loop[let] &&
           (!next_assign[variable].valid() || next_assign[variable].index >= use.statement.index);
  };

  // The walk goes backwards: all uses of a Let come after it, so they are final when the walk reaches the Let.
  IdVector<LocalId, Use> uses(facts.locals.size());
  IdVector<LocalId, std::uint8_t> replaced(facts.locals.size(), 0);
  bool changes = false;
  for (std::uint32_t index = static_cast<std::uint32_t>(program.nodes().size()); index-- > 0;) {
    const NodeId id{index};
    const auto* let = std::get_if<ir::Let>(&program.node(id));
    Use use;  // where this statement's variables are used: in itself or, if it is a Let that is dropped, where its own local is used
    use.statement = id;
    if (let != nullptr) {
      const LocalId local = facts.statements[id].local;
      const Use& own = uses[local];
      bool constant = exprs.fixed[let->value] && !facts.locals[local].assigned && own.statement.valid();
      for (const Step& step : facts.steps_of(id)) constant = constant && (!step.local.valid() || keeps_value(step.local, id, own));
      const bool copies = constant_of(program.expr(let->value)) || std::holds_alternative<ir::Var>(program.expr(let->value));
      const bool moves = own.single() && loop[own.statement] == loop[id];
      if (constant && (copies || moves)) {
        replaced[local] = 1;
        changes = true;
        use = own;
      }
    }
    for (const Step& step : facts.steps_of(id)) {
      if (!step.local.valid()) continue;
      Use& seen = uses[step.local];
      seen.add(use.statement, step.expr);
      seen.several_statements = seen.several_statements || use.several_statements;
    }
    if (std::holds_alternative<ir::Assign>(program.node(id))) next_assign[facts.statements[id].local] = id;
  }
  if (!changes) return valid;

  // Expressions that contain no replaced variable are copied once for all statements.
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
