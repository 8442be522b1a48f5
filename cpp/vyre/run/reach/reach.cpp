// How it works: one walk over the statements computes each expression as an IndexForm, as far as it is one. Open blocks say what must hold
// for an invocation to get there: bounds of forms, or something unknown. Each store is kept with its bounds; one under an unknown condition
// counts if the other branch of that If stores to the same elements.
#include "vyre/run/reach/reach.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/base/overloaded.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre::run {
namespace {

using ir::BinOp;

// The most stores to a buffer that are looked at, and the most bounds of one of them.
constexpr std::size_t kMostStores = 2048, kMostBounds = 32;
constexpr std::uint32_t kMostDigits = 1024;
constexpr std::int64_t kMostWord = std::numeric_limits<std::uint32_t>::max();

// The bounds that hold exactly if a condition is true, and those that hold exactly if it is false. Either is empty if it is not known.
struct Truth {
  std::optional<IndexBounds> if_true, if_false;
  // For a comparison for equality: the values that the branch without known bounds leaves out.
  std::optional<IndexBound> apart = std::nullopt;
};

Truth decided(bool value) {
  const IndexBounds always, never{{IndexForm::of(0), 1, 1}};
  return value ? Truth{always, never, {}} : Truth{never, always, {}};
}

std::optional<IndexBounds> both(const std::optional<IndexBounds>& a, const std::optional<IndexBounds>& b) {
  if (!a || !b || a->size() + b->size() > kMostBounds) return std::nullopt;
  IndexBounds made = *a;
  made.insert(made.end(), b->begin(), b->end());
  return made;
}

bool is_never(const std::optional<IndexBounds>& bounds) {
  return bounds && std::ranges::any_of(*bounds, [](const IndexBound& bound) { return bound.form.count == 0 && bound.low > 0; });
}
// Returns bounds that hold if `a` or `b` holds.
std::optional<IndexBounds> either(const std::optional<IndexBounds>& a, const std::optional<IndexBounds>& b) {
  if (is_never(a) || (b && b->empty())) return b;
  if (is_never(b) || (a && a->empty())) return a;
  return std::nullopt;
}

class Walk {
 public:
  Walk(const validate::ValidProgram& valid, std::span<const ReachedBuffer> buffers, Grid grid)
      : program_(valid.program()),
        facts_(valid.facts()),
        buffers_(buffers),
        slots_(program_.buffers().size(), kNoSlot),
        values_(1),
        at_(program_.exprs().size(), 0),
        lets_(facts_.locals.size(), 0),
        stores_(buffers.size()),
        reads_(buffers.size()) {
    for (std::uint32_t slot = 0; slot < valid.bound().size(); ++slot) slots_[valid.bound()[slot]] = slot;
    const std::array<std::uint32_t, 3> groups = {grid.x, grid.y, grid.z};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      groups_[axis] = digit(groups[axis]);
      locals_[axis] = local_id(program_.workgroup_size()[axis]);
    }
    for (std::uint32_t index = 0; index < program_.nodes().size(); ++index) enter(NodeId{index});
  }

  std::vector<Reach> found(bool exact) {
    std::vector<Reach> reach;
    for (std::size_t slot = 0; slot < buffers_.size(); ++slot) {
      Reach& made = reach.emplace_back();
      if (exact) made.written = ranges_of(certain(stores_[slot]), buffers_[slot].length);
      made.read = reads_[slot];
    }
    return reach;
  }

