#include "vyre/emit/known_inversions.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "vyre/emit/found_numbers.hpp"

namespace vyre::emit {
namespace {

using lower::Instruction;
using lower::Kernel;
using lower::Opcode;
using lower::ValueId;

// How much a compiler may know about a value behind a branch, from less to more. It may know a value that is FromBranch, because that is
// computed from nothing but constants and operands of conditions.
enum class Told : std::uint8_t { Nothing, Constant, FromBranch };

// The number of an id along an axis is the same leaf whether it is counted in workgroups or in invocations.
std::optional<std::uint32_t> axis_of(const Instruction& it) {
  const bool is_id = it.op == Opcode::WorkgroupId || it.op == Opcode::LocalId || it.op == Opcode::InvocationId;
  return is_id ? std::optional(it.imm) : std::nullopt;
}

using Operands = std::array<ValueId, 2>;

class Search {
 public:
  Search(const Kernel& kernel, const Opcodes& opcodes)
      : kernel_(kernel),
        decides_(kernel.code.size()),
        told_(kernel.code.size()),
        deciding_places_(place_count(kernel)),
        told_places_(deciding_places_.size()),
        opcodes_(opcodes),
        has_loop_(has(opcodes, Opcode::Loop)) {}

  // Returns for each instruction the first operand that `inverts` gives and that branches may tell.
  std::vector<ValueId> run(const auto& inverts) {
    find_places(deciding_places_, true, opcodes_, [&] { return find_deciding(); });
    find_places(told_places_, Told::FromBranch, opcodes_, [&] { return find_told(); });
    const auto is_told = [&](ValueId each) { return each.valid() && told_[each.index] == Told::FromBranch; };
    std::vector<ValueId> found;
    for (std::size_t at = 0; at < kernel_.code.size(); ++at) {
      if (!is_computed(kernel_.code[at].op) || std::ranges::none_of(kernel_.code[at].operands(), is_told)) continue;
      const Operands operands = inverts(kernel_.code[at]);
      const auto operand = std::ranges::find_if(operands, is_told);
      if (operand == operands.end()) continue;
      found.resize(kernel_.code.size());
      found[at] = *operand;
    }
    return found;
  }

 private:
  // Goes from the conditions back to what they are computed from. Returns whether a place was found.
  bool find_deciding() {
    bool grew = false;
    for (std::size_t at = kernel_.code.size(); at-- > 0;) {
      const Instruction& it = kernel_.code[at];
      if (it.op == Opcode::If) decides_[it.a.index] = true;
      if (const auto value = written_value(it); value && deciding_places_[*place_of(kernel_, it)]) decides_[value->index] = true;
      if (!decides_[at]) continue;
      if (const auto axis = axis_of(it)) deciding_axes_[*axis] = true;
      if (it.op == Opcode::Length) deciding_length_ = true;
      const auto place = place_of(kernel_, it);
      if (place && !deciding_places_[*place]) grew = deciding_places_[*place] = true;
      if (!is_computed(it.op)) continue;
      for (const ValueId operand : it.operands()) {
        if (operand.valid()) decides_[operand.index] = true;
      }
    }
    return grew;
  }

  // Returns whether this pass found more about a place than the one before. Without a loop, a read sees only the writes in front of it.
  bool find_told() {
    bool grew = false;
    std::vector<Told> least(told_places_.size(), Told::FromBranch), most(told_places_.size(), Told::Nothing);
    // One value that is FromBranch makes the place so. A place is constant only if all of its values are.
    const auto of_place = [&](std::size_t place) {
      return most[place] == Told::FromBranch ? most[place] : std::min(least[place], most[place]);
    };
    for (std::size_t at = 0; at < kernel_.code.size(); ++at) {
      const Instruction& it = kernel_.code[at];
      told_[at] = told(it);
      const auto value = written_value(it);
      if (!value) continue;
      const std::size_t place = *place_of(kernel_, it);
      least[place] = std::min(least[place], told_[value->index]);
      most[place] = std::max(most[place], told_[value->index]);
      if (!has_loop_) told_places_[place] = of_place(place);
    }
    for (std::size_t place = 0; has_loop_ && place < told_places_.size(); ++place) {
      grew |= of_place(place) > told_places_[place];
      told_places_[place] = std::max(told_places_[place], of_place(place));
    }
    return grew;
  }

  Told told(const Instruction& it) const {
    if (it.op == Opcode::Constant) return Told::Constant;
    if (is_computed(it.op)) return told_of_operands(it);
    if (const auto axis = axis_of(it)) return deciding_axes_[*axis] ? Told::FromBranch : Told::Nothing;
    if (it.op == Opcode::Length) return deciding_length_ ? Told::FromBranch : Told::Nothing;
    if (const auto place = place_of(kernel_, it)) return deciding_places_[*place] ? Told::FromBranch : told_places_[*place];
    return Told::Nothing;
  }

  Told told_of_operands(const Instruction& it) const {
    if ((it.op == Opcode::And || it.op == Opcode::Mul) && (is_zero(it.a) || is_zero(it.b))) return Told::Constant;
    // A Select is known by what it chooses from: its condition is mostly the check of an index.
    Told least = Told::FromBranch, most = Told::Nothing;
    const auto note = [&](ValueId operand, bool is_chosen_from) {
      if (!operand.valid()) return;
      most = std::max(most, told_[operand.index]);
      if (is_chosen_from) least = std::min(least, told_[operand.index]);
    };
    note(it.a, it.op != Opcode::Select);
    for (const ValueId operand : {it.b, it.c, it.d}) note(operand, true);
    return least == Told::Nothing ? Told::Nothing : most;
  }

