#include "vyre/lower/bounds.hpp"

#include <algorithm>
#include <array>

namespace vyre::lower {

// Whether the instruction that computes `part` shows that it is never greater than `whole`.
bool Bounds::is_part_of(ValueId part, ValueId whole) const {
  const Instruction& it = at(part);
  switch (it.op) {
    case Opcode::And:
    case Opcode::Min:
      return it.a == whole || it.b == whole;
    case Opcode::Mod:
    case Opcode::Div:
    case Opcode::Shr:
      return it.a == whole;
    default:
      return false;
  }
}

Range& Bounds::slot(ValueId id) {
  std::vector<Range>& ranges = is_leaf(id) ? leaves_ : values_;
  const std::uint32_t index = number(id);
  while (index >= ranges.size()) {
    const ValueId next =
        is_leaf(id) ? leaf_id(static_cast<std::uint32_t>(ranges.size())) : ValueId{static_cast<std::uint32_t>(ranges.size())};
    ranges.push_back(is_leaf(id) ? computed(at(next)) : Range{});
  }
  return ranges[index];
}

Range Bounds::range(ValueId id) const {
  const std::vector<Range>& ranges = is_leaf(id) ? leaves_ : values_;
  const std::uint32_t index = number(id);
  if (index < ranges.size()) return ranges[index];
  return enabled_ && is_leaf(id) ? computed(at(id)) : Range{};
}

Bounds::Variable& Bounds::variable(std::uint32_t index) {
  if (index >= variables_.size()) variables_.resize(index + 1);
  return variables_[index];
}

// The range of a Select. Where its condition compares one of its results, as in i < n ? i : 0, the comparison narrows that result.
Range Bounds::selected(const Instruction& it) const {
  Range taken = range(it.b), otherwise = range(it.c);
  const Instruction& condition = at(it.a);
  if (condition.op == Opcode::Lt || condition.op == Opcode::Le) {
    const Range left = range(condition.a), right = range(condition.b);
    const std::uint32_t strict = condition.op == Opcode::Lt;
    const auto above = [](std::uint32_t least, std::uint32_t by) { return Range::between(least + (least < ~0u ? by : 0), ~0u); };
    const auto below = [](std::uint32_t greatest, std::uint32_t by) { return Range::at_most(greatest - (greatest > 0 ? by : 0)); };
    if (it.b == condition.a) taken = both(taken, below(right.greatest, strict));
    if (it.b == condition.b) taken = both(taken, above(left.least, strict));
    if (it.c == condition.a) otherwise = both(otherwise, above(right.least, 1 - strict));
    if (it.c == condition.b) otherwise = both(otherwise, below(left.greatest, 1 - strict));
  }
  return range_of(Opcode::Select, range(it.a), taken, otherwise);
}

Range Bounds::computed(const Instruction& it) const {
  if (it.lanes != 1) return {};
  switch (it.op) {
    case Opcode::Constant:
      return Range::only(it.imm);
    case Opcode::LocalId:
      return Range::at_most(std::max(workgroup_size_[it.imm], 1u) - 1);
    case Opcode::Loop:
      return both(Range::between(range(it.a).least, ~0u), Range::at_most(std::max(range(it.b).greatest, 1u) - 1));
    case Opcode::Lane: {
      const Instruction& pack = at(it.a);
      if (pack.op != Opcode::Pack) return {};
      return range(pack.operands()[it.imm]);
    }
    case Opcode::Select:
      return selected(it);
    case Opcode::Sub: {
      const Range difference = range_of(it.op, range(it.a), range(it.b));
      return is_part_of(it.b, it.a) ? both(difference, Range::at_most(range(it.a).greatest)) : difference;
    }
    default:
      if (!is_lanewise(it.op)) return {};
      return range_of(it.op, range(it.a), it.b.valid() ? range(it.b) : Range{});
  }
}

void Bounds::added(ValueId id, bool in_unit, const std::optional<Range>& known) {
  const Instruction& it = at(id);
  if (it.op == Opcode::WriteVariable) {
    const Range range = in_unit ? Range{} : this->range(it.a);
    write(it.imm, range, range);
  }
  if (it.op == Opcode::Return || it.op == Opcode::Break) ends_ = true;
  if (it.op == Opcode::ReadVariable) {
    slot(id) = variable(it.imm).range;
    variable(it.imm).read = id;
  } else if (it.lanes == 1) {
    const Range range = known ? *known : computed(it);
    if (range != Range{}) slot(id) = range;
  }
}

void Bounds::write(std::uint32_t index, const Range& range, const Range& written) {
  Variable& changed = variable(index);
  if (!regions_.empty()) changed_.push_back({index, changed.range, written, true});
  changed = {range, {}};
}

void Bounds::narrow(ValueId id, const Range& range) {
  if (at(id).op == Opcode::Constant) return;
  Range& known = slot(id);
  const Range narrowed = both(known, range);
  if (narrowed == known) return;
  if (!regions_.empty()) narrowed_.push_back({id, known});
  known = narrowed;
  const Instruction& it = at(id);
  if (it.op != Opcode::ReadVariable || variable(it.imm).read != id) return;
  Variable& read = variable(it.imm);
  if (!regions_.empty()) changed_.push_back({it.imm, read.range, {}, false});
  read.range = both(read.range, narrowed);
}

Range Bounds::range_now(ValueId id) {
  // Collects up to kMostValues values that `id` is computed from; index arithmetic is mostly shorter. Operands have smaller numbers than
  // their users, so sorting puts them first.
  constexpr std::size_t kMostValues = 32;
  std::array<ValueId, kMostValues> values{id};
  std::size_t end = 1;
  for (std::size_t next = 0; next < end; ++next) {
    const Instruction& it = at(values[next]);
    if (is_leaf(values[next]) || it.op == Opcode::ReadVariable || it.op == Opcode::Loop || accesses_memory(it.op)) continue;
    for (const ValueId operand : it.operands()) {
      const auto known = values.begin() + static_cast<std::ptrdiff_t>(end);
      if (operand.valid() && !is_leaf(operand) && end < kMostValues && std::find(values.begin(), known, operand) == known) {
        values[end++] = operand;
      }
    }
  }
  std::sort(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(end));
  for (std::size_t k = 0; k < end; ++k) {
    const Instruction& it = at(values[k]);
    if (it.op != Opcode::ReadVariable && it.lanes == 1) narrow(values[k], computed(it));
  }
  return range(id);
}

void Bounds::open_region() {
  regions_.push_back({.values = narrowed_.size(), .variables = changed_.size(), .then = {}});
  ends_ = false;
}

// Undoes what was learnt in a branch. Returns the range that each variable has at the end of the branch.
std::vector<Bounds::Left> Bounds::undo(const Region& region) {
  for (; narrowed_.size() > region.values; narrowed_.pop_back()) slot(narrowed_.back().id) = narrowed_.back().before;
  std::vector<Left> left;
  left_at_.resize(variables_.size(), ~0u);
  for (; changed_.size() > region.variables; changed_.pop_back()) {
    const ChangedVariable& change = changed_.back();
    std::uint32_t& at = left_at_[change.variable];
    if (at == ~0u) {
      at = static_cast<std::uint32_t>(left.size());
      left.push_back({change.variable, variables_[change.variable].range, {}, false});
    }
    Left& into = left[at];
    if (change.is_written) into.written = into.is_written ? either(into.written, change.written) : change.written;
    into.is_written = into.is_written || change.is_written;
    variables_[change.variable].range = change.before;
  }
  for (const Left& it : left) left_at_[it.variable] = ~0u;
  return left;
}

void Bounds::next_branch() {
  Region& region = regions_.back();
  region.then_ends = ends_;
  region.then = undo(region);
  region.has_else = true;
  ends_ = false;
}

void Bounds::close_region(bool is_loop) {
  Region region = std::move(regions_.back());
  std::vector<Left> left = undo(region);
  regions_.pop_back();
  if (is_loop) {
    // The code after the loop runs after any number of turns, or after a Break in any of them.
    for (const Left& it : left) {
      if (it.is_written) write(it.variable, either(variables_[it.variable].range, it.written), it.written);
    }
    ends_ = false;
    return;
  }
  const bool then_ends = region.has_else ? region.then_ends : ends_;
  const bool else_ends = region.has_else && ends_;
  const std::vector<Left>& then = region.has_else ? region.then : left;
  const std::vector<Left> otherwise = region.has_else ? std::move(left) : std::vector<Left>{};
  for (std::size_t at = 0; at < otherwise.size(); ++at) left_at_[otherwise[at].variable] = static_cast<std::uint32_t>(at);
  const auto join = [&](const Left& one, const Left& other) {
    if (!one.is_written && !other.is_written) return;
    const Range range = then_ends == else_ends ? either(one.range, other.range) : then_ends ? other.range : one.range;
    const Range written = !one.is_written ? other.written : !other.is_written ? one.written : either(one.written, other.written);
    write(one.variable, range, written);
  };
  for (const Left& one : then) {
    const std::uint32_t at = left_at_[one.variable];
    if (at == ~0u) {
      join(one, {one.variable, variables_[one.variable].range, {}, false});
    } else {
      join(one, otherwise[at]);
      left_at_[one.variable] = ~0u;
    }
  }
  for (const Left& other : otherwise) {
    if (left_at_[other.variable] == ~0u) continue;
    left_at_[other.variable] = ~0u;
    join({other.variable, variables_[other.variable].range, {}, false}, other);
  }
  ends_ = then_ends && else_ends;
}

void Bounds::changes_in_loop(std::span<const LoopChange> changes) {
  for (const LoopChange& change : changes) {
    Variable& changed = variable(change.variable);
    changed_.push_back({change.variable, changed.range, {}, false});
    const Range before = changed.range;
    changed = {change.ceiling ? Range::at_most(std::max(before.greatest, *change.ceiling)) : Range{}, {}};
  }
}

}  // namespace vyre::lower
