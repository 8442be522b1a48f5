#include "vyre/emit/found_numbers.hpp"

#include <algorithm>

#include "vyre/lower/lane_value.hpp"

namespace vyre::emit {

using lower::Instruction;
using lower::Kernel;
using lower::Opcode;
using lower::ValueId;

namespace {

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

const NumberSet kZero(0);
constexpr std::size_t kMostTold = 64;  // values that branches compare

NumberSet chosen(const NumberSet& condition, const NumberSet& b, const NumberSet& c) {
  if (condition.is_unknown() && (b.is_unknown() || c.is_unknown())) return {};
  NumberSet both = b;
  if (condition.is_unknown() || condition.may_be(0)) both.add(c);
  return both;
}

// Returns the numbers that a comparison with a literal tells: that literal, if it is for equality, or the least or greatest number.
NumberSet told_by(Opcode op, std::optional<std::uint32_t> a, std::optional<std::uint32_t> b) {
  const auto compares = [&](std::uint32_t other) { return *lower::lane_value(op, a.value_or(other), b.value_or(other), 0); };
  NumberSet told;
  for (const std::uint32_t each : {a ? *a : *b, 0u, ~0u, 1u << 31, ~0u >> 1}) {
    if (compares(each) != compares(each - 1) && compares(each) != compares(each + 1)) told.add(NumberSet(each));
  }
  return told;
}

}  // namespace

std::optional<std::uint32_t> number_of(const Kernel& kernel, ValueId value) {
  const Instruction& it = kernel.code[value.index];
  return it.op == Opcode::Constant ? std::optional(it.imm) : std::nullopt;
}

FoundNumbers::FoundNumbers(const Kernel& kernel, const Opcodes& opcodes)
    : kernel_(kernel), sets_(kernel.code.size()), places_(place_count(kernel)) {
  const std::size_t privates = kernel.buffers.size() + kernel.shared.size();
  std::fill_n(places_.begin() + static_cast<std::ptrdiff_t>(privates), kernel.privates.size(), kZero);  // what their elements begin as
  find_places(places_, NumberSet::any(), opcodes, [&] {
    bool grew = false;
    for (std::size_t at = 0; at < kernel_.code.size(); ++at) {
      const Instruction& it = kernel_.code[at];
      const auto place = place_of(kernel_, it);
      sets_[at] = place ? places_[*place] : found(it);
      if (const auto written = written_value(it)) grew |= places_[*place].add(sets_[written->index]);
    }
    return grew;
  });
}

void FoundNumbers::look_behind_branches() {
  find_told();
  if (told_.empty()) return;
  for (std::uint32_t at = 0; at < kernel_.code.size(); ++at) {
    if (!place_of(kernel_, kernel_.code[at])) sets_[at].add(found(kernel_.code[at]));
    for (const auto& [value, numbers] : told_) {
      if (may_be_alike(kernel_, value, ValueId{at})) sets_[at].add(numbers);
    }
  }
}

void FoundNumbers::find_told() {
  for (const Instruction& branch : kernel_.code) {
    if (branch.op != Opcode::If) continue;
    for (const ValueId value : parts_of(kernel_, branch.a)) {
      const Instruction& it = kernel_.code[value.index];
      if (!is_comparison(it.op)) {
        tell(value, 0);
      } else if (const auto a = number_of(kernel_, it.a), b = number_of(kernel_, it.b); a.has_value() != b.has_value()) {
        for (const std::uint32_t each : told_by(it.op, a, b)) tell(a ? it.b : it.a, each);
      }
    }
  }
}

void FoundNumbers::tell(ValueId value, std::uint32_t number) {
  const auto known = std::ranges::find_if(told_, [&](const auto& each) { return may_be_alike(kernel_, each.first, value); });
  if (known != told_.end()) {
    known->second.add(NumberSet(number));
  } else if (told_.size() < kMostTold) {
    told_.emplace_back(value, NumberSet(number));
  }
}

NumberSet FoundNumbers::found(const Instruction& it) const {
  const auto set = [&](ValueId value) -> const NumberSet& { return value.valid() ? sets_[value.index] : kZero; };
  const NumberSet &a = set(it.a), &b = set(it.b), &c = set(it.c);
  switch (it.op) {
    case Opcode::Constant:
      return NumberSet(it.imm);
    case Opcode::LocalId:
      return kernel_.workgroup_size[it.imm] == 1 ? kZero : NumberSet();
    case Opcode::Loop:
      return a.is_unknown() || b.is_unknown() ? NumberSet() : NumberSet::any();
    case Opcode::Lane:
      return a;
    case Opcode::Pack: {
      NumberSet lanes;
      for (const ValueId each : it.operands()) {
        if (each.valid()) lanes.add(sets_[each.index]);
      }
      return lanes;
    }
    case Opcode::Select:
      return chosen(a, b, c);
    default:
      break;
  }
  if (!is_lanewise(it.op)) return {};
  if (a.is_unknown() || b.is_unknown() || c.is_unknown()) return decided(it, a, b);
  if (a.is_any() || b.is_any() || c.is_any()) return NumberSet::any();
  NumberSet all;
  for (const std::uint32_t x : a) {
    for (const std::uint32_t y : b) {
      for (const std::uint32_t z : c) all.add(NumberSet(*lower::lane_value(it.op, x, y, z)));
    }
  }
  return all;
}

// Returns what an operator may give if one operand is unknown: the other may decide it, or one may be the inverse of the other.
NumberSet FoundNumbers::decided(const Instruction& it, const NumberSet& a, const NumberSet& b) const {
  const auto is_inverse = [&](ValueId value) { return value.valid() && kernel_.code[value.index].op == Opcode::Not; };
  const bool joins = it.op == Opcode::Or || it.op == Opcode::Xor || it.op == Opcode::Add;
  if (joins && (is_inverse(it.a) || is_inverse(it.b))) return NumberSet(~0u);
  if (it.op == Opcode::Or && (ones(it.a) | ones(it.b)) == ~0u) return NumberSet(~0u);
  if ((it.op == Opcode::Sub || it.op == Opcode::Xor) && it.a == it.b) return kZero;
  if ((it.op == Opcode::Mod || it.op == Opcode::SMod) && b.may_be(1)) return kZero;
  const auto absorbing = absorbing_of(it.op);
  return absorbing && (a.may_be(*absorbing) || b.may_be(*absorbing)) ? NumberSet(*absorbing) : NumberSet();
}

// Returns the bits that literals set, in one Or or in two.
std::uint32_t FoundNumbers::ones(ValueId value) const {
  const Instruction& it = kernel_.code[value.index];
  if (it.op != Opcode::Or) return number_of(kernel_, value).value_or(0);
  return number_of(kernel_, it.a).value_or(0) | number_of(kernel_, it.b).value_or(0);
}

}  // namespace vyre::emit