  bool is_zero(ValueId value) const { return kernel_.code[value.index].op == Opcode::Constant && kernel_.code[value.index].imm == 0; }

  const Kernel& kernel_;
  std::vector<bool> decides_;  // by instruction: a condition is computed from it
  std::vector<Told> told_;
  std::vector<bool> deciding_places_;
  std::vector<Told> told_places_;
  const Opcodes& opcodes_;
  const bool has_loop_;
  std::array<bool, 3> deciding_axes_{};
  bool deciding_length_ = false;
};

// The operands that an instruction may invert.
class Inversions {
 public:
  Inversions(const Kernel& kernel, const Opcodes& opcodes)
      : kernel_(kernel), opcodes_(opcodes), masks_(kernel.code.size()), sums_(kernel.code.size()) {
    for (std::size_t at = 0; at < kernel_.code.size(); ++at) {
      const Instruction& it = kernel_.code[at];
      if (it.op != Opcode::Xor && it.op != Opcode::Add && it.op != Opcode::Sub) continue;
      const auto a = number(it.a), b = number(it.b);
      if (!b && (!a || it.op == Opcode::Sub)) continue;
      const std::uint32_t value = (b ? it.a : it.b).index, joined = b ? *b : *a;
      if (it.op == Opcode::Xor) masks_[at] = masks_[value] ^ joined;
      if (it.op != Opcode::Xor) sums_[at] = it.op == Opcode::Add ? sums_[value] + joined : sums_[value] - joined;
    }
  }

  // An exclusive or with what may turn out to be ones, but is no literal.
  Operands of_xor(const Instruction& it) {
    const auto inverted = [&](ValueId value, ValueId by) { return !number(value) && !number(by) && may_be(by, ~0u) ? value : ValueId{}; };
    return it.op == Opcode::Xor ? Operands{inverted(it.a, it.b), inverted(it.b, it.a)} : Operands{};
  }

  // Also minus x, because `-x - 1` and `-(x + 1)` are inversions, and what a compiler joins to one, as `(x ^ 5) ^ ~5` and `4 - (x + 5)`.
  Operands of(const Instruction& it) {
    switch (it.op) {
      case Opcode::Not:
      case Opcode::Neg:
      case Opcode::AddSat:
        return {it.a};
      case Opcode::Xor: {
        const auto inverted = [&](ValueId value, ValueId by) {
          return may_be(by, ~masks_[value.index]) || may_be(by, ~0u) ? value : ValueId{};
        };
        return {inverted(it.a, it.b), inverted(it.b, it.a)};
      }
      case Opcode::Sub: {
        const std::uint32_t sum = sums_[it.b.index];
        return {may_be(it.a, ~0u) || is(it.a, 0) || may_be(it.a, sum - 1) || is(it.a, sum) ? it.b : ValueId{}};
      }
      case Opcode::Mul:
        return {may_be(it.b, ~0u) ? it.a : ValueId{}, may_be(it.a, ~0u) ? it.b : ValueId{}};
      default:
        return {};
    }
  }

 private:
  const FoundNumbers& numbers() {
    if (!numbers_) numbers_.emplace(kernel_, opcodes_);
    return *numbers_;
  }
  bool may_be(ValueId value, std::uint32_t wanted) { return number(value) ? number(value) == wanted : numbers().of(value).may_be(wanted); }
  bool is(ValueId value, std::uint32_t wanted) { return number(value) ? number(value) == wanted : numbers().of(value).is(wanted); }
  std::optional<std::uint32_t> number(ValueId value) const { return number_of(kernel_, value); }

  const Kernel& kernel_;
  const Opcodes& opcodes_;
  std::vector<std::uint32_t> masks_, sums_;  // what literals invert of a value, or add to it, in a chain
  std::optional<FoundNumbers> numbers_;      // found when they are asked for first
};

std::vector<ValueId> search(const Kernel& kernel, const Opcodes& opcodes, Operands (Inversions::*of)(const Instruction&)) {
  Inversions inversions(kernel, opcodes);
  return Search(kernel, opcodes).run([&](const Instruction& it) { return (inversions.*of)(it); });
}

}  // namespace

std::vector<ValueId> known_inversions(const Kernel& kernel, const Opcodes& opcodes) {
  constexpr std::array kInverting = {Opcode::Not, Opcode::Neg, Opcode::AddSat, Opcode::Sub, Opcode::Mul, Opcode::Xor};
  const bool may_invert = std::ranges::any_of(kInverting, [&](Opcode op) { return has(opcodes, op); });
  if (!may_invert || !has(opcodes, Opcode::If)) return {};
  return search(kernel, opcodes, &Inversions::of);
}

std::vector<ValueId> known_exclusive_ors(const Kernel& kernel, const Opcodes& opcodes) {
  if (!has(opcodes, Opcode::Xor) || !has(opcodes, Opcode::If)) return {};
  return search(kernel, opcodes, &Inversions::of_xor);
}

}  // namespace vyre::emit
