// One walk over the statements. Each open block keeps what it has stored so far, if it is entered; its end hands that on to the block
// around it: with the bounds of a condition that only compares ids with lengths, or what both branches of an If have stored.
#include "vyre/validate/whole_stores.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "vyre/ir/ops.hpp"
#include "vyre/validate/note_values.hpp"

namespace vyre::validate {
namespace {

using ir::BinOp;

// The most operands of a condition that are looked at. Operands that share each other could be visited without end.
constexpr std::size_t kMostConditionOperands = 64;

// The id along `axis` is below the length of the buffer.
struct Bound {
  std::uint8_t axis;
  BufferId buffer;
};
using Bounds = std::vector<Bound>;

class Walk {
 public:
  explicit Walk(const ValidProgram& valid)
      : program_(valid.program()), facts_(valid.facts()), values_(valid), is_read_(program_.buffers().size()), open_(1) {
    for (std::uint32_t index = 0; index < program_.nodes().size(); ++index) enter(NodeId{index});
  }

  std::vector<WholeStore> found() && {
    std::vector<WholeStore> all;
    for (auto& [buffer, store] : open_.front().stored) {
      if (!is_read_[BufferId{buffer}]) all.push_back(std::move(store));
    }
    return all;
  }

 private:
  using Stored = std::map<std::uint32_t, WholeStore>;  // by the buffer

  struct Open {
    // If the block is an If: the bounds that hold exactly if its condition is true, or false; nothing if the condition says anything else.
    std::optional<Bounds> if_true, if_false;
    Bounds active;            // the bounds that hold from here to the end of the block
    Stored stored, in_then;   // what this branch has stored; in an Else also what the branch before it has stored
    bool has_return = false;  // a Return is one of its own statements
    // Some invocations returned in an If within this block, so that not all run what follows the end of the block.
    bool some_returned = false;
  };

  void enter(NodeId id) {
    values_.enter(id);
    for (const Step& step : facts_.steps_of(id)) {
      const ir::Expr& expr = program_.expr(step.expr);
      if (std::holds_alternative<ir::Load>(expr) || std::holds_alternative<ir::Atomic>(expr)) is_read_[step.buffer] = true;
    }
    const ir::Node& node = program_.node(id);
    if (const auto* store = std::get_if<ir::Store>(&node)) {
      const std::int8_t axis = values_.of(store->index).id_axis;
      const BufferId buffer = facts_.statements[id].buffer;
      if (axis >= 0 && program_.buffers()[buffer.index].access == ir::BufferAccess::ReadWrite) {
        add(open_.back(), {buffer, static_cast<std::uint8_t>(axis), {}});
      }
    } else if (const auto* branch = std::get_if<ir::If>(&node)) {
      // Read now: a later statement in another scope may share the expression, where its variables mean something else.
      open_.push_back({bounds(branch->condition, true), bounds(branch->condition, false), {}, {}, {}, false, false});
    } else if (std::holds_alternative<ir::Loop>(node) || std::holds_alternative<ir::Block>(node)) {
      open_.emplace_back();
    } else if (std::holds_alternative<ir::Else>(node)) {
      open_.back().in_then = std::move(open_.back().stored);
      open_.back().stored.clear();
      open_.back().active.clear();
    } else if (std::holds_alternative<ir::Return>(node)) {
      open_.back().has_return = true;
      if (open_.size() == 1) lost_ = true;
    } else if (const auto* end = std::get_if<ir::End>(&node)) {
      close(id, *end);
    }
  }

  // After an If whose body ends in the only Return within it, the invocations go on for which its condition is false. After any other
  // Return it is not known which invocations go on.
  void close(NodeId id, const ir::End& end) {
    Open top = std::move(open_.back());
    open_.pop_back();
    hand_on(id, end, top, open_.back());
    if (top.some_returned) lost_ = true;
  }

