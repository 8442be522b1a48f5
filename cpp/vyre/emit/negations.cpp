#include "vyre/emit/negations.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace vyre::emit {

using lower::Instruction;
using lower::Kernel;
using lower::Opcode;
using lower::ValueId;

namespace {

// The values that a sum is computed from.
class Terms {
 public:
  Terms(const Kernel& kernel, ValueId sum) : kernel_(kernel) {
    std::vector<ValueId> open{sum};
    for (std::size_t looked = 0; !open.empty() && looked < 2 * kMost; ++looked) {
      const ValueId value = open.back();
      const Instruction& it = kernel.code[value.index];
      open.pop_back();
      const bool is_minus = it.op == Opcode::Sub || it.op == Opcode::Neg || it.op == Opcode::Not;
      has_minus_ |= is_minus;
      if (is_minus || it.op == Opcode::Add || it.op == Opcode::Mul || it.op == Opcode::Shl) {
        open.push_back(it.a);
        if (it.b.valid()) open.push_back(it.b);
      } else {
        values_.push_back(value);
      }
    }
    if (!open.empty()) values_.resize(kMost);  // too many to tell
  }

  bool has_minus() const { return has_minus_; }
  bool may_share(const Terms& other) const {
    if (std::max(values_.size(), other.values_.size()) >= kMost) return true;
    return std::ranges::any_of(values_, [&](ValueId each) {
      const auto is_alike = [&](ValueId another) { return may_be_alike(kernel_, each, another); };
      return !number_of(kernel_, each) && std::ranges::any_of(other.values_, is_alike);
    });
  }

 private:
  static constexpr std::size_t kMost = 64;

  const Kernel& kernel_;
  std::vector<ValueId> values_;
  bool has_minus_ = false;
};

// Whether a compiler may find by its literals that a value has no bits, as in `(x & 1) >> 1`.
bool may_be_masked(const Kernel& kernel, const Instruction& it) {
  const auto joins_literal = [&](const Instruction& by) {
    return is_lanewise(by.op) && by.b.valid() && (number_of(kernel, by.a) || number_of(kernel, by.b));
  };
  return joins_literal(it) && joins_literal(kernel.code[(number_of(kernel, it.a) ? it.b : it.a).index]);
}

}  // namespace

bool may_cancel(const Kernel& kernel, const Instruction& it) {
  if (it.op != Opcode::Add && it.op != Opcode::Sub) return false;
  const Terms a(kernel, it.a), b(kernel, it.b);
  const bool has_minus = (it.op == Opcode::Sub && !number_of(kernel, it.b)) || a.has_minus() || b.has_minus();
  return has_minus && a.may_share(b);
}

bool may_negate(const Kernel& kernel, const Instruction& it, const FoundNumbers& numbers) {
  const auto by_negative = [&](ValueId value, ValueId by) {
    const NumberSet& set = numbers.of(by);
    const bool may_be = set.is_any() || std::ranges::any_of(set, [](std::uint32_t each) { return each >= 1u << 31; });
    return may_be && !number_of(kernel, value);
  };
  switch (it.op) {
    case Opcode::Neg:
    case Opcode::Not:
    case Opcode::SDiv:
      return true;
    case Opcode::Add:  // as `(y - x) + -y`
    case Opcode::Sub: {
      const bool is_minus = it.op == Opcode::Sub && !number_of(kernel, it.b);
      if (is_minus && (!numbers.of(it.a).is_unknown() || may_be_masked(kernel, kernel.code[it.a.index]))) return true;
      return may_cancel(kernel, it);
    }
    case Opcode::Mul:
      return by_negative(it.a, it.b) || by_negative(it.b, it.a);
    case Opcode::Xor:
      return numbers.of(it.a).may_be(~0u) || numbers.of(it.b).may_be(~0u);
    default:
      return false;
  }
}

}  // namespace vyre::emit
