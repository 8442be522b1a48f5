// How it works: one walk over the statements computes values (values.hpp). Open blocks say what must hold
// for an invocation to get there: bounds of forms, or something unknown. Each store is kept with its bounds; one under an unknown condition
// counts if the other branch of that If stores to the same elements.
#include "vyre/run/reach/reach.hpp"

#include <algorithm>
#include <utility>

#include "vyre/base/assert.hpp"

namespace vyre::run {
namespace {

// The most stores to a buffer that are looked at.
constexpr std::size_t kMostStores = 2048;

class Walk {
 public:
  Walk(const validate::ValidProgram& valid, std::span<const ReachedBuffer> buffers, Grid grid)
      : program_(valid.program()), facts_(valid.facts()), values_(valid, buffers, grid), stores_(buffers.size()), reads_(buffers.size()) {
    for (std::uint32_t index = 0; index < program_.nodes().size(); ++index) enter(NodeId{index});
  }

  std::vector<Reach> found(bool exact) {
    std::vector<Reach> reach;
    for (std::uint32_t slot = 0; slot < stores_.size(); ++slot) {
      Reach& made = reach.emplace_back();
      if (exact) made.written = ranges_of(certain(stores_[slot]), values_.buffer(slot).length);
      made.read = reads_[slot];
    }
    return reach;
  }

 private:
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

  // --- statements ---

  void enter(NodeId id) {
    for (const validate::Step& step : facts_.steps_of(id)) {
      values_.compute(step);
      read(step);
    }
    const ir::Node& node = program_.node(id);
    const validate::Statement& statement = facts_.statements[id];
    const bool is_fixed = statement.local.valid() && !facts_.locals[statement.local].assigned;
    if (const auto* let = std::get_if<ir::Let>(&node)) {
      if (is_fixed) values_.keep(statement.local, let->value);
    } else if (const auto* store = std::get_if<ir::Store>(&node)) {
      keep(*store, values_.slot(statement.buffer));
    } else if (const auto* branch = std::get_if<ir::If>(&node)) {
      conditions_.push_back(narrowed(values_.truth_of(branch->condition)));
      open(id, conditions_.back().if_true, false);
    } else if (std::holds_alternative<ir::Else>(node)) {
      const NodeId opener = open_.back().opener;
      open_.pop_back();
      open(opener, conditions_.back().if_false, true);
    } else if (const auto* loop = std::get_if<ir::Loop>(&node)) {
      const IndexForm turn = turn_of(id, *loop);
      if (is_fixed) values_.keep(statement.local, turn);
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
    values_.keep();
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
  IndexForm turn_of(NodeId id, const ir::Loop& loop) {
    Open made{id, {}, {}, false, {}};
    for (const std::vector<Store>& stores : stores_) made.stores.push_back(stores.size());
    const IndexForm &from = values_[loop.from], &to = values_[loop.to];
    const bool is_counted = values_.is_word(from) && from.is_constant() && values_.is_word(to) && to.is_constant();
    IndexForm turn;
    if (is_counted && from.constant < to.constant) {
      turn = sum(from, values_.digit(static_cast<std::uint64_t>(to.constant - from.constant)));
    }
    made.lost = !turn.known;
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
    if (slot == Values::kNoSlot || lost_ || stores_[slot].size() >= kMostStores) return;
    BoundedIndex index{values_[store.index], left_};
    std::optional<Branch> branch;
    for (const Open& each : open_) {
      if (each.lost || (each.branch && branch) || index.bounds.size() + each.bounds.size() > kMostBounds) return;
      if (each.branch) branch = each.branch;
      index.bounds.insert(index.bounds.end(), each.bounds.begin(), each.bounds.end());
    }
    if (!index.index.known) return;
    if (auto indices = reached(index, values_.extents())) stores_[slot].push_back({*std::move(indices), branch});
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

  // --- reads ---

  void read(const validate::Step& step) {
    const ir::Expr& expr = program_.expr(step.expr);
    if (const auto* load = std::get_if<ir::Load>(&expr); load != nullptr && values_.given(*load, step.buffer) == nullptr) {
      read(values_[load->index], values_.slot(step.buffer));
    }
    if (const auto* atomic = std::get_if<ir::Atomic>(&expr)) {
      read(values_[program_.operands(atomic->operands)[0]], values_.slot(step.buffer));
    }
  }
  void read(const IndexForm& index, std::uint32_t slot) {
    if (slot == Values::kNoSlot) return;
    const std::uint64_t length = values_.buffer(slot).length;
    const bool known = values_.is_word(index);
    const std::uint64_t begin = known ? static_cast<std::uint64_t>(index.least(values_.extents())) : 0;
    const std::uint64_t end = known ? static_cast<std::uint64_t>(index.most(values_.extents())) + 1 : length;
    const Range reached{begin, std::min(end, length)};
    if (reached.begin >= reached.end) return;
    Range& all = reads_[slot];
    all = all.begin == all.end ? reached : Range{std::min(all.begin, reached.begin), std::max(all.end, reached.end)};
  }

  const ir::Program& program_;
  const validate::Facts& facts_;
  Values values_;
  std::vector<Open> open_;                  // blocks
  std::vector<Truth> conditions_;           // of the Ifs among them
  IndexBounds left_;                        // of the invocations that have not returned
  bool lost_ = false;                       // it is not known which have
  std::vector<std::vector<Store>> stores_;  // by slot
  std::vector<Range> reads_;
};

}  // namespace

bool is_whole(const Reach& reach, std::uint64_t length) {
  const bool is_read = reach.read.begin < reach.read.end;
  return !is_read && reach.written == std::vector{Range{0, length}};
}

std::vector<Reach> reach_of(const validate::ValidProgram& program, std::span<const ReachedBuffer> buffers, Grid grid, bool exact) {
  VYRE_ASSERT(buffers.size() == program.bound().size());
  return Walk(program, buffers, grid).found(exact);
}

}  // namespace vyre::run
