#include "vyre/emit/joined_extremes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "vyre/emit/chosen_values.hpp"
#include "vyre/emit/found_numbers.hpp"

namespace vyre::emit {

using lower::Instruction;
using lower::Kernel;
using lower::Opcode;
using lower::ValueId;

namespace {

// Goes over a kernel until a pass finds no other place. Where that takes too many, all places count as found.
void find_places(std::vector<bool>& places, const Opcodes& opcodes, auto pass) {
  // In a loop, a place may be read in front of what writes it.
  for (int passes = 0; pass() && has(opcodes, Opcode::Loop); ++passes) {
    if (passes == kMostPasses) places.assign(places.size(), true);
  }
}

// Which minima and maxima are computed from others.
class Joins {
 public:
  Joins(const Kernel& kernel, const Opcodes& opcodes)
      : kernel_(kernel),
        opcodes_(opcodes),
        chosen_(kernel.variables.size()),
        holds_(kernel.code.size()),
        reaches_(kernel.code.size()),
        holding_(place_count(kernel)),
        reaching_(holding_.size()) {
    if (has(opcodes, Opcode::ReadVariable)) find_chosen();
  }

  // Whether a minimum or maximum is computed from another.
  bool any() {
    // One in a loop may be computed from itself.
    const int least = has(opcodes_, Opcode::AddSat) || has(opcodes_, Opcode::Loop) ? 1 : 2;
    if (std::ranges::count_if(kernel_.code, [&](const Instruction& it) { return is_extreme(it); }) < least) return false;
    find_places(holding_, opcodes_, [&] { return find_holding(); });
    return std::ranges::any_of(kernel_.code, [&](const Instruction& it) { return joins(it); });
  }

  // Returns of which instructions a compiler may make an operand of a joined one.
  std::vector<bool> operands(const FoundNumbers& numbers) {
    find_places(reaching_, opcodes_, [&] { return find_reaching(numbers); });
    return std::move(reaches_);
  }

 private:
  // A sum that is cut off is a minimum in a sum.
  static bool is_minimum_or_maximum(Opcode op) {
    return op == Opcode::Min || op == Opcode::Max || op == Opcode::SMin || op == Opcode::SMax || op == Opcode::AddSat;
  }
  bool is_extreme(const Instruction& it) const {
    if (it.op == Opcode::ReadVariable) return chosen_[it.imm] > 0;
    const bool may_be = it.op == Opcode::Select && it.lanes == 1 && is_comparison(kernel_.code[it.a.index].op);
    return is_minimum_or_maximum(it.op) || (may_be && !is_checked_load(kernel_, it));
  }

  // `if (v > x) v = x` is a minimum too.
  void find_chosen() {
    std::vector<ValueId> conditions;
    for (const Instruction& it : kernel_.code) {
      if (it.op == Opcode::If) conditions.push_back(it.a);
      if (it.op == Opcode::EndIf) conditions.pop_back();
      if (it.op != Opcode::WriteVariable || conditions.empty()) continue;
      const Instruction& compares = kernel_.code[conditions.back().index];
      if (is_comparison(compares.op) && (is_same(compares.a, it.a) || is_same(compares.b, it.a))) ++chosen_[it.imm];
    }
  }
  bool is_same(ValueId one, ValueId other) const {
    const Instruction &a = kernel_.code[one.index], &b = kernel_.code[other.index];
    return one == other || (a.op == b.op && a.imm == b.imm && (a.op == Opcode::Constant || a.op == Opcode::ReadVariable));
  }

  bool holds_operand(const Instruction& it) const {
    if (!is_computed(it.op) || is_comparison(it.op)) return false;
    return std::ranges::any_of(it.operands(), [&](ValueId each) { return each.valid() && holds_[each.index]; });
  }
  bool joins(const Instruction& it) const {
    if (it.op == Opcode::ReadVariable) return chosen_[it.imm] > 1 || (chosen_[it.imm] == 1 && holding_[*place_of(kernel_, it)]);
    return it.op == Opcode::AddSat || (is_extreme(it) && holds_operand(it));
  }

  // Goes from minima and maxima to what is computed from them. Returns whether another place was found.
  bool find_holding() {
    bool grew = false;
    for (std::size_t at = 0; at < kernel_.code.size(); ++at) {
      const Instruction& it = kernel_.code[at];
      const auto place = place_of(kernel_, it);
      if (const auto written = written_value(it)) {
        if (holds_[written->index] && !holding_[*place]) grew = holding_[*place] = true;
      } else {
        holds_[at] = (place && holding_[*place]) || is_extreme(it) || holds_operand(it);
      }
    }
    return grew;
  }

  // Goes back from joined ones. Returns whether another place was found.
  bool find_reaching(const FoundNumbers& numbers) {
    bool grew = false;
    for (std::size_t at = kernel_.code.size(); at-- > 0;) {
      const Instruction& it = kernel_.code[at];
      const auto place = place_of(kernel_, it);
      if (const auto written = written_value(it)) {
        if (reaching_[*place]) reaches_[written->index] = true;
      } else if (place) {
        if ((reaches_[at] || joins(it)) && !reaching_[*place]) grew = reaching_[*place] = true;
      } else if (joins(it) || (reaches_[at] && may_be_operand(it, numbers))) {
        for (const ValueId each : it.operands()) {
          if (each.valid()) reaches_[each.index] = true;
        }
      }
    }
    return grew;
  }

