#include "vyre/emit/joined_extremes.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "vyre/emit/chosen_values.hpp"
#include "vyre/emit/found_numbers.hpp"
#include "vyre/emit/negations.hpp"

namespace vyre::emit {

using lower::Instruction;
using lower::Kernel;
using lower::Opcode;
using lower::ValueId;

namespace {

// Whether the result of an operator may be a negation.
bool turns(Opcode op) {
  return op == Opcode::Neg || op == Opcode::Not || op == Opcode::Sub || op == Opcode::Xor || op == Opcode::SDiv || op == Opcode::Mul;
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
        holding_places_(place_count(kernel)),
        reaching_places_(holding_places_.size()) {
    if (has(opcodes, Opcode::ReadVariable)) find_chosen();
  }

  // Whether a minimum or maximum is computed from another.
  bool any() {
    // One in a loop may be computed from itself.
    int others = has(opcodes_, Opcode::AddSat) || has(opcodes_, Opcode::Loop) ? 1 : 0;
    for (const Instruction& it : kernel_.code) {
      if (is_extreme(it)) others += it.op != Opcode::ReadVariable && turns_two(it) ? 2 : 1;
    }
    if (others < 2) return false;
    find_places(holding_places_, true, opcodes_, [&] { return find_holding(); });
    return std::ranges::any_of(kernel_.code, [&](const Instruction& it) { return joins(it); });
  }

  // Whether branches set a variable to what they have compared.
  bool is_chosen(const Instruction& it) const { return it.op == Opcode::ReadVariable && chosen_[it.imm] > 0; }
  // Any signed comparison of the kernel may be that of the branches.
  bool is_chosen_with_sign(const Instruction& it) const {
    return is_chosen(it) && (has(opcodes_, Opcode::SLt) || has(opcodes_, Opcode::SLe));
  }

  // Returns of which instructions a compiler may make an operand of a joined one.
  std::vector<bool> operands(const FoundNumbers& numbers) {
    find_places(reaching_places_, true, opcodes_, [&] { return find_reaching(numbers); });
    return std::move(reaches_);
  }

 private:
  // A sum that is cut off is a minimum in a sum.
  static bool is_minimum_or_maximum(Opcode op) {
    return op == Opcode::Min || op == Opcode::Max || op == Opcode::SMin || op == Opcode::SMax || op == Opcode::AddSat;
  }
  bool is_extreme(const Instruction& it) const {
    return is_chosen(it) || is_minimum_or_maximum(it.op) || (it.op == Opcode::Select && !is_checked_load(kernel_, it));
  }

  // `if (v > x) v = x` is a minimum too.
  void find_chosen() {
    std::vector<ValueId> conditions;
    for (const Instruction& it : kernel_.code) {
      if (it.op == Opcode::If) conditions.push_back(it.a);
      if (it.op == Opcode::EndIf) conditions.pop_back();
      if (it.op != Opcode::WriteVariable) continue;
      const std::span innermost = std::span(conditions).last(std::min(conditions.size(), kMostConditions));
      const auto chooses = [&](ValueId each) { return compares(each, it.a); };
      if (std::ranges::any_of(innermost, chooses)) ++chosen_[it.imm];
    }
  }
  bool compares(ValueId condition, ValueId value) const {
    return std::ranges::any_of(parts_of(kernel_, condition), [&](ValueId each) {
      const Instruction& it = kernel_.code[each.index];
      return is_comparison(it.op) && (may_be_alike(kernel_, it.a, value) || may_be_alike(kernel_, it.b, value));
    });
  }

  bool holds_operand(const Instruction& it) const {
    if (!is_computed(it.op) || is_comparison(it.op)) return false;
    return std::ranges::any_of(it.operands(), [&](ValueId each) { return each.valid() && holds_[each.index]; });
  }
  bool joins(const Instruction& it) const {
    if (it.op == Opcode::ReadVariable) return chosen_[it.imm] > 1 || (chosen_[it.imm] == 1 && holding_places_[*place_of(kernel_, it)]);
    return it.op == Opcode::AddSat || (is_extreme(it) && (holds_operand(it) || turns_two(it)));
  }
  // The minimum of two negations may become a negated maximum. Of two minuses of one operand, one may be lost.
  bool turns_two(const Instruction& it) const {
    const bool chooses = it.op == Opcode::Select;
    const int of_a = turns_of(chooses ? it.b : it.a), of_b = turns_of(chooses ? it.c : it.b);
    return of_a + of_b > 1;
  }
  // Returns how many of an operand's last operators may negate. One may stand in a sum.
  int turns_of(ValueId value) const {
    const auto turning = [&](ValueId operand) -> const Instruction* {
      if (!operand.valid()) return nullptr;
      const Instruction& it = kernel_.code[operand.index];
      if (it.op != Opcode::Add) return turns(it.op) ? &it : nullptr;
      const Instruction &a = kernel_.code[it.a.index], &b = kernel_.code[it.b.index];
      return turns(a.op) ? &a : turns(b.op) ? &b : nullptr;
    };
    const Instruction* const last = turning(value);
    if (last == nullptr) return 0;
    return turning(last->a) != nullptr || turning(last->b) != nullptr ? 2 : 1;
  }

  // Goes from minima and maxima to what is computed from them. Returns whether another place was found.
  bool find_holding() {
    bool grew = false;
    for (std::size_t at = 0; at < kernel_.code.size(); ++at) {
      const Instruction& it = kernel_.code[at];
      const auto place = place_of(kernel_, it);
      if (const auto written = written_value(it)) {
        if (holds_[written->index] && !holding_places_[*place]) grew = holding_places_[*place] = true;
      } else {
        holds_[at] = (place && holding_places_[*place]) || is_extreme(it) || holds_operand(it);
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
        if (reaching_places_[*place]) reaches_[written->index] = true;
      } else if (place) {
        if ((reaches_[at] || joins(it)) && !reaching_places_[*place]) grew = reaching_places_[*place] = true;
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
    if (is_comparison(it.op)) return true;  // what a Select compares, it also chooses
    switch (it.op) {
      case Opcode::Lane:
      case Opcode::Pack:
      case Opcode::Select:
        return true;
      case Opcode::Add:
      case Opcode::Xor:
      case Opcode::Sub:
        return !numbers.of(it.a).is_unknown() || !numbers.of(it.b).is_unknown();
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

  static constexpr std::size_t kMostConditions = 4;  // of branches in branches

  const Kernel& kernel_;
  const Opcodes& opcodes_;
  std::vector<std::uint32_t> chosen_;                   // by variable: how many branches set it to what they have compared
  std::vector<bool> holds_, reaches_;                   // by instruction
  std::vector<bool> holding_places_, reaching_places_;  // by place
};

// Whether an instruction may be a signed minimum of 0 and a value, which branches choose as well, or an unsigned maximum of them.
struct End {
  bool is_signed = false, is_unsigned = false;
};

End end_of(const Kernel& kernel, const Instruction& it, const FoundNumbers& numbers) {
  const auto is_zero = [&](ValueId value) { return numbers.of(value).may_be(0) || may_cancel(kernel, kernel.code[value.index]); };
  if (it.op == Opcode::SMin || it.op == Opcode::Max) {
    const bool ends = is_zero(it.a) || is_zero(it.b);
    return {ends && it.op == Opcode::SMin, ends && it.op == Opcode::Max};
  }
  if (it.op != Opcode::Select || it.lanes != 1) return {};
  const Instruction& compares = kernel.code[it.a.index];
  const auto is_compared = [&](ValueId value) { return is_comparison(compares.op) && (compares.a == value || compares.b == value); };
  const bool ends = (is_zero(it.b) && is_compared(it.c)) || (is_zero(it.c) && is_compared(it.b));
  const bool is_signed = compares.op == Opcode::SLt || compares.op == Opcode::SLe;
  return {ends && is_signed, ends && !is_signed};
}

// Whether an operator moves the bits of its first operand down, or around. ptxas makes one instruction of it and a sum, and loses the
// minus of that operand.
bool moves_bits(Opcode op) {
  return op == Opcode::RotateLeft || op == Opcode::RotateRight || op == Opcode::Shr || op == Opcode::SShr || op == Opcode::MulHigh;
}

// Marks the negations whose bits are moved, and those that a variable keeps until then.
void mark_moved(const Kernel& kernel, const Opcodes& opcodes, std::vector<bool>& found) {
  std::vector<bool> moved(kernel.code.size()), variables(kernel.variables.size());
  for (const Instruction& it : kernel.code) {
    if (!moves_bits(it.op)) continue;
    const Instruction& value = kernel.code[it.a.index];
    if (value.op == Opcode::ReadVariable) variables[value.imm] = true;
    moved[it.a.index] = true;
  }
  for (const Instruction& it : kernel.code) {
    if (it.op == Opcode::WriteVariable && variables[it.imm]) moved[it.a.index] = true;
  }
  std::optional<FoundNumbers> numbers;
  for (std::size_t at = 0; at < kernel.code.size(); ++at) {
    const Instruction& it = kernel.code[at];
    if (!moved[at] || (it.op != Opcode::Neg && it.op != Opcode::Sub)) continue;
    if (!numbers) numbers.emplace(kernel, opcodes);
    if (it.op == Opcode::Sub && !numbers->of(it.a).may_be(0)) continue;
    found.resize(kernel.code.size());
    found[at] = true;
  }
}

// Marks what negates or ends at zero among joined minima and maxima.
void mark_joined(const Kernel& kernel, const Opcodes& opcodes, std::vector<bool>& found) {
  Joins joins(kernel, opcodes);
  if (!joins.any()) return;
  FoundNumbers numbers(kernel, opcodes);
  numbers.look_behind_branches();
  const std::vector<bool> operands = joins.operands(numbers);
  std::vector<End> ends;
  for (std::uint32_t at = 0; at < kernel.code.size(); ++at) {
    const Instruction& it = kernel.code[at];
    const bool may_choose_zero = it.lanes == 1 && joins.is_chosen_with_sign(it) && numbers.of(ValueId{at}).may_be(0);
    ends.push_back(may_choose_zero ? End{.is_signed = true} : end_of(kernel, it, numbers));
  }
  const bool has_both_ends = std::ranges::any_of(ends, &End::is_signed) && std::ranges::any_of(ends, &End::is_unsigned);
  for (std::size_t at = 0; at < kernel.code.size(); ++at) {
    const bool ends_at_zero = has_both_ends && (ends[at].is_signed || ends[at].is_unsigned);
    if (!operands[at] || (!ends_at_zero && !may_negate(kernel, kernel.code[at], numbers))) continue;
    found.resize(kernel.code.size());
    found[at] = true;
  }
}

}  // namespace

std::vector<bool> joined_extremes(const Kernel& kernel, const Opcodes& opcodes) {
  std::vector<bool> found;
  if (has(opcodes, Opcode::Neg) || has(opcodes, Opcode::Sub)) mark_moved(kernel, opcodes, found);
  mark_joined(kernel, opcodes, found);
  return found;
}

}  // namespace vyre::emit
