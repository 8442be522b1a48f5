// N007. A bound of a Loop is a difference that wraps around below 0. What conditions, enclosing loops and operators say about the least
// value of the minuend is followed through the statements in order: facts by the number of a value, which end with the list they hold in.
#include <algorithm>
#include <limits>
#include <unordered_map>

#include "vyre/advise/note_list.hpp"
#include "vyre/base/hash.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/validate/report.hpp"

namespace vyre::advise {
namespace {

using ir::BinOp;

std::uint32_t saturated(std::uint64_t value) { return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, ~0u)); }

struct Fact {
  std::uint32_t least = 0;
  bool bounded = false;  // by a comparison with something larger
};

}  // namespace

class LoopEnds::State {
 public:
  explicit State(NoteWalk& walk) : walk_(walk), least_(walk.facts.steps.size()), first_(walk.facts.locals.size()) {}

  void enter(NodeId id) {
    const ir::Node& node = walk_.program.node(id);
    const Statement& statement = walk_.facts.statements[id];
    for (std::uint32_t k = 0; k < statement.step_count; ++k) {
      const StepId step{statement.first_step + k};
      least_[step.index] = std::max(computed(walk_.facts.steps[step.index]), fact(step).least);
    }
    if (const auto* branch = std::get_if<ir::If>(&node)) {
      open_.push_back(changes_.size());
      assume(branch->condition, true);
    } else if (const auto* loop = std::get_if<ir::Loop>(&node)) {
      note(id, *loop);
      first_[statement.local] = least(loop->from);
      open_.push_back(changes_.size());
      below(loop->from, loop->to, true);
    } else if (std::holds_alternative<ir::Block>(node)) {
      open_.push_back(changes_.size());
    } else if (const auto* other = std::get_if<ir::Else>(&node)) {
      forget(open_.back());
      assume(std::get<ir::If>(walk_.program.node(other->opener)).condition, false);
    } else if (const auto* end = std::get_if<ir::End>(&node)) {
      close(id, *end);
    }
  }

 private:
  // Statements that follow an If that ends in a Return or a Break run where its condition is false.
  void close(NodeId id, const ir::End& end) {
    forget(open_.back());
    open_.pop_back();
    const auto* branch = std::get_if<ir::If>(&walk_.program.node(end.opener));
    const ir::Node& last = walk_.program.node(NodeId{id.index - 1});
    const bool leaves = std::holds_alternative<ir::Return>(last) || std::holds_alternative<ir::Break>(last);
    if (branch != nullptr && !branch->otherwise.valid() && leaves) assume(branch->condition, false);
  }

  // The least value as its operands give it. Sums and products are taken to stay below 2^32.
  std::uint32_t computed(const Step& step) const {
    const ir::Expr& expr = walk_.program.expr(step.expr);
    if (const auto literal = ir::literal_u32(expr)) return *literal;
    if (std::holds_alternative<ir::Var>(expr)) {
      const StepId value = walk_.values.value_of(step.local);
      return value.valid() ? least_[value.index] : first_[step.local];
    }
    if (std::holds_alternative<ir::BufLen>(expr)) {
      const auto known = walk_.call.lengths.find(walk_.buffer(step.buffer).name);
      return known == walk_.call.lengths.end() ? 0 : known->second;
    }
    if (const auto* select = std::get_if<ir::Select>(&expr)) return std::min(least(select->if_true), least(select->if_false));
    const auto* binary = std::get_if<ir::Binary>(&expr);
    if (binary == nullptr) return 0;
    const std::uint32_t left = least(binary->left), right = least(binary->right);
    const auto by = ir::literal_u32(walk_.program.expr(binary->right));
    switch (binary->op) {
      case BinOp::Max:
      case BinOp::BitOr:
        return std::max(left, right);
      case BinOp::Min:
        return std::min(left, right);
      case BinOp::Add:
        return saturated(std::uint64_t{left} + right);
      case BinOp::Mul:
        return saturated(std::uint64_t{left} * right);
      case BinOp::Sub:
        return std::max(fact(difference_of(binary->left, binary->right)).least, by && *by <= left ? left - *by : 0);
      case BinOp::Div:
        return by && *by != 0 ? left / *by : 0;
      case BinOp::Shr:
        return by ? left >> (*by & 31) : 0;
      default:
        return 0;
    }
  }

