// Puts the value of a Let in place of its uses, and drops the Let, where
//   - the local is never assigned, and its value would be the same at the use: it reads no writable memory, contains no atomic, and none of
//     its variables is assigned between the Let and the use;
//   - nothing is evaluated more often: there is only one use, and the same loop is innermost around it and the Let; or the value is a
//     literal or a variable.
// No name is captured when an expression moves: shadowing is not allowed, so a name that is visible at the Let means the same at a use.
#include <optional>

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

// The innermost loop around each statement; a loop's own bounds are evaluated outside it.
IdVector<NodeId, NodeId> loops_around(const ir::Program& program) {
  IdVector<NodeId, NodeId> loop(program.nodes().size());
  std::vector<NodeId> open;
  for (std::uint32_t index = 0; index < program.nodes().size(); ++index) {
    const NodeId id{index};
    const ir::Node& node = program.node(id);
    if (const auto* end = std::get_if<ir::End>(&node); end != nullptr && !open.empty() && open.back() == end->opener) open.pop_back();
    if (!open.empty()) loop[id] = open.back();
    if (std::holds_alternative<ir::Loop>(node)) open.push_back(id);
  }
  return loop;
}

// Goes backwards: all uses of a Let come after it, so they are final when the search reaches the Let.
class Search {
 public:
  explicit Search(const validate::ValidProgram& valid)
      : program_(valid.program()),
        facts_(valid.facts()),
        exprs_(expr_facts(valid)),
        loop_(loops_around(program_)),
        next_assign_(facts_.locals.size()),
        uses_(facts_.locals.size()),
        replaced_(facts_.locals.size(), 0) {}

  // Returns for each local whether its uses are replaced by its value; nothing if none are.
  std::optional<IdVector<LocalId, std::uint8_t>> run() {
    bool changes = false;
    for (auto index = static_cast<std::uint32_t>(program_.nodes().size()); index-- > 0;) {
      const NodeId id{index};
      // Where this statement's variables are used: in itself or, if it is a Let that is dropped, where its own local is used.
      Use use;
      use.statement = id;
      const auto* let = std::get_if<ir::Let>(&program_.node(id));
      if (let != nullptr && can_replace(id, *let)) {
        const LocalId local = facts_.statements[id].local;
        replaced_[local] = 1;
        changes = true;
        use = uses_[local];
      }
      for (const Step& step : facts_.steps_of(id)) {
        if (!step.local.valid()) continue;
        Use& seen = uses_[step.local];
        seen.add(use.statement, step.expr);
        seen.several_statements = seen.several_statements || use.several_statements;
      }
      if (std::holds_alternative<ir::Assign>(program_.node(id))) next_assign_[facts_.statements[id].local] = id;
    }
    if (!changes) return std::nullopt;
    return std::move(replaced_);
  }

 private:
  bool can_replace(NodeId id, const ir::Let& let) const {
    const LocalId local = facts_.statements[id].local;
    const Use& own = uses_[local];
    if (!exprs_.fixed[let.value] || facts_.locals[local].assigned || !own.statement.valid()) return false;
    for (const Step& step : facts_.steps_of(id)) {
      if (step.local.valid() && !keeps_value(step.local, id, own)) return false;
    }
    const bool copies = constant_of(program_.expr(let.value)) || std::holds_alternative<ir::Var>(program_.expr(let.value));
    return copies || (own.single() && loop_[own.statement] == loop_[id]);
  }

  // Whether no statement assigns the variable between the Let and its last use. Assignments before the Let or after the use in the loop
  // body run in other turns and do not matter.
  bool keeps_value(LocalId variable, NodeId let, const Use& use) const {
    if (!facts_.locals[variable].assigned) return true;
    const NodeId next = next_assign_[variable];
    return !use.several_statements && loop_[use.statement] == loop_[let] && (!next.valid() || next.index >= use.statement.index);
  }

  const ir::Program& program_;
  const validate::Facts& facts_;
  const ExprFacts exprs_;
  const IdVector<NodeId, NodeId> loop_;
  IdVector<LocalId, NodeId> next_assign_;  // the first statement after the current one that assigns the local
  IdVector<LocalId, Use> uses_;
  IdVector<LocalId, std::uint8_t> replaced_;
};

}  // namespace

validate::ValidProgram propagate_lets(const validate::ValidProgram& valid) {
  const ir::Program& program = valid.program();
  const validate::Facts& facts = valid.facts();
  const auto found = Search(valid).run();
  if (!found) return valid;
  const IdVector<LocalId, std::uint8_t>& replaced = *found;

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
