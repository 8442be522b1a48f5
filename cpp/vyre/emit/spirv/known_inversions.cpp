#include "vyre/emit/spirv/known_inversions.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

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

constexpr Opcode kInverting[] = {Opcode::Not, Opcode::Neg, Opcode::AddSat, Opcode::Sub, Opcode::Xor};

std::optional<ValueId> inverted(const Kernel& kernel, const Instruction& it) {
  const auto is_constant = [&](ValueId value, std::uint32_t bits) {
    const Instruction& other = kernel.code[value.index];
    return other.op == Opcode::Constant && other.imm == bits;
  };
  switch (it.op) {
    case Opcode::Not:
    case Opcode::Neg:
    case Opcode::AddSat:
      return it.a;
    case Opcode::Sub:  // `0 - x`, because `0 - x - 1` is an inversion
      return is_constant(it.a, ~0u) || is_constant(it.a, 0) ? std::optional(it.b) : std::nullopt;
    case Opcode::Xor:
      if (is_constant(it.b, ~0u)) return it.a;
      return is_constant(it.a, ~0u) ? std::optional(it.b) : std::nullopt;
    default:
      return std::nullopt;
  }
}

class Search {
 public:
  Search(const Kernel& kernel, const Opcodes& opcodes)
      : kernel_(kernel),
        decides_(kernel.code.size()),
        told_(kernel.code.size()),
        deciding_places_(place_count(kernel)),
        told_places_(deciding_places_.size()),
        has_loop_(has(opcodes, Opcode::Loop)) {}

  std::vector<ValueId> run() {
    // In a loop, a place may be read in front of what writes it, so another pass may find more.
    int passes = 0;
    while (find_deciding() && has_loop_ && passes < kMostPasses) ++passes;
    while (find_told() && passes < kMostPasses) ++passes;
    std::vector<ValueId> found;
    for (std::size_t at = 0; at < kernel_.code.size(); ++at) {
      const auto operand = inverted(kernel_, kernel_.code[at]);
      if (!operand || (passes < kMostPasses && told_[operand->index] != Told::FromBranch)) continue;
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

}  // namespace

std::vector<ValueId> known_inversions(const Kernel& kernel, const Opcodes& opcodes) {
  const bool may_invert = std::ranges::any_of(kInverting, [&](Opcode op) { return has(opcodes, op); });
  if (!may_invert || !has(opcodes, Opcode::If)) return {};
  const auto inverts = [&](const Instruction& it) { return inverted(kernel, it).has_value(); };
  return std::ranges::any_of(kernel.code, inverts) ? Search(kernel, opcodes).run() : std::vector<ValueId>();
}

}  // namespace vyre::emit