  // Whether the result may be an operand, or an operand plus a number.
  static bool may_be_operand(const Instruction& it, const FoundNumbers& numbers) {
    const auto either_may_be = [&](std::uint32_t number) { return numbers.of(it.a).may_be(number) || numbers.of(it.b).may_be(number); };
    switch (it.op) {
      case Opcode::Lane:
      case Opcode::Pack:
      case Opcode::Select:
        return true;
      case Opcode::Add:
      case Opcode::Xor:
      case Opcode::Sub:
        return !numbers.of(it.a).empty() || !numbers.of(it.b).empty();
      case Opcode::Or:
      case Opcode::Shl:
      case Opcode::Shr:
      case Opcode::SShr:
        return either_may_be(0);
      case Opcode::And:
        return either_may_be(~0u);
      case Opcode::Mul:
      case Opcode::Div:
        return either_may_be(1);
      default:
        return is_minimum_or_maximum(it.op);
    }
  }

  const Kernel& kernel_;
  const Opcodes& opcodes_;
  std::vector<std::uint32_t> chosen_;     // by variable: how many branches set it to what they have compared
  std::vector<bool> holds_, reaches_;     // by instruction
  std::vector<bool> holding_, reaching_;  // by place
};

// Whether an instruction may give minus a value, or what is that once a number is added.
bool may_negate(const Kernel& kernel, const Instruction& it, const FoundNumbers& numbers) {
  const auto has_operand = [&](ValueId value, ValueId operand) {
    if (!numbers.of(operand).empty()) return false;
    const Instruction& of = kernel.code[value.index];
    return (of.op == Opcode::Add || of.op == Opcode::Sub || of.op == Opcode::Mul || of.op == Opcode::Shl) &&
           (of.a == operand || of.b == operand);
  };
  const auto by_negative = [&](ValueId value, ValueId by) {
    const NumberSet& numbers_of = numbers.of(by);
    const bool may_be = numbers_of.is_any() || std::ranges::any_of(numbers_of, [](std::uint32_t each) { return each >= 1u << 31; });
    return may_be && !number_of(kernel, value);
  };
  switch (it.op) {
    case Opcode::Neg:
    case Opcode::Not:
    case Opcode::SDiv:
      return true;
    case Opcode::Sub:  // also `a - (a + x)` and `(b - x) - b`
      return (!numbers.of(it.a).empty() && !number_of(kernel, it.b)) || has_operand(it.b, it.a) || has_operand(it.a, it.b);
    case Opcode::Mul:
      return by_negative(it.a, it.b) || by_negative(it.b, it.a);
    case Opcode::Xor:
      return numbers.of(it.a).may_be(~0u) || numbers.of(it.b).may_be(~0u);
    default:
      return false;
  }
}

// What ends at zero: a signed minimum of 0 and a value, and an unsigned maximum of both.
enum class End : std::uint8_t { None, Signed, Unsigned };

End end_of(const Kernel& kernel, const Instruction& it, const FoundNumbers& numbers) {
  const auto is_zero = [&](ValueId value) { return numbers.of(value).may_be(0); };
  if (it.op == Opcode::SMin || it.op == Opcode::Max) {
    if (!is_zero(it.a) && !is_zero(it.b)) return End::None;
    return it.op == Opcode::SMin ? End::Signed : End::Unsigned;
  }
  if (it.op != Opcode::Select || it.lanes != 1) return End::None;
  const Instruction& compares = kernel.code[it.a.index];
  const auto is_compared = [&](ValueId value) { return is_comparison(compares.op) && (compares.a == value || compares.b == value); };
  if (!(is_zero(it.b) && is_compared(it.c)) && !(is_zero(it.c) && is_compared(it.b))) return End::None;
  return compares.op == Opcode::SLt || compares.op == Opcode::SLe ? End::Signed : End::Unsigned;
}

}  // namespace

std::vector<bool> joined_extremes(const Kernel& kernel, const Opcodes& opcodes) {
  constexpr std::array kExtremes = {Opcode::Min, Opcode::Max, Opcode::SMin, Opcode::SMax, Opcode::AddSat, Opcode::Select};
  const bool may_choose = has(opcodes, Opcode::If) && has(opcodes, Opcode::ReadVariable);
  if (!may_choose && std::ranges::none_of(kExtremes, [&](Opcode op) { return has(opcodes, op); })) return {};
  Joins joins(kernel, opcodes);
  if (!joins.any()) return {};
  const FoundNumbers numbers(kernel, opcodes);
  const std::vector<bool> operands = joins.operands(numbers);
  std::vector<End> ends;
  for (const Instruction& it : kernel.code) ends.push_back(end_of(kernel, it, numbers));
  const auto has_end = [&](End end) { return std::ranges::find(ends, end) != ends.end(); };
  const bool has_both_ends = has_end(End::Signed) && has_end(End::Unsigned);
  std::vector<bool> found;
  for (std::size_t at = 0; at < kernel.code.size(); ++at) {
    const bool ends_at_zero = has_both_ends && ends[at] != End::None;
    if (!operands[at] || (!ends_at_zero && !may_negate(kernel, kernel.code[at], numbers))) continue;
    found.resize(kernel.code.size());
    found[at] = true;
  }
  return found;
}

}  // namespace vyre::emit
