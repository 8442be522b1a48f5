// How it works: one walk over the statements computes values (values.hpp), and knows how often the
// next statement is reached. As long as only bounds on digits have decided which invocations and turns
// come there, that is the number of combinations of digits that meet them. A condition that memory
// decides counts as the dearer branch. A loop without a proven bound has rows of its own, for one turn.
#include "vyre/run/reach/cost.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/base/overloaded.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre::run {
namespace {

using What = CostRow::What;

// The end of a `while`, which is recorded as a loop up to it.
constexpr std::int64_t kEndOfWhile = std::numeric_limits<std::uint32_t>::max();

// How often a statement is reached.
struct Reached {
  Tally count = 0;
  bool exact = true;
  // On the digits of the combinations that reach it, if each does so once.
  std::optional<IndexBounds> bounds = {};
};

bool happens(const std::optional<Reached>& reached) { return reached && reached->count != 0; }

CostRow* row_of(CostRows& rows, What what, std::string_view name) {
  const auto found = std::ranges::find_if(rows, [&](const CostRow& row) { return row.what == what && row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

void add(CostRows& rows, const CostRow& row) {
  if (CostRow* const found = row_of(rows, row.what, row.name)) {
    const Tally all = sum(found->count.most, row.count.most);
    found->count = {all, found->count.exact && row.count.exact && all != kMostTally};
  } else {
    rows.push_back(row);
  }
}

// Returns the most that happens where one of two happens, for each invocation.
CostRows dearer(CostRows rows, CostRows others, bool exact) {
  for (CostRow& row : rows) {
    const CostRow* const found = row_of(others, row.what, row.name);
    const Count beside = found == nullptr ? Count() : found->count;
    const bool is_same = row.count.exact && beside.exact && row.count.most == beside.most;
    row.count = {std::max(row.count.most, beside.most), exact && is_same};
  }
  for (const CostRow& row : others) {
    if (row_of(rows, row.what, row.name) == nullptr) rows.push_back({row.what, row.name, {row.count.most, false}});
  }
  return rows;
}

class CostWalk {
 public:
  CostWalk(const validate::ValidProgram& valid, std::span<const ReachedBuffer> buffers, Grid grid, CostOf of)
      : program_(valid.program()), facts_(valid.facts()), values_(valid, buffers, grid, Values::Names::Yes), rows_(1) {
    for (std::uint32_t digit = 0; digit < values_.extents().size(); ++digit) scope_.push_back(digit);
    const bool is_empty = grid.x == 0 || grid.y == 0 || grid.z == 0;
    const Tally all = is_empty ? 0 : *combinations({}, values_.extents());
    here_ = of == CostOf::Dispatch ? Reached{all, true, IndexBounds()} : Reached{1, false, {}};
    for (std::uint32_t index = 0; index < program_.nodes().size(); ++index) enter(NodeId{index});
  }

  Cost found() && { return {std::move(rows_.front()), std::move(loops_)}; }

 private:
  // The value of each variable that changed, by LocalId.
  using Changed = std::map<std::uint32_t, std::uint32_t>;

  struct Open {
    std::optional<Reached> before = {};
    std::size_t changes = 0, loops = 0;     // how many there were before it
    bool returned = false, broken = false;  // by a statement in it
    // These are used for an If.
    bool is_split = true;  // it is known which invocations take which branch
    std::optional<Reached> other = Reached(), after_then = {};
    CostRows then = {};
    Changed changed_then = {};
    // These are used for a Loop.
    std::optional<std::uint32_t> within = {};
    std::size_t scope = 0;
    bool leaves = false, runs = false, is_endless = false;
  };

  // --- statements ---

  void enter(NodeId id) {
    const validate::Statement& statement = facts_.statements[id];
    const bool is_reached = happens(here_);
    if (is_reached) {
      for (const validate::Step& step : facts_.steps_of(id)) {
        values_.compute(step);
        count(step);
      }
    }
    match(
        program_.node(id),
        [&](const ir::Let& let) {
          if (is_reached) values_.keep(statement.local, let.value);
        },
        [&](const ir::Assign& assign) {
          if (!is_reached) return;
          changes_.emplace_back(statement.local, values_.variable(statement.local));
          values_.keep(statement.local, assign.value);
        },
        [&](const ir::Store&) {
          if (is_reached) count_bytes(What::Stored, statement.buffer);
        },
        [&](const ir::If& branch) { open_.push_back(opened(branch)); },
        [&](const ir::Else&) {
          Open& top = open_.back();
          top.after_then = std::exchange(here_, top.other);
          top.changed_then = undo(top.changes);
          top.then = std::exchange(rows_.back(), {});
        },
        [&](const ir::Loop& loop) { open_.push_back(opened(id, loop)); }, [&](const ir::Block&) { open_.emplace_back(); },
        [&](const ir::End& end) { close(program_.node(end.opener)); }, [&](const ir::Barrier&) {},
        [&](const ir::Return&) {
          here_.reset();
          if (!open_.empty()) open_.back().returned = true;
        },
        [&](const ir::Break&) {
          here_.reset();
          open_.back().broken = true;
        });
    values_.keep();
  }

  void close(const ir::Node& opener) {
    Open top = std::move(open_.back());
    open_.pop_back();
    const auto* branch = std::get_if<ir::If>(&opener);
    const bool is_loop = std::holds_alternative<ir::Loop>(opener);
    if (branch != nullptr) close_branch(top, branch->otherwise.valid());
    if (is_loop) close_loop(top);
    if (open_.empty()) return;
    open_.back().returned |= top.returned;
    open_.back().broken |= top.broken && !is_loop;
  }

  // --- branches ---

  Open opened(const ir::If& branch) {
    Open made{.before = here_, .changes = changes_.size(), .loops = loops_.size()};
    rows_.emplace_back();
    if (!happens(here_)) return made;
    const Truth truth = values_.truth_of(branch.condition);
    if (truth.always()) return made;
    const Reached most{here_->count, here_->exact, {}};
    std::optional<Reached> then = truth.never() ? Reached() : part(truth.if_true), other = part(truth.if_false);
    if (most.count == kMostTally && !truth.never()) then = other = std::nullopt;
    made.is_split = then || other;
    if (made.is_split && !then) then = Reached{most.count - other->count, most.exact, {}};
    if (made.is_split && !other) other = Reached{most.count - then->count, most.exact, {}};
    here_ = then ? then : most;
    made.other = other ? other : most;
    return made;
  }
  // Returns the combinations of those here that meet the bounds, if they are known.
  std::optional<Reached> part(const std::optional<IndexBounds>& bounds) const {
    std::optional<IndexBounds> all = both(here_->bounds, bounds);
    if (!all) return std::nullopt;
    Extents extents(values_.extents().size(), 1);
    for (const std::uint32_t digit : scope_) extents[digit] = values_.extents()[digit];
    for (const IndexBound& bound : *all) {
      for (std::uint32_t k = 0; k < bound.form.count; ++k) {
        const std::uint32_t digit = bound.form.terms[k].digit;
        if (extents[digit] != values_.extents()[digit]) return std::nullopt;
      }
    }
    const std::optional<Tally> count = combinations(*all, std::move(extents));
    return count ? std::optional(Reached{*count, here_->exact, std::move(all)}) : std::nullopt;
  }

  void close_branch(Open& top, bool has_other) {
    const std::optional<Reached> then = has_other ? top.after_then : here_, other = has_other ? here_ : top.other;
    Changed changed = undo(top.changes);
    CostRows last = std::move(rows_.back());
    rows_.pop_back();
    if (!top.is_split) {
      last = dearer(has_other ? top.then : last, has_other ? last : CostRows(), top.before->exact);
      for (std::size_t k = top.loops; k < loops_.size(); ++k) {
        std::optional<Count>& turns = loops_[k].turns;
        if (turns && loops_[k].within == within_) turns->exact = turns->exact && turns->most == 0;
      }
    } else if (has_other) {
      for (const CostRow& row : top.then) add(rows_.back(), row);
    }
    for (const CostRow& row : last) add(rows_.back(), row);

    if (!has_other) changed.swap(top.changed_then);
    join(top.changed_then, changed, happens(then), happens(other));
    if (happens(then) && happens(other)) {
      here_ = top.before;
      if (top.returned || top.broken) here_ = Reached{here_->count, false, {}};
    } else {
      here_ = happens(then) ? then : other;
      if (here_ && !top.is_split) here_ = Reached{here_->count, false, {}};
    }
  }

  // --- loops ---

  Open opened(NodeId id, const ir::Loop& loop) {
    Open made{.before = here_, .changes = changes_.size(), .loops = loops_.size(), .within = within_, .scope = scope_.size()};
    loops_.push_back({id, Count(), within_});
    if (!happens(here_)) return made;
    const IndexForm from = values_[loop.from], by = difference(values_[loop.to], from);
    const lower::Range first = values_.range_of(from), end = values_.range_of(values_[loop.to]);
    const bool is_counted = by.is_constant() && values_.is_word(from) && values_.is_word(values_[loop.to]);
    const std::int64_t turns = most_turns(loop);
    // What the body assigns is unknown where a turn begins.
    for (NodeId inside{id.index + 1}; inside < loop.end; ++inside.index) {
      if (std::holds_alternative<ir::Assign>(program_.node(inside))) change(facts_.statements[inside].local, values_.between({}));
    }
    made.leaves = leaves(id, loop.end);
    made.runs = is_counted && turns > 0;
    made.is_endless = end.greatest == kEndOfWhile && first.least + turns >= kEndOfWhile;

    const std::int64_t last = std::min(std::max<std::int64_t>(end.greatest, 1), first.greatest + std::max<std::int64_t>(turns, 1)) - 1;
    IndexForm turn =
        values_.between(lower::Range::between(first.least, static_cast<std::uint32_t>(std::max<std::int64_t>(first.least, last))));
    LoopCost& cost = loops_.back();
    if (made.is_endless) {
      cost.turns.reset();
      cost.has_known_end = end.least == end.greatest;
      within_ = static_cast<std::uint32_t>(made.loops);
      here_ = Reached{1, !made.leaves, {}};
      rows_.emplace_back();
    } else {
      const Tally all = times(here_->count, static_cast<Tally>(turns));
      const bool exact = here_->exact && !made.leaves && is_counted && all != kMostTally;
      Reached inside{all, exact, {}};
      cost.turns = Count{inside.count, exact};
      if (const IndexForm digit = values_.digit(exact ? static_cast<std::uint64_t>(turns) : 0); digit.known) {
        turn = sum(from, digit);
        if (digit.count != 0) scope_.push_back(digit.terms[0].digit);
        inside.bounds = std::move(here_->bounds);
      }
      here_ = std::move(inside);
    }
    values_.keep(facts_.statements[id].local, turn);
    return made;
  }

  std::int64_t most_turns(const ir::Loop& loop) const {
    const lower::Range from = values_.range_of(values_[loop.from]), to = values_.range_of(values_[loop.to]);
    std::int64_t most = std::max<std::int64_t>(std::int64_t{to.greatest} - from.least, 0);
    for (const IndexForm& end : values_.above(loop.to)) {
      for (const IndexForm& begin : values_.below(loop.from)) {
        const IndexForm by = difference(end, begin);
        if (by.known) most = std::min(most, std::max<std::int64_t>(by.most(values_.extents()), 0));
      }
    }
    return most;
  }

  // Whether an invocation may leave a loop before its last turn ends.
  bool leaves(NodeId loop, NodeId end) const {
    std::uint32_t depth = 0;  // of loops in it
    for (NodeId id{loop.index + 1}; id < end; ++id.index) {
      const ir::Node& node = program_.node(id);
      if (std::holds_alternative<ir::Return>(node) || (std::holds_alternative<ir::Break>(node) && depth == 0)) return true;
      if (std::holds_alternative<ir::Loop>(node)) ++depth;
      const auto* closed = std::get_if<ir::End>(&node);
      if (closed != nullptr && std::holds_alternative<ir::Loop>(program_.node(closed->opener))) --depth;
    }
    return false;
  }

  void close_loop(const Open& top) {
    if (top.is_endless) {
      loops_[*within_].turn = std::move(rows_.back());
      rows_.pop_back();
    }
    within_ = top.within;
    scope_.resize(top.scope);
    const Changed changed = undo(top.changes);
    if (top.leaves) {
      for (const auto& [local, value] : changed) change(LocalId{local}, values_.between({}));
    } else {
      join(changed, {}, true, !top.runs);
    }
    here_ = top.before;
    if (top.returned && here_) here_ = Reached{here_->count, false, {}};
  }

  // --- variables that are assigned ---

  void change(LocalId local, std::uint32_t value) {
    changes_.emplace_back(local, values_.variable(local));
    values_.set_variable(local, value);
  }
  void change(LocalId local, const IndexForm& form) { change(local, values_.add(form)); }
  // Takes back the changes behind the first ones. Returns the values that they gave.
  Changed undo(std::size_t first) {
    Changed made;
    for (; changes_.size() > first; changes_.pop_back()) {
      const auto [local, before] = changes_.back();
      made.emplace(local.index, values_.variable(local));
      values_.set_variable(local, before);
    }
    return made;
  }
  // Two ways come together here, each with what it has changed, if it comes to its end.
  void join(const Changed& a, const Changed& b, bool a_ends, bool b_ends) {
    Changed all = a;
    all.insert(b.begin(), b.end());
    for (const auto& [index, value] : all) {
      const LocalId local{index};
      const auto in_a = a.find(index), in_b = b.find(index);
      const std::uint32_t left = in_a == a.end() ? values_.variable(local) : in_a->second;
      const std::uint32_t right = in_b == b.end() ? values_.variable(local) : in_b->second;
      if (left == right || !a_ends || !b_ends) {
        change(local, b_ends ? right : left);
        continue;
      }
      const IndexForm form = values_.at(left), apart = difference(form, values_.at(right));
      const bool is_same = apart.is_constant() && apart.constant == 0;
      change(local, is_same ? form : values_.between(lower::either(values_.range_of(form), values_.range_of(values_.at(right)))));
    }
  }

  // --- counts ---

  void count(What what, std::string_view name, Tally each = 1) {
    const Tally all = times(here_->count, each);
    add(rows_.back(), {what, name, {all, here_->exact && all != kMostTally}});
  }
  void count_bytes(What what, BufferId buffer) {
    const ir::BufferDecl& decl = program_.buffers()[buffer.index];
    count(what, decl.name, ir::min_bytes(decl.element));
  }
  void count(const validate::Step& step) {
    const auto operation = [&](std::string_view name) { count(What::Operations, name); };
    match(
        program_.expr(step.expr), [&](const ir::Applied auto& it) { operation(ir::info(it.op).text); },
        [&](const ir::Cast&) { operation("cast"); }, [&](const ir::Call& call) { operation(program_.text(call.op)); },
        [&](const ir::Load&) {
          const std::uint32_t slot = values_.slot(step.buffer);
          if (slot == Values::kNoSlot || values_.buffer(slot).words.empty()) count_bytes(What::Loaded, step.buffer);
        },
        [&](const ir::Atomic&) { count(What::Atomics, program_.buffers()[step.buffer.index].name); }, [](const ir::Literal&) {},
        [](const ir::Var&) {}, [](const ir::BufLen&) {}, [](const ir::GridId&) {}, [](const ir::Lane&) {}, [](const ir::Pack&) {});
  }

  const ir::Program& program_;
  const validate::Facts& facts_;
  Values values_;
  std::optional<Reached> here_;       // how the next statement is reached; nothing where none comes
  std::vector<std::uint32_t> scope_;  // the digits that make combinations here
  std::vector<CostRows> rows_;        // of branches and of loops without a bound, the innermost last
  std::vector<Open> open_;
  std::vector<std::pair<LocalId, std::uint32_t>> changes_;  // of variables: what they were
  std::vector<LoopCost> loops_;
  std::optional<std::uint32_t> within_;  // the innermost loop without a bound
};

}  // namespace

Cost cost_of(const validate::ValidProgram& program, std::span<const ReachedBuffer> buffers, Grid grid, CostOf of) {
  VYRE_ASSERT(buffers.size() == program.bound().size());
  return CostWalk(program, buffers, grid, of).found();
}

}  // namespace vyre::run
