// Dead code elimination: keeps only the stores, atomics, barriers and returns, and the statements that they depend on. Of an If whose
// condition is a literal, it keeps the branch that runs. Every loop ends, so a loop without such an effect is removed. A loop that stays
// keeps its breaks.
#include "vyre/transform/passes.hpp"
#include "vyre/transform/rebuild.hpp"

namespace vyre::transform {
namespace {

using validate::Step;
using validate::ValidProgram;

class Remover {
 public:
  explicit Remover(const ValidProgram& valid)
      : valid_(valid),
        program_(valid.program()),
        facts_(valid.facts()),
        parent_(program_.nodes().size()),
        unreachable_(program_.nodes().size(), 0),
        used_(program_.nodes().size(), 0),
        last_write_(facts_.locals.size()),
        previous_write_(program_.nodes().size()),
        last_break_(program_.nodes().size()),
        previous_break_(program_.nodes().size()) {}

  ValidProgram run() {
    find_structure();
    for (std::uint32_t index = 0; index < program_.nodes().size(); ++index) {
      if (!unreachable_[NodeId{index}] && has_effect(NodeId{index})) use(NodeId{index});
    }
    while (!pending_.empty()) {
      const NodeId id = pending_.back();
      pending_.pop_back();
      use_dependencies(id);
    }
    bool changes = false;
    for (std::uint32_t index = 0; index < program_.nodes().size(); ++index) {
      const NodeId id{index};
      changes = changes || (is_statement(program_.node(id)) && (!used_[id] || decided(program_.node(id))));
    }
    return changes ? rebuild() : valid_;
  }

 private:
  static bool is_statement(const ir::Node& node) {
    return !std::holds_alternative<ir::Else>(node) && !std::holds_alternative<ir::End>(node);
  }

  std::optional<bool> truth(ExprId id) const {
    const std::optional<Constant> constant = constant_of(program_.expr(id));
    return constant ? std::optional(constant->value.lanes[0] != 0) : std::nullopt;
  }
  // The value of a literal condition.
  std::optional<bool> decided(const ir::Node& node) const {
    const auto* branch = std::get_if<ir::If>(&node);
    return branch != nullptr ? truth(branch->condition) : std::nullopt;
  }
  bool runs_no_round(const ir::Loop& loop) const {
    const std::optional<Constant> from = constant_of(program_.expr(loop.from)), to = constant_of(program_.expr(loop.to));
    return from && to && from->value.lanes[0] >= to->value.lanes[0];
  }

  // Finds the block around each statement, the statements that cannot run, the writes of each local, and the Breaks of each Loop.
  void find_structure() {
    std::vector<NodeId> open, loops;
    std::uint32_t unreachable_until = 0;
    for (std::uint32_t index = 0; index < program_.nodes().size(); ++index) {
      const NodeId id{index};
      const ir::Node& node = program_.node(id);
      if (std::holds_alternative<ir::End>(node)) {
        if (!loops.empty() && loops.back() == open.back()) loops.pop_back();
        open.pop_back();
      }
      if (!open.empty()) parent_[id] = open.back();
      unreachable_[id] = index < unreachable_until;
      auto skip_to = [&](NodeId end) { unreachable_until = std::max(unreachable_until, end.index); };
      if (const auto* branch = std::get_if<ir::If>(&node)) {
        if (decided(node) == false) skip_to(branch->otherwise.valid() ? branch->otherwise : branch->end);
        open.push_back(id);
      } else if (const auto* other = std::get_if<ir::Else>(&node)) {
        if (decided(program_.node(other->opener)) == true) skip_to(other->end);
      } else if (const auto* loop = std::get_if<ir::Loop>(&node)) {
        if (runs_no_round(*loop)) skip_to(loop->end);
        open.push_back(id);
        loops.push_back(id);
      } else if (std::holds_alternative<ir::Break>(node)) {
        previous_break_[id] = last_break_[loops.back()];
        last_break_[loops.back()] = id;
      } else if (std::holds_alternative<ir::Block>(node)) {
        open.push_back(id);
      }
      if (const LocalId local = facts_.statements[id].local; local.valid()) {
        previous_write_[id] = last_write_[local];
        last_write_[local] = id;
      }
    }
  }

  bool has_effect(NodeId id) const {
    const ir::Node& node = program_.node(id);
    if (std::holds_alternative<ir::Store>(node) || std::holds_alternative<ir::Barrier>(node) || std::holds_alternative<ir::Return>(node)) {
      return true;
    }
    for (const Step& step : facts_.steps_of(id)) {
      if (std::holds_alternative<ir::Atomic>(program_.expr(step.expr))) return true;
    }
    return false;
  }

  void use(NodeId id) {
    if (used_[id] || unreachable_[id]) return;
    used_[id] = 1;
    pending_.push_back(id);
  }
  void use_dependencies(NodeId id) {
    if (parent_[id].valid()) use(parent_[id]);
    for (NodeId leaves = last_break_[id]; leaves.valid(); leaves = previous_break_[leaves]) use(leaves);
    // A variable that is written must exist.
    if (const LocalId local = facts_.statements[id].local; local.valid()) use(facts_.locals[local].declaration);
    for (const Step& step : facts_.steps_of(id)) {
      if (!step.local.valid()) continue;
      // The list of writes is cleared, so that the writes of each local are walked once.
      for (NodeId write = std::exchange(last_write_[step.local], NodeId{}); write.valid(); write = previous_write_[write]) use(write);
    }
  }

  ValidProgram rebuild() {
    Rebuild rebuild(valid_);
    IdVector<ExprId, ExprId> moved(program_.exprs().size());
    auto copy = [&](NodeId id) {
      for (const Step& step : facts_.steps_of(id)) {
        if (moved[step.expr].valid()) continue;
        moved[step.expr] = rebuild.copy(step.expr, [&](ExprId operand) { return moved[operand]; });
      }
      rebuild.copy(id, [&](ExprId root) { return moved[root]; });
    };
    for (std::uint32_t index = 0; index < program_.nodes().size(); ++index) {
      const NodeId id{index};
      const ir::Node& node = program_.node(id);
      if (const auto* end = std::get_if<ir::End>(&node)) {
        if (used_[end->opener]) rebuild.to().end();
      } else if (const auto* other = std::get_if<ir::Else>(&node)) {
        if (used_[other->opener] && !decided(program_.node(other->opener))) rebuild.to().else_();
      } else if (used_[id]) {
        if (decided(node)) {
          rebuild.to().block();  // keeps the scope
        } else {
          copy(id);
        }
      }
    }
    return rebuild.finish();
  }

  const ValidProgram& valid_;
  const ir::Program& program_;
  const validate::Facts& facts_;
  IdVector<NodeId, NodeId> parent_;
  IdVector<NodeId, std::uint8_t> unreachable_, used_;
  IdVector<LocalId, NodeId> last_write_;
  IdVector<NodeId, NodeId> previous_write_;
  IdVector<NodeId, NodeId> last_break_, previous_break_;  // the Breaks of a Loop as a list: the last by Loop, the one before by Break
  std::vector<NodeId> pending_;
};

}  // namespace

ValidProgram remove_unused(const ValidProgram& valid) { return Remover(valid).run(); }

}  // namespace vyre::transform
