// finish() marks the live instructions, puts them into their order and numbers them anew. With straightening it then rewrites that code
// (straighten, settle) and repeats the three steps, because straightening leaves dead code behind.
//
// The canonical order comes from two facts about each value: when an effect first asks for it, and which effect of its own region it must
// precede. Values are sorted by the effect that they must precede. Values in front of the same effect stand in the order in which effects
// first ask for them.
#include "vyre/lower/writer.hpp"

#include <algorithm>
#include <bit>

#include "vyre/base/assert.hpp"
#include "vyre/lower/settle.hpp"
#include "vyre/lower/straighten.hpp"

namespace vyre::lower {
namespace {

std::uint64_t pair(ValueId a, ValueId b) { return std::uint64_t{a.index} << 32 | b.index; }

}  // namespace

std::size_t Writer::Hash::operator()(const Instruction& instruction) const noexcept {
  constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15u;
  std::uint64_t hash = (static_cast<std::uint64_t>(instruction.op) << 32 | instruction.imm) * kSpread;
  hash = (hash ^ hash >> 29 ^ pair(instruction.a, instruction.b)) * kSpread;
  if (instruction.c.valid()) hash = (hash ^ hash >> 29 ^ pair(instruction.c, instruction.d)) * kSpread;
  return hash ^ hash >> 32;
}

std::uint32_t Writer::variable(std::uint32_t lanes) {
  kernel_.variables.push_back(static_cast<std::uint8_t>(lanes));
  versions_.push_back(0);
  return static_cast<std::uint32_t>(kernel_.variables.size() - 1);
}

ValueId Writer::leaf(const Instruction& instruction) {
  const auto [known, fresh] = known_leaves_.try_emplace(instruction, ValueId{kLeaf | static_cast<std::uint32_t>(leaves_.size())});
  if (fresh) leaves_.push_back(instruction);
  return known->second;
}

ValueId Writer::zero(std::uint32_t lanes) {
  const ValueId zero = constant(0);
  if (lanes == 1) return zero;
  if (lanes == 2) return leaf({.op = Opcode::Pack, .lanes = 2, .a = zero, .b = zero});
  return leaf({.op = Opcode::Pack, .lanes = 4, .a = zero, .b = zero, .c = zero, .d = zero});
}

// Opens a region. A value added in it does not dominate the code after it, so no later code may reuse that value.
void Writer::begin_region(std::uint32_t opener) {
  const std::uint32_t around = regions_[open_.back()].loop;
  open_.push_back(static_cast<std::uint32_t>(regions_.size()));
  regions_.push_back({.opener = opener, .loop = code_[opener].op == Opcode::Loop ? opener : around});
  ++stretch_;
}

void Writer::end_region() {
  regions_[open_.back()].end = size();
  open_.pop_back();
  ++stretch_;
}

void Writer::open_region() {
  begin_region(size() - 1);
  if (bounds_.enabled()) bounds_.open_region();
}

void Writer::next_branch() {
  const std::uint32_t opener = regions_[open_.back()].opener;
  end_region();
  begin_region(opener);
  if (bounds_.enabled()) bounds_.next_branch();
}

void Writer::close_region() {
  if (bounds_.enabled()) bounds_.close_region(code_[regions_[open_.back()].opener].op == Opcode::Loop);
  end_region();
}

ValueId Writer::append(const Instruction& instruction, const Context& context, const std::optional<Range>& range) {
  VYRE_ASSERT(code_.size() < kLeaf);
  code_.push_back(instruction);
  contexts_.push_back(context);
  const ValueId id{size() - 1};
  if (bounds_.enabled()) bounds_.added(id, unit_ != kNone, range);
  return id;
}

bool Writer::reads_writable_memory(const Instruction& instruction) const {
  if (instruction.op == Opcode::LoadBuffer) return kernel_.buffers[instruction.imm].writable;
  return instruction.op == Opcode::LoadShared || instruction.op == Opcode::LoadPrivate;
}

std::uint32_t& Writer::slot_of(const Instruction& instruction, const Context& context) {
  const std::size_t mask = known_.size() - 1;
  for (std::size_t at = Hash()(instruction) ^ context.version ^ context.loop;; ++at) {
    std::uint32_t& slot = known_[at & mask];
    if (slot == kNone) return slot;
    const Context& known = contexts_[slot];
    if (code_[slot] == instruction && known.version == context.version && known.loop == context.loop) return slot;
  }
}

void Writer::reserve(std::size_t values) {
  code_.reserve(values);
  contexts_.reserve(values);
  if (shape_.order == Order::Canonical) resize_known(std::bit_ceil(std::max<std::size_t>(64, 2 * values)));
}

void Writer::resize_known(std::size_t slots) {
  const std::vector<std::uint32_t> old = std::move(known_);
  known_.assign(slots, kNone);
  for (const std::uint32_t value : old) {
    if (value != kNone) slot_of(code_[value], contexts_[value]) = value;
  }
}

ValueId Writer::known_result(const Instruction& it, const Range& result) {
  if (result.is_single()) return constant(result.least);
  if (!it.b.valid()) return {};
  const Range a = bounds_.range(it.a), b = bounds_.range(it.b);
  // Whether no bit that may be set is cleared.
  const auto kept_by = [&](const Range& of, const Range& mask) { return mask.is_single() && (of.ones & ~mask.least) == 0; };
  switch (it.op) {
    case Opcode::And:
      return kept_by(a, b) ? it.a : kept_by(b, a) ? it.b : ValueId{};
    case Opcode::Or:
    case Opcode::Xor:
    case Opcode::Add:
      return b.greatest == 0 ? it.a : a.greatest == 0 ? it.b : ValueId{};
    case Opcode::Min:
      return a.greatest <= b.least ? it.a : b.greatest <= a.least ? it.b : ValueId{};
    case Opcode::Max:
      return a.least >= b.greatest ? it.a : b.least >= a.greatest ? it.b : ValueId{};
    case Opcode::Mod:
      return a.greatest < b.least ? it.a : ValueId{};
    case Opcode::Select:
      return a.least > 0 ? it.b : a.greatest == 0 ? it.c : ValueId{};
    default:
      return {};
  }
}

ValueId Writer::add(const Instruction& instruction) {
  std::optional<Range> range;
  if (bounds_.enabled() && instruction.lanes == 1 && (is_lanewise(instruction.op) || instruction.op == Opcode::Select)) {
    range = bounds_.computed(instruction);
    if (const ValueId known = known_result(instruction, *range); known.valid()) return known;
  }
  Context context{.region = open_.back(), .unit = unit_ == kNone ? size() : unit_, .barriers = barriers_};
  context.fixed = unit_ != kNone || has_effect(instruction.op);
  if (shape_.order == Order::AsWritten) return append(instruction, context, range);
  if (instruction.op == Opcode::WriteVariable) ++versions_[instruction.imm];
  if (instruction.op == Opcode::Barrier) ++barriers_;
  // Loads of writable memory are never merged: the program decides how many there are.
  if (context.fixed || reads_writable_memory(instruction)) return append(instruction, context, range);
  if (instruction.op == Opcode::ReadVariable) {
    // A value that was read before a loop cannot be reused in it, because a later statement of the loop may write the variable.
    context.version = versions_[instruction.imm];
    context.loop = regions_[context.region].loop;
  }
  if (std::size_t{2} * known_count_ >= known_.size()) resize_known(std::max<std::size_t>(64, 2 * known_.size()));
  std::uint32_t& slot = slot_of(instruction, context);
  if (slot == kNone) {
    ++known_count_;
  } else if (regions_[contexts_[slot].region].end == kNone && contexts_[slot].barriers == barriers_) {
    // The earlier value dominates this position, so it is reused, except across a barrier: recomputing it there is cheaper than
    // keeping it alive for every invocation that waits.
    return ValueId{slot};
  }
  slot = size();
  return append(instruction, context, range);
}

ValueId Writer::once(Opcode op, ValueId a, ValueId b, ValueId c) {
  const Instruction instruction{.op = op, .lanes = 1, .a = a, .b = b, .c = c};
  if (shape_.order == Order::Canonical) return add(instruction);
  Made& made = made_[Hash()(instruction) % made_.size()];
  if (made.stretch != stretch_ || made.instruction != instruction) made = {instruction, add(instruction), stretch_};
  return made.value;
}

void Writer::assume_below(ValueId a, ValueId b, std::uint64_t count) {
  std::uint64_t& known = assumed_count_[pair(a, b)];
  assumed_.push_back({pair(a, b), known});
  known = std::max(known, count);
}

bool Writer::is_assumed_below(ValueId a, ValueId b, std::uint64_t count) const {
  const auto known = assumed_count_.find(pair(a, b));
  return known != assumed_count_.end() && known->second >= count;
}

void Writer::forget_assumptions(std::size_t kept) {
  for (; assumed_.size() > kept; assumed_.pop_back()) assumed_count_[assumed_.back().pair] = assumed_.back().before;
}

std::optional<std::uint32_t> Writer::literal(ValueId value) const {
  const Instruction& instruction = at(value);
  return instruction.op == Opcode::Constant ? std::optional(instruction.imm) : std::nullopt;
}

std::vector<ValueId> Writer::as_written(const Flags& leaf_live, const Flags& code_live) const {
  std::vector<ValueId> order;
  for (std::uint32_t index = 0; index < leaves_.size(); ++index) {
    if (leaf_live[index]) order.push_back(ValueId{kLeaf | index});
  }
  for (std::uint32_t index = 0; index < size(); ++index) {
    if (code_live[index]) order.push_back(ValueId{index});
  }
  return order;
}

// Returns the values in the order in which the effects, from first to last, use them; operands before users.
std::vector<ValueId> Writer::by_first_need(const Flags& code_live) const {
  std::vector<ValueId> order;
  order.reserve(leaves_.size() + code_.size());
  std::vector<std::uint8_t> leaf_seen(leaves_.size(), 0), code_seen(code_.size(), 0);
  const auto seen = [&](ValueId value) -> std::uint8_t& {
    return is_leaf(value) ? leaf_seen[value.index & ~kLeaf] : code_seen[value.index];
  };
  // A value whose operands are being visited, and the number of the next operand to visit.
  struct Visit {
    ValueId value;
    std::uint32_t operand;
  };
  std::vector<Visit> stack;
  for (std::uint32_t index = 0; index < size(); ++index) code_seen[index] = contexts_[index].fixed;
  for (std::uint32_t effect = 0; effect < size(); ++effect) {
    if (!contexts_[effect].fixed || !code_live[effect]) continue;
    stack.push_back({ValueId{effect}, 0});
    while (!stack.empty()) {
      Visit& top = stack.back();
      const Instruction& instruction = at(top.value);
      const auto operands = instruction.operands();
      const ValueId operand = top.operand < operands.size() ? operands[top.operand] : ValueId{};
      ++top.operand;
      if (operand.valid()) {
        if (std::uint8_t& mark = seen(operand); mark == 0) {
          mark = 1;
          stack.push_back({operand, 0});
        }
        continue;
      }
      if (top.value != ValueId{effect}) order.push_back(top.value);
      stack.pop_back();
    }
  }
  return order;
}

// Returns for each value the first effect of the value's own region that it must precede: one that uses the value, contains a use of it, or
// overwrites the variable or memory that the value was read from.
std::vector<std::uint32_t> Writer::latest_positions(const Flags& code_live) const {
  std::vector<std::uint32_t> latest(code_.size(), kNone), next_write(kernel_.variables.size(), kNone);
  std::uint32_t next_change = kNone;  // of memory
  const auto before = [&](std::uint32_t value, std::uint32_t effect) {
    effect = contexts_[effect].unit;
    while (contexts_[effect].region != contexts_[value].region) effect = regions_[contexts_[effect].region].opener;
    latest[value] = std::min(latest[value], effect);
  };
  for (std::uint32_t index = size(); index-- > 0;) {
    if (!code_live[index]) continue;
    const Instruction& instruction = code_[index];
    const Context& context = contexts_[index];
    if (!context.fixed) {
      const std::uint32_t change = instruction.op == Opcode::ReadVariable ? next_write[instruction.imm]
                                   : reads_writable_memory(instruction)   ? next_change
                                                                          : kNone;
      if (change < regions_[context.region].end) before(index, change);
    } else if (instruction.op == Opcode::WriteVariable) {
      next_write[instruction.imm] = index;
    } else if (changes_memory(instruction.op)) {
      next_change = index;
    }
    for (const ValueId operand : instruction.operands()) {
      if (operand.valid() && !is_leaf(operand) && !contexts_[operand.index].fixed) {
        before(operand.index, context.fixed ? index : latest[index]);
      }
    }
  }
  return latest;
}

std::vector<ValueId> Writer::canonical(const Flags& code_live) const {
  const std::vector<ValueId> wanted = by_first_need(code_live);
  const std::vector<std::uint32_t> latest = latest_positions(code_live);
  // A stable counting sort by the effect that each value must precede.
  std::vector<std::uint32_t> first(code_.size() + 1, 0);
  for (const ValueId value : wanted) {
    if (!is_leaf(value)) ++first[latest[value.index] + 1];
  }
  for (std::size_t index = 0; index < code_.size(); ++index) first[index + 1] += first[index];
  std::vector<ValueId> sorted(first.back());
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  std::vector<ValueId> order;
  order.reserve(wanted.size() + code_.size());
  for (const ValueId value : wanted) {
    if (is_leaf(value)) {
      order.push_back(value);
    } else {
      sorted[next[latest[value.index]]++] = value;
    }
  }
  for (std::uint32_t index = 0; index < size(); ++index) {
    for (std::uint32_t at = first[index]; at < first[index + 1]; ++at) order.push_back(sorted[at]);
    if (code_live[index] && contexts_[index].fixed) order.push_back(ValueId{index});
  }
  return order;
}

// Drops the arrays that no instruction accesses, and numbers the others anew.
template <class Array, class Accesses>
void Writer::drop_unused(std::vector<Array>& arrays, Accesses&& accesses) {
  std::vector<bool> used(arrays.size());
  for (const Instruction& instruction : kernel_.code) {
    if (accesses(instruction)) used[instruction.imm] = true;
  }
  std::vector<std::uint32_t> new_index(arrays.size());
  std::vector<Array> kept;
  for (std::size_t array = 0; array < arrays.size(); ++array) {
    new_index[array] = static_cast<std::uint32_t>(kept.size());
    if (used[array]) kept.push_back(arrays[array]);
  }
  if (kept.size() == arrays.size()) return;
  for (Instruction& instruction : kernel_.code) {
    if (accesses(instruction)) instruction.imm = new_index[instruction.imm];
  }
  arrays = std::move(kept);
}

Kernel Writer::finish() {
  Kernel kernel = compact();
  if (!shape_.straightened || kernel.variables.empty()) return kernel;
  // The second writer keeps the order of this code, so that two programs with equal code still have equal code after straightening. Leaves
  // stay at the entry.
  Writer again(kernel.workgroup_size, {.proofs = shape_.proofs, .order = Order::AsWritten});
  const auto entry = kernel.code.begin() + static_cast<std::ptrdiff_t>(leaves_kept_);
  std::vector<Instruction> code(entry, kernel.code.end());
  again.leaves_.assign(kernel.code.begin(), entry);
  for (std::vector<Instruction>* some : {&again.leaves_, &code}) {
    for (Instruction& instruction : *some) {
      for (ValueId* operand : {&instruction.a, &instruction.b, &instruction.c, &instruction.d}) {
        if (!operand->valid()) continue;
        operand->index = operand->index < leaves_kept_ ? kLeaf | operand->index : operand->index - leaves_kept_;
      }
    }
  }
  again.code_ = settle(straighten(code, kernel.variables));
  again.kernel_ = std::move(kernel);
  return again.compact();
}

// Dead code elimination: an instruction is live if it has an effect or a live instruction uses it. A write of a variable is live only if a
// live instruction reads the variable.
Writer::Live Writer::mark_live() const {
  Live live{.leaf = Flags(leaves_.size()), .code = Flags(code_.size()), .variable = Flags(kernel_.variables.size())};
  // The writes of each variable as a list, the last one first.
  std::vector<std::uint32_t> last_write(kernel_.variables.size(), kNone), write_before(code_.size(), kNone);
  std::vector<ValueId> pending;
  const auto mark = [&](ValueId value) {
    if (!value.valid()) return;
    std::uint8_t& is_live = is_leaf(value) ? live.leaf[value.index & ~kLeaf] : live.code[value.index];
    if (is_live) return;
    is_live = true;
    pending.push_back(value);
  };
  for (std::uint32_t index = 0; index < code_.size(); ++index) {
    const Instruction& instruction = code_[index];
    if (instruction.op == Opcode::WriteVariable) {
      write_before[index] = last_write[instruction.imm];
      last_write[instruction.imm] = index;
    } else if (has_effect(instruction.op)) {
      mark(ValueId{index});
    }
  }
  while (!pending.empty()) {
    const Instruction instruction = at(pending.back());
    pending.pop_back();
    for (const ValueId operand : instruction.operands()) mark(operand);
    if (instruction.op == Opcode::ReadVariable && !live.variable[instruction.imm]) {
      live.variable[instruction.imm] = true;
      for (std::uint32_t write = last_write[instruction.imm]; write != kNone; write = write_before[write]) mark(ValueId{write});
    }
  }
  return live;
}

// Numbers the live instructions and variables anew, in the order of the kernel: leaves first, because they stand at the entry.
Kernel Writer::compact() {
  const Live live = mark_live();
  const std::vector<ValueId> order = shape_.order == Order::Canonical ? canonical(live.code) : as_written(live.leaf, live.code);
  std::vector<std::uint32_t> new_leaf(leaves_.size()), new_code(code_.size()), new_variable(kernel_.variables.size());
  std::vector<std::uint8_t> variables;
  for (std::size_t variable = 0; variable < kernel_.variables.size(); ++variable) {
    new_variable[variable] = static_cast<std::uint32_t>(variables.size());
    if (live.variable[variable]) variables.push_back(kernel_.variables[variable]);
  }
  kernel_.variables = std::move(variables);
  kernel_.code.clear();
  kernel_.code.reserve(order.size());
  const auto new_index = [&](ValueId value) -> std::uint32_t& {
    return is_leaf(value) ? new_leaf[value.index & ~kLeaf] : new_code[value.index];
  };
  const auto take = [&](ValueId value) {
    Instruction instruction = at(value);
    for (ValueId* operand : {&instruction.a, &instruction.b, &instruction.c, &instruction.d}) {
      if (operand->valid()) operand->index = new_index(*operand);
    }
    if (instruction.op == Opcode::ReadVariable || instruction.op == Opcode::WriteVariable) instruction.imm = new_variable[instruction.imm];
    new_index(value) = static_cast<std::uint32_t>(kernel_.code.size());
    kernel_.code.push_back(instruction);
  };
  for (const ValueId value : order) {
    if (is_leaf(value)) take(value);
  }
  leaves_kept_ = static_cast<std::uint32_t>(kernel_.code.size());
  for (const ValueId value : order) {
    if (!is_leaf(value)) take(value);
  }
  // A Workgroup or Private buffer that nothing accesses takes no memory and is not zeroed.
  drop_unused(kernel_.shared, [](const Instruction& it) {
    return it.op == Opcode::LoadShared || it.op == Opcode::StoreShared || (is_atomic(it.op) && it.shared);
  });
  drop_unused(kernel_.privates, [](const Instruction& it) { return it.op == Opcode::LoadPrivate || it.op == Opcode::StorePrivate; });
  kernel_.partner = partners(kernel_.code);
  return std::move(kernel_);
}

}  // namespace vyre::lower