  void hand_on(NodeId id, const ir::End& end, Open& top, Open& around) {
    const ir::Node& opener = program_.node(end.opener);
    const auto* branch = std::get_if<ir::If>(&opener);
    const bool has_else = branch != nullptr && branch->otherwise.valid();
    if (top.has_return) {
      const bool leaves = std::holds_alternative<ir::Return>(program_.node(NodeId{id.index - 1}));
      if (branch != nullptr && !has_else && leaves && top.if_false) {
        around.active.insert(around.active.end(), top.if_false->begin(), top.if_false->end());
        around.some_returned = true;
      } else {
        lost_ = true;
      }
      return;
    }
    if (has_else) {
      for (auto& [buffer, store] : top.stored) {
        const auto other = top.in_then.find(buffer);
        if (other == top.in_then.end() || other->second.axis != store.axis) continue;
        store.below.insert(store.below.end(), other->second.below.begin(), other->second.below.end());
        add(around, std::move(store));
      }
    } else if (branch != nullptr) {
      if (!top.if_true) return;
      for (auto& [buffer, store] : top.stored) {
        if (limit(store, *top.if_true)) add(around, std::move(store));
      }
    } else if (std::holds_alternative<ir::Block>(opener)) {
      for (auto& [buffer, store] : top.stored) add(around, std::move(store));
    }
  }

  // Returns false where the bounds are of another axis.
  static bool limit(WholeStore& store, const Bounds& bounds) {
    for (const Bound& bound : bounds) {
      if (bound.axis != store.axis) return false;
      if (std::find(store.below.begin(), store.below.end(), bound.buffer) == store.below.end()) store.below.push_back(bound.buffer);
    }
    return true;
  }

  void add(Open& open, WholeStore store) {
    if (lost_ || !limit(store, open.active)) return;
    const auto [known, is_new] = open.stored.try_emplace(store.buffer.index, store);
    if (!is_new && store.below.size() < known->second.below.size()) known->second = std::move(store);
  }

  // Returns the bounds that hold exactly if the condition has this truth; nothing if the condition says anything else.
  std::optional<Bounds> bounds(ExprId condition, bool truth) const {
    struct Wanted {
      ExprId expr;
      bool truth;
    };
    Bounds made;
    std::vector<Wanted> left{{condition, truth}};
    for (std::size_t k = 0; k < left.size(); ++k) {
      const auto [expr, wanted] = left[k];
      if (k == kMostConditionOperands) return std::nullopt;
      const ir::Expr& is = program_.expr(expr);
      if (const auto* unary = std::get_if<ir::Unary>(&is); unary != nullptr && unary->op == ir::UnOp::LogicalNot) {
        left.push_back({unary->operand, !wanted});
        continue;
      }
      const auto* binary = std::get_if<ir::Binary>(&is);
      if (binary == nullptr) return std::nullopt;
      if (binary->op == (wanted ? BinOp::And : BinOp::Or)) {
        left.push_back({binary->left, wanted});
        left.push_back({binary->right, wanted});
        continue;
      }
      const bool rising = binary->op == (wanted ? BinOp::Lt : BinOp::Ge), falling = binary->op == (wanted ? BinOp::Gt : BinOp::Le);
      const auto found = rising ? below(binary->left, binary->right) : falling ? below(binary->right, binary->left) : std::nullopt;
      if (!found) return std::nullopt;
      made.push_back(*found);
    }
    return made;
  }

  std::optional<Bound> below(ExprId id, ExprId length) const {
    const std::int8_t axis = values_.of(id).id_axis;
    StepId step = values_.step(length);
    // A variable that is never assigned stands for its Let's value.
    while (step.valid() && facts_.steps[step.index].local.valid()) step = values_.value_of(facts_.steps[step.index].local);
    if (axis < 0 || !step.valid() || !std::holds_alternative<ir::BufLen>(program_.expr(facts_.steps[step.index].expr))) return std::nullopt;
    return Bound{static_cast<std::uint8_t>(axis), facts_.steps[step.index].buffer};
  }

  const ir::Program& program_;
  const Facts& facts_;
  NoteValues values_;
  IdVector<BufferId, bool> is_read_;
  std::vector<Open> open_;  // the first one is the program itself
  bool lost_ = false;       // some invocations may have returned
};

}  // namespace

std::vector<WholeStore> whole_stores(const ValidProgram& program) { return Walk(program).found(); }

}  // namespace vyre::validate
