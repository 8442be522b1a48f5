#include "vyre/emit/known_inversions.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>

#include "vyre/lower/lane_value.hpp"

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

std::optional<std::uint32_t> number_of(const Kernel& kernel, ValueId value) {
  const Instruction& it = kernel.code[value.index];
  return it.op == Opcode::Constant ? std::optional(it.imm) : std::nullopt;
}

// The number that decides the result of an operator whatever the other operand is.
constexpr std::optional<std::uint32_t> absorbing_of(Opcode op) {
  switch (op) {
    case Opcode::And:
    case Opcode::Mul:
    case Opcode::MulHigh:
    case Opcode::Min:
      return 0;
    case Opcode::Or:
    case Opcode::Max:
      return ~0u;
    case Opcode::SMin:
      return 1u << 31;
    case Opcode::SMax:
      return ~0u >> 1;
    default:
      return std::nullopt;
  }
}

// The numbers that a compiler may find a value to be, by evaluating loops as well. A place may be what any of its values may be.
class Numbers {
 public:
  // Sorted. Empty for a value that is not found.
  using Set = std::vector<std::uint32_t>;

  Numbers(const Kernel& kernel, const Opcodes& opcodes) : kernel_(kernel), sets_(kernel.code.size()), places_(place_count(kernel)) {
    int passes = 0;
    for (bool grew = true; grew && passes < kMostPasses; ++passes) {
      grew = false;
      for (std::size_t at = 0; at < kernel_.code.size(); ++at) {
        const Instruction& it = kernel_.code[at];
        const auto place = place_of(kernel_, it);
        sets_[at] = place ? places_[*place] : found(it);
        const auto written = written_value(it);
        if (written && add(places_[*place], sets_[written->index])) grew = has(opcodes, Opcode::Loop);
      }
    }
    if (passes == kMostPasses) sets_.assign(sets_.size(), any());
  }

  bool is(ValueId value, std::uint32_t number) const { return sets_[value.index] == Set{number}; }
  bool may_be(ValueId value, std::uint32_t number) const {
    const Set& set = sets_[value.index];
    return set.size() > kMost || std::ranges::binary_search(set, number);
  }

 private:
  // How many numbers a set has; one with more holds all. A counter in a loop has more before the passes end.
  static constexpr std::size_t kMost = 8;
  static Set any() { return Set(kMost + 1); }

  static bool add(Set& to, const Set& more) {
    if (to.size() > kMost || std::ranges::includes(to, more)) return false;
    Set both;
    std::ranges::set_union(to, more, std::back_inserter(both));
    to = both.size() > kMost || more.size() > kMost ? any() : both;
    return true;
  }

  Set found(const Instruction& it) const {
    const auto is_zero = [](std::uint32_t number) { return number == 0; };
    const auto set = [&](ValueId value) -> const Set& { return value.valid() ? sets_[value.index] : kZero; };
    const Set &a = set(it.a), &b = set(it.b), &c = set(it.c);
    switch (it.op) {
      case Opcode::Constant:
        return {it.imm};
      case Opcode::LocalId:
        return kernel_.workgroup_size[it.imm] == 1 ? kZero : Set();
      case Opcode::Loop:
        return a.empty() || b.empty() ? Set() : any();
      case Opcode::Lane:
        return a;
      case Opcode::Pack: {
        Set lanes;
        for (const ValueId each : it.operands()) {
          if (each.valid()) add(lanes, sets_[each.index]);
        }
        return lanes;
      }
      case Opcode::Select: {
        Set both;
        const bool is_known = !a.empty();
        if (!is_known && (b.empty() || c.empty())) return {};
        if (!is_known || a.size() > kMost || !std::ranges::all_of(a, is_zero)) add(both, b);
        if (!is_known || a.size() > kMost || std::ranges::any_of(a, is_zero)) add(both, c);
        return both;
      }
      default:
        break;
    }
    if (!is_lanewise(it.op)) return {};
    if (a.empty() || b.empty() || c.empty()) return decided(it, a, b);
    if (std::max({a.size(), b.size(), c.size()}) > kMost) return any();
    Set all;
    for (const std::uint32_t x : a) {
      for (const std::uint32_t y : b) {
        for (const std::uint32_t z : c) add(all, {*lower::lane_value(it.op, x, y, z)});
      }
    }
    return all;
  }

  // Returns what an operator may give if one operand is unknown: the other may decide it, or one may be the inverse of the other.
  Set decided(const Instruction& it, const Set& a, const Set& b) const {
    const auto is_inverse = [&](ValueId value) { return value.valid() && kernel_.code[value.index].op == Opcode::Not; };
    const bool joins = it.op == Opcode::Or || it.op == Opcode::Xor || it.op == Opcode::Add;
    if (joins && (is_inverse(it.a) || is_inverse(it.b))) return {~0u};
    if (it.op == Opcode::Or && (ones(it.a) | ones(it.b)) == ~0u) return {~0u};
    const auto absorbing = absorbing_of(it.op);
    const auto absorbs = [&](const Set& set) { return set.size() > kMost || std::ranges::binary_search(set, *absorbing); };
    return absorbing && (absorbs(a) || absorbs(b)) ? Set{*absorbing} : Set();
  }

  // Returns the bits that literals set, in one Or or in two.
  std::uint32_t ones(ValueId value) const {
    const Instruction& it = kernel_.code[value.index];
    if (it.op != Opcode::Or) return number_of(kernel_, value).value_or(0);
    return number_of(kernel_, it.a).value_or(0) | number_of(kernel_, it.b).value_or(0);
  }

  static inline const Set kZero{0};
  const Kernel& kernel_;
  std::vector<Set> sets_, places_;
};

class Search {
 public:
  Search(const Kernel& kernel, const Opcodes& opcodes)
      : kernel_(kernel),
        decides_(kernel.code.size()),
        told_(kernel.code.size()),
        deciding_places_(place_count(kernel)),
        told_places_(deciding_places_.size()),
        has_loop_(has(opcodes, Opcode::Loop)) {}

  // Returns for each instruction the first operand that `inverts` gives and that branches may tell.
  std::vector<ValueId> run(const auto& inverts) {
    // In a loop, a place may be read in front of what writes it, so another pass may find more.
    int passes = 0;
    while (find_deciding() && has_loop_ && passes < kMostPasses) ++passes;
    while (find_told() && passes < kMostPasses) ++passes;
    const auto is_told = [&](ValueId each) { return each.valid() && (passes == kMostPasses || told_[each.index] == Told::FromBranch); };
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
  const Numbers& numbers() {
    if (!numbers_) numbers_.emplace(kernel_, opcodes_);
    return *numbers_;
  }
  bool may_be(ValueId value, std::uint32_t wanted) { return number(value) ? number(value) == wanted : numbers().may_be(value, wanted); }
  bool is(ValueId value, std::uint32_t wanted) { return number(value) ? number(value) == wanted : numbers().is(value, wanted); }
  std::optional<std::uint32_t> number(ValueId value) const { return number_of(kernel_, value); }

  const Kernel& kernel_;
  const Opcodes& opcodes_;
  std::vector<std::uint32_t> masks_, sums_;  // what literals invert of a value, or add to it, in a chain
  std::optional<Numbers> numbers_;           // found when they are asked for first
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