  // A bound of a loop, which does not wrap around where its minuend is less than the subtrahend by `spare` at most.
  struct Bound {
    ExprId expr;
    std::uint32_t spare = 0;
    bool begins = false;
  };

  void note(NodeId id, const ir::Loop& loop) {
    const Bound bound = bound_of(loop.to);
    if (fact(walk_.values.step(bound.expr)).bounded) return;
    const auto* difference = binary_of(bound.expr);
    if (difference == nullptr || difference->op != BinOp::Sub) return;
    const auto by = ir::literal_u32(walk_.program.expr(difference->right));
    if (!by || *by <= bound.spare || least(difference->left) >= *by - bound.spare) return;
    const std::string x = text_of(difference->left), a = std::to_string(*by), least = std::to_string(*by - bound.spare);
    walk_.found.push_back({id,
                           loop.to,
                           Note::N007,
                           {bound.begins ? "begins" : "ends", x, a, a, x, least, x, least, x},
                           std::vector<std::string>{x, least, x}});
  }

  // Returns the bound that the user wrote: the end of a loop, or where it counts down from. A loop with a step other than 1 ends at its
  // number of turns, which `range` in a kernel computes as a Select by whether there are any.
  Bound bound_of(ExprId end) const {
    const ExprId value = value_of(end);
    if (const auto* sum = std::get_if<ir::Binary>(&walk_.program.expr(value)); sum != nullptr && sum->op == BinOp::Add) {
      if (ir::literal_u32(walk_.program.expr(sum->right)) == 1u) return {sum->left, 1, true};
    }
    const auto* turns = std::get_if<ir::Select>(&walk_.program.expr(value));
    const auto* any = turns == nullptr ? nullptr : binary_of(turns->condition);
    if (any == nullptr) return {end};
    const auto right = ir::literal_u32(walk_.program.expr(any->right));
    if (any->op == BinOp::Lt) return {any->right};
    if (any->op == BinOp::Gt) return {any->left, 0, true};
    if (any->op == BinOp::Ne && right == 0u) return {any->left};
    if (any->op == BinOp::Eq && right == ~0u) return {any->left, 1, true};
    return {end};
  }

  // Returns the value of a variable that is assigned once, and any other expression as it is.
  ExprId value_of(ExprId expr) const {
    while (std::holds_alternative<ir::Var>(walk_.program.expr(expr))) {
      const StepId value = walk_.values.value_of(walk_.facts.steps[walk_.values.step(expr).index].local);
      if (!value.valid()) return expr;
      expr = walk_.facts.steps[value.index].expr;
    }
    return expr;
  }
  const ir::Binary* binary_of(ExprId expr) const { return std::get_if<ir::Binary>(&walk_.program.expr(value_of(expr))); }

  // A variable or a length by its name; "x" for any other expression.
  std::string text_of(ExprId expr) const {
    const ir::Expr& is = walk_.program.expr(expr);
    if (const auto* var = std::get_if<ir::Var>(&is)) return Text(walk_.program.text(var->name)).text();
    const auto* length = std::get_if<ir::BufLen>(&is);
    return length == nullptr ? "x" : "buf_len(" + Text(walk_.program.text(length->buffer)).text() + ")";
  }