 private:
  static constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};

  struct Value {
    IndexForm form;
    Truth truth;  // of a comparison
  };
  // A branch of an If whose condition is unknown.
  struct Branch {
    NodeId opener;
    bool otherwise = false;
    bool operator==(const Branch&) const = default;
  };
  struct Store {
    ReachedIndices indices;
    std::optional<Branch> branch;  // unless it is in no such branch
  };
  struct Open {
    NodeId opener;
    IndexBounds bounds;
    std::optional<Branch> branch;
    bool lost = false;                // it is not known which invocations get here
    std::vector<std::size_t> stores;  // of a Loop: how many stores there were before it
  };

  // --- digits ---

  IndexForm digit(std::uint64_t extent) {
    if (extent == 0 || extents_.size() >= kMostDigits) return {};
    extents_.push_back(extent);
    return extent == 1 ? IndexForm::of(0) : IndexForm::digit(static_cast<std::uint32_t>(extents_.size() - 1), 1);
  }
  // A digit for each bit, so that quotients and remainders by powers of two are sums of digits too.
  IndexForm local_id(std::uint32_t extent) {
    if (!std::has_single_bit(extent)) return digit(extent);
    IndexForm made = IndexForm::of(0);
    for (std::uint32_t bit = 1; bit < extent; bit *= 2) made = sum(made, scaled(digit(2), bit));
    return made;
  }

  // --- statements ---

  void enter(NodeId id) {
    // Other statements need only the value of a variable; the other values of this statement are dropped after it.
    const std::size_t before = values_.size();
    std::uint32_t variable = 0;
    for (const validate::Step& step : facts_.steps_of(id)) at_[step.expr] = computed(step);
    const ir::Node& node = program_.node(id);
    const validate::Statement& statement = facts_.statements[id];
    if (const auto* let = std::get_if<ir::Let>(&node)) {
      if (!facts_.locals[statement.local].assigned) variable = at_[let->value];
    } else if (const auto* store = std::get_if<ir::Store>(&node)) {
      keep(*store, slots_[statement.buffer]);
    } else if (const auto* branch = std::get_if<ir::If>(&node)) {
      conditions_.push_back(narrowed(truth_of(branch->condition)));
      open(id, conditions_.back().if_true, false);
    } else if (std::holds_alternative<ir::Else>(node)) {
      const NodeId opener = open_.back().opener;
      open_.pop_back();
      open(opener, conditions_.back().if_false, true);
    } else if (const auto* loop = std::get_if<ir::Loop>(&node)) {
      const std::uint32_t turn = kept(turn_of(id, *loop));
      if (!facts_.locals[statement.local].assigned) variable = turn;
    } else if (std::holds_alternative<ir::Block>(node)) {
      open_.push_back({id, {}, {}, false, {}});
    } else if (std::holds_alternative<ir::Return>(node)) {
      leave(id);
    } else if (std::holds_alternative<ir::Break>(node)) {
      lose_loop();
    } else if (const auto* end = std::get_if<ir::End>(&node)) {
      if (std::holds_alternative<ir::If>(program_.node(end->opener))) conditions_.pop_back();
      open_.pop_back();
    }
    if (variable >= before) {
      std::swap(values_[before], values_[variable]);
      variable = static_cast<std::uint32_t>(before);
    }
    values_.resize(variable == before ? before + 1 : before);
    if (statement.local.valid()) lets_[statement.local] = variable;
  }
  // Leaving out a value is a bound where it is the first or the last one that the blocks around leave.
  Truth narrowed(Truth truth) const {
    if (!truth.apart || (truth.if_true && truth.if_false)) return truth;
    std::optional<IndexBounds>& unknown = truth.if_true ? truth.if_false : truth.if_true;
    IndexBound left = *truth.apart;
    const std::int64_t value = left.low;
    const auto narrow = [&](const IndexBounds& bounds) {
      for (const IndexBound& bound : bounds) {
        if (!same_terms(bound.form, left.form) || (bound.low != value && bound.high != value)) continue;
        left.low = bound.low == value ? value + 1 : bound.low;
        left.high = bound.high == value ? value - 1 : bound.high;
        unknown = IndexBounds{left};
      }
    };
    for (const Open& each : open_) narrow(each.bounds);
    return truth;
  }
  void open(NodeId opener, const std::optional<IndexBounds>& bounds, bool otherwise) {
    if (bounds) {
      open_.push_back({opener, *bounds, {}, false, {}});
    } else {
      open_.push_back({opener, {}, Branch{opener, otherwise}, false, {}});
    }
  }
  // Opens a loop. Returns the value of its variable.
  Value turn_of(NodeId id, const ir::Loop& loop) {
    Open made{id, {}, {}, false, {}};
    for (const std::vector<Store>& stores : stores_) made.stores.push_back(stores.size());
    const IndexForm &from = value_of(loop.from).form, &to = value_of(loop.to).form;
    const bool is_counted = from.is_word(extents_) && from.is_constant() && to.is_word(extents_) && to.is_constant();
    Value turn;
    if (is_counted && from.constant < to.constant) turn.form = sum(from, digit(static_cast<std::uint64_t>(to.constant - from.constant)));
    made.lost = !turn.form.known;
    open_.push_back(std::move(made));
    return turn;
  }

  // An invocation ends. Where the only Return of an If ends its body, at the end of which all invocations come together, those go on for
  // which its condition is false.
  void leave(NodeId id) {
    lose_loop();
    const auto* end = std::get_if<ir::End>(&program_.node(NodeId{id.index + 1}));
    const bool is_guard = open_.size() == 1 && !open_.front().lost && end != nullptr &&
                          std::holds_alternative<ir::If>(program_.node(end->opener)) &&
                          !std::get<ir::If>(program_.node(end->opener)).otherwise.valid() && conditions_.back().if_false;
    if (is_guard && left_.size() + conditions_.back().if_false->size() <= kMostBounds) {
      left_.insert(left_.end(), conditions_.back().if_false->begin(), conditions_.back().if_false->end());
    } else {
      lost_ = true;
    }
  }
  // Turns of the loops around may not happen.
  void lose_loop() {
    for (Open& each : open_) {
      if (!std::holds_alternative<ir::Loop>(program_.node(each.opener))) continue;
      each.lost = true;
      for (std::size_t slot = 0; slot < stores_.size(); ++slot) {
        stores_[slot].resize(std::min(stores_[slot].size(), each.stores[slot]));
      }
    }
  }

  void keep(const ir::Store& store, std::uint32_t slot) {
    if (slot == kNoSlot || lost_ || stores_[slot].size() >= kMostStores) return;
    BoundedIndex index{value_of(store.index).form, left_};
    std::optional<Branch> branch;
    for (const Open& each : open_) {
      if (each.lost || (each.branch && branch) || index.bounds.size() + each.bounds.size() > kMostBounds) return;
      if (each.branch) branch = each.branch;
      index.bounds.insert(index.bounds.end(), each.bounds.begin(), each.bounds.end());
    }
    if (!index.index.known) return;
    if (auto indices = reached(index, extents_)) stores_[slot].push_back({*std::move(indices), branch});
  }

  // The stores that happen: those in no unknown branch, and those that both branches of an If do.
  static std::vector<ReachedIndices> certain(const std::vector<Store>& stores) {
    std::vector<ReachedIndices> made;
    std::size_t pairs = 0;
    for (std::size_t k = 0; k < stores.size(); ++k) {
      if (!stores[k].branch) made.push_back(stores[k].indices);
      if (!stores[k].branch || stores[k].branch->otherwise) continue;
      const Branch other{stores[k].branch->opener, true};
      for (std::size_t at = k + 1; at < stores.size() && pairs < kMostStores; ++at, ++pairs) {
        if (stores[at].branch != other || stores[at].indices != stores[k].indices) continue;
        made.push_back(stores[k].indices);
        break;
      }
    }
    return made;
  }

  // --- expressions ---

  const Value& value_of(ExprId id) const { return values_[at_[id]]; }
  // Returns the index of the value; those of which nothing is known share the first one.
  std::uint32_t kept(Value value) {
    if (!value.form.known && !value.truth.if_true && !value.truth.if_false) return 0;
    values_.push_back(std::move(value));
    return static_cast<std::uint32_t>(values_.size() - 1);
  }

  // Returns the index of what the step computes.
  std::uint32_t computed(const validate::Step& step) {
    const ir::Expr& expr = program_.expr(step.expr);
    const std::uint32_t slot = step.buffer.valid() ? slots_[step.buffer] : kNoSlot;
    if (const auto* load = std::get_if<ir::Load>(&expr)) return slot == kNoSlot ? 0 : kept(loaded(value_of(load->index).form, slot));
    if (std::holds_alternative<ir::Atomic>(expr)) {
      if (slot != kNoSlot) read(value_of(program_.operands(std::get<ir::Atomic>(expr).operands)[0]).form, slot);
      return 0;
    }
    if (std::holds_alternative<ir::Var>(expr)) return lets_[step.local];
    if (step.type != ir::DataType::U32) return 0;
    if (const auto* literal = std::get_if<ir::Literal>(&expr)) return kept(word(literal->low));
    if (std::holds_alternative<ir::BufLen>(expr)) return slot == kNoSlot ? 0 : kept(word(buffers_[slot].length));
    if (const auto* id = std::get_if<ir::GridId>(&expr)) return kept({grid_id(*id), {}});
    if (const auto* cast = std::get_if<ir::Cast>(&expr)) return is_word(cast->value) ? at_[cast->value] : 0;
    if (const auto* select = std::get_if<ir::Select>(&expr)) {
      if (at_[select->condition] == 0) return 0;
      const Truth truth = truth_of(select->condition);
      if (truth.if_true && truth.if_true->empty()) return at_[select->if_true];
      return truth.if_false && truth.if_false->empty() ? at_[select->if_false] : 0;
    }
    if (const auto* unary = std::get_if<ir::Unary>(&expr); unary != nullptr && unary->op == ir::UnOp::LogicalNot) {
      if (at_[unary->operand] == 0) return 0;
      Truth truth = truth_of(unary->operand);
      std::swap(truth.if_true, truth.if_false);
      return kept({{}, truth});
    }
    const auto* binary = std::get_if<ir::Binary>(&expr);
    // Where one operand is unknown, conditions may still be known in part.
    if (binary == nullptr || (at_[binary->left] == 0 && at_[binary->right] == 0)) return 0;
    if (at_[binary->left] == 0 || at_[binary->right] == 0) {
      if (binary->op != BinOp::And && binary->op != BinOp::Or) return 0;
    }
    return kept(computed(*binary));
  }
  Value computed(const ir::Binary& binary) const {
    const IndexForm &a = value_of(binary.left).form, &b = value_of(binary.right).form;
    switch (binary.op) {
      case BinOp::Add:
        return {sum(a, b), {}};
      case BinOp::Sub:
        return {difference(a, b), {}};
      case BinOp::Mul:
        return {b.is_constant() ? scaled(a, b.constant) : a.is_constant() ? scaled(b, a.constant) : IndexForm(), {}};
      case BinOp::Shl:
        return {shift(b) ? scaled(a, std::int64_t{1} << *shift(b)) : IndexForm(), {}};
      case BinOp::Div:
        return {divisor(b) ? quotient(a, *divisor(b), extents_) : IndexForm(), {}};
      case BinOp::Mod:
        return {divisor(b) ? remainder(a, *divisor(b), extents_) : IndexForm(), {}};
      case BinOp::Shr:
        return {shift(b) ? quotient(a, std::int64_t{1} << *shift(b), extents_) : IndexForm(), {}};
      case BinOp::BitAnd:
        return {mask(b) ? remainder(a, *mask(b), extents_) : mask(a) ? remainder(b, *mask(a), extents_) : IndexForm(), {}};
      case BinOp::BitOr:
        return {disjoint(a, b) || disjoint(b, a) ? sum(a, b) : IndexForm(), {}};
      case BinOp::Min:
      case BinOp::Max:
        return {smaller(a, b, binary.op == BinOp::Min), {}};
      case BinOp::And:
      case BinOp::Or: {
        const Truth left = truth_of(binary.left), right = truth_of(binary.right);
        if (binary.op == BinOp::And) return {{}, {both(left.if_true, right.if_true), either(left.if_false, right.if_false), {}}};
        return {{}, {either(left.if_true, right.if_true), both(left.if_false, right.if_false), {}}};
      }
      default:
        return {{}, compared(binary.op, a, b)};
    }
  }

  Truth compared(BinOp op, const IndexForm& a, const IndexForm& b) const {
    if (!a.is_word(extents_) || !b.is_word(extents_)) return {};
    const IndexForm form = difference(a, b);
    if (!form.known) return {};
    constexpr std::int64_t kAny = kMostWord + 1;
    const auto between = [&](std::int64_t low, std::int64_t high) { return IndexBounds{bound_of(form, low, high)}; };
    switch (op) {
      case BinOp::Lt:
        return {between(-kAny, -1), between(0, kAny), {}};
      case BinOp::Ge:
        return {between(0, kAny), between(-kAny, -1), {}};
      case BinOp::Gt:
        return {between(1, kAny), between(-kAny, 0), {}};
      case BinOp::Le:
        return {between(-kAny, 0), between(1, kAny), {}};
      case BinOp::Eq:
      case BinOp::Ne: {
        Truth equal{between(0, 0), std::nullopt, bound_of(form, 0, 0)};
        if (form.least(extents_) >= 0) equal.if_false = between(1, kAny);
        if (form.most(extents_) <= 0) equal.if_false = between(-kAny, -1);
        if (op == BinOp::Ne) std::swap(equal.if_true, equal.if_false);
        return equal;
      }
      default:
        return {};
    }
  }
  // Whether the value of an expression is not 0. Bounds that always hold, or never, are decided.
  Truth truth_of(ExprId id) const {
    Truth truth = value_of(id).truth;
    if (!truth.if_true && !truth.if_false) truth = compared(BinOp::Ne, value_of(id).form, IndexForm::of(0));
    for (const bool value : {true, false}) {
      const std::optional<IndexBounds>& bounds = value ? truth.if_true : truth.if_false;
      if (!bounds) continue;
      bool always = true, never = false;
      for (const IndexBound& bound : *bounds) {
        const std::int64_t least = bound.form.least(extents_), most = bound.form.most(extents_);
        always = always && least >= bound.low && most <= bound.high;
        never = never || least > bound.high || most < bound.low;
      }
      if (always || never) return decided(always == value);
    }
    return truth;
  }

  static Value word(std::uint64_t value) { return {IndexForm::of(static_cast<std::int64_t>(value)), {}}; }
  bool is_word(ExprId id) const { return value_of(id).form.is_word(extents_); }
  std::optional<std::int64_t> shift(const IndexForm& by) const {
    if (!by.is_constant() || !by.is_word(extents_)) return std::nullopt;
    return by.constant & 31;
  }
  std::optional<std::int64_t> divisor(const IndexForm& by) const {
    if (!by.is_constant() || !by.is_word(extents_) || by.constant == 0) return std::nullopt;
    return by.constant;
  }
  // One more than a mask of low bits.
  std::optional<std::int64_t> mask(const IndexForm& form) const {
    if (!form.is_constant() || !form.is_word(extents_)) return std::nullopt;
    const auto above = static_cast<std::uint64_t>(form.constant) + 1;
    return std::has_single_bit(above) ? std::optional(form.constant + 1) : std::nullopt;
  }
  // Whether `low` has only bits below all that `high` has.
  bool disjoint(const IndexForm& high, const IndexForm& low) const {
    if (!high.is_word(extents_) || !low.is_word(extents_)) return false;
    const auto above = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(low.most(extents_)) + 1));
    const IndexForm rest = remainder(high, above, extents_);
    return rest.is_constant() && rest.constant == 0;
  }
  IndexForm smaller(const IndexForm& a, const IndexForm& b, bool smallest) const {
    if (!a.is_word(extents_) || !b.is_word(extents_)) return {};
    const IndexForm by = difference(a, b);
    if (by.known && by.most(extents_) <= 0) return smallest ? a : b;
    if (by.known && by.least(extents_) >= 0) return smallest ? b : a;
    return {};
  }
  IndexForm grid_id(const ir::GridId& id) const {
    const IndexForm &group = groups_[id.axis], &local = locals_[id.axis];
    if (id.kind == ir::GridIdKind::Workgroup) return group;
    if (id.kind == ir::GridIdKind::Local) return local;
    return sum(scaled(group, program_.workgroup_size()[id.axis]), local);
  }

  Value loaded(const IndexForm& index, std::uint32_t slot) {
    const std::vector<std::optional<std::uint32_t>>& words = buffers_[slot].words;
    if (index.is_constant() && index.is_word(extents_) && static_cast<std::uint64_t>(index.constant) < words.size()) {
      const std::optional<std::uint32_t> known = words[static_cast<std::size_t>(index.constant)];
      return known ? word(*known) : Value();
    }
    read(index, slot);
    return {};
  }
  void read(const IndexForm& index, std::uint32_t slot) {
    const bool known = index.is_word(extents_);
    const std::uint64_t begin = known ? static_cast<std::uint64_t>(index.least(extents_)) : 0;
    const std::uint64_t end = known ? static_cast<std::uint64_t>(index.most(extents_)) + 1 : buffers_[slot].length;
    const Range reached{begin, std::min(end, buffers_[slot].length)};
    if (reached.begin >= reached.end) return;
    Range& all = reads_[slot];
    all = all.begin == all.end ? reached : Range{std::min(all.begin, reached.begin), std::max(all.end, reached.end)};
  }

  const ir::Program& program_;
  const validate::Facts& facts_;
  const std::span<const ReachedBuffer> buffers_;
  IdVector<BufferId, std::uint32_t> slots_;  // of the buffers that are bound
  std::vector<Value> values_;                // the first one is unknown
  IdVector<ExprId, std::uint32_t> at_;       // indices of values, as the current statement evaluates expressions
  IdVector<LocalId, std::uint32_t> lets_;
  Extents extents_;
  std::array<IndexForm, 3> groups_, locals_;
  std::vector<Open> open_;                  // blocks
  std::vector<Truth> conditions_;           // of the Ifs among them
  IndexBounds left_;                        // of the invocations that have not returned
  bool lost_ = false;                       // it is not known which have
  std::vector<std::vector<Store>> stores_;  // by slot
  std::vector<Range> reads_;
};

}  // namespace

std::vector<Reach> reach_of(const validate::ValidProgram& program, std::span<const ReachedBuffer> buffers, Grid grid, bool exact) {
  VYRE_ASSERT(buffers.size() == program.bound().size());
  return Walk(program, buffers, grid).found(exact);
}

}  // namespace vyre::run