  // Takes the facts that hold where the condition is true, or false.
  void assume(ExprId condition, bool truth) {
    struct Wanted {
      ExprId expr;
      bool truth;
    };
    std::vector<Wanted> open{{condition, truth}};
    for (std::size_t k = 0; k < open.size() && k < kMostConditions; ++k) {
      const auto [expr, wanted] = open[k];
      const ir::Expr& is = walk_.program.expr(expr);
      const auto* binary = std::get_if<ir::Binary>(&is);
      wanted ? raise(expr, 1) : bound(expr);
      if (const auto* unary = std::get_if<ir::Unary>(&is); unary != nullptr && unary->op == ir::UnOp::LogicalNot) {
        open.push_back({unary->operand, !wanted});
      } else if (const auto* cast = std::get_if<ir::Cast>(&is); cast != nullptr && cast->target == ir::DataType::Bool) {
        open.push_back({cast->value, wanted});
      } else if (std::holds_alternative<ir::Var>(is)) {
        const StepId value = walk_.values.value_of(walk_.facts.steps[walk_.values.step(expr).index].local);
        if (value.valid()) open.push_back({walk_.facts.steps[value.index].expr, wanted});
      } else if (binary != nullptr && (wanted ? binary->op == BinOp::And || binary->op == BinOp::BitAnd
                                              : binary->op == BinOp::Or || binary->op == BinOp::BitOr)) {
        open.push_back({binary->left, wanted});
        open.push_back({binary->right, wanted});
      } else if (binary != nullptr) {
        const bool is_zero = ir::literal_u32(walk_.program.expr(binary->right)) == 0u;
        if (is_zero && (binary->op == BinOp::Ne || binary->op == BinOp::Eq))
          open.push_back({binary->left, wanted == (binary->op == BinOp::Ne)});
        compared(*binary, wanted);
      }
    }
  }

  void compared(const ir::Binary& binary, bool truth) {
    const ExprId left = binary.left, right = binary.right;
    switch (binary.op) {
      case BinOp::Lt:
        return truth ? below(left, right, true) : below(right, left, false);
      case BinOp::Gt:
        return truth ? below(right, left, true) : below(left, right, false);
      case BinOp::Le:
        return truth ? below(left, right, false) : below(right, left, true);
      case BinOp::Ge:
        return truth ? below(right, left, false) : below(left, right, true);
      case BinOp::Eq:
      case BinOp::Ne:
        if ((binary.op == BinOp::Eq) != truth) return;
        below(left, right, false);
        return below(right, left, false);
      default:
        return;
    }
  }

  void below(ExprId less, ExprId more, bool strictly) {
    raise(more, saturated(std::uint64_t{least(less)} + strictly));
    bound(less);
    learn(difference_of(more, less), {strictly, false});
  }

  std::uint32_t least(ExprId expr) const {
    const StepId step = walk_.values.step(expr);
    return std::max(least_[step.index], fact(step).least);
  }
  // The number by which facts about a difference are known, however it is written.
  std::uint64_t difference_of(ExprId more, ExprId less) const {
    Fnv1a hash;
    hash.add(walk_.values.of(more).number);
    hash.add(walk_.values.of(less).number);
    return hash.value();
  }
  Fact fact(StepId step) const { return fact(walk_.values[step].number); }
  Fact fact(std::uint64_t number) const {
    const auto found = facts_.find(number);
    return found == facts_.end() ? Fact{} : found->second;
  }
  void raise(ExprId expr, std::uint32_t least) { learn(walk_.values.of(expr).number, {least, false}); }
  void bound(ExprId expr) { learn(walk_.values.of(expr).number, {0, true}); }
  void learn(std::uint64_t number, const Fact& more) {
    Fact& known = facts_[number];
    changes_.push_back({number, known});
    known = {std::max(known.least, more.least), known.bounded || more.bounded};
  }
  void forget(std::size_t from) {
    for (; changes_.size() > from; changes_.pop_back()) facts_[changes_.back().number] = changes_.back().before;
  }

  struct Change {
    std::uint64_t number;
    Fact before;
  };

  NoteWalk& walk_;
  std::vector<std::uint32_t> least_;        // by step
  IdVector<LocalId, std::uint32_t> first_;  // of a loop's variable
  std::unordered_map<std::uint64_t, Fact> facts_;
  std::vector<Change> changes_;
  std::vector<std::size_t> open_;  // by open list, how many changes there were before it
};

LoopEnds::LoopEnds(NoteWalk& walk) : state_(std::make_unique<State>(walk)) {}
LoopEnds::~LoopEnds() = default;
void LoopEnds::enter(NodeId statement) { state_->enter(statement); }

}  // namespace vyre::advise
