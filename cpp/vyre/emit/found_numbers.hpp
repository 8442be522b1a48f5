// The numbers that a compiler may find a value to be, by evaluating loops and behind branches as well. A place may be what any of its
// values may be.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "vyre/emit/places.hpp"
#include "vyre/lower/kernel.hpp"

namespace vyre::emit {

// Returns the number of a literal.
std::optional<std::uint32_t> number_of(const lower::Kernel& kernel, lower::ValueId value);

// The numbers that a value may be. Nothing is known of it if the set is empty.
class NumberSet {
 public:
  NumberSet() = default;
  explicit NumberSet(std::uint32_t number) : count_(1) { numbers_[0] = number; }
  static NumberSet any() {
    NumberSet set;
    set.count_ = kAny;
    return set;
  }

  bool is_unknown() const { return count_ == 0; }
  bool is_any() const { return count_ == kAny; }
  bool is(std::uint32_t number) const { return count_ == 1 && numbers_[0] == number; }
  bool may_be(std::uint32_t number) const { return is_any() || std::ranges::find(*this, number) != end(); }
  const std::uint32_t* begin() const { return numbers_.data(); }
  const std::uint32_t* end() const { return begin() + (is_any() ? 0 : count_); }

  // Returns whether that made it grow.
  bool add(const NumberSet& more) {
    const std::uint8_t before = count_;
    if (more.is_any()) count_ = kAny;
    for (const std::uint32_t number : more) {
      if (!may_be(number)) count_ == numbers_.size() ? count_ = kAny : numbers_[count_++] = number;
    }
    return count_ != before;
  }

 private:
  static constexpr std::uint8_t kAny = 255;
  std::array<std::uint32_t, 8> numbers_{};  // a counter in a loop has more before the passes end
  std::uint8_t count_ = 0;
};

class FoundNumbers {
 public:
  FoundNumbers(const lower::Kernel& kernel, const Opcodes& opcodes);

  // Adds what a branch tells: behind it, a value is what the condition compares it with. That is not followed through places.
  void look_behind_branches();

  const NumberSet& of(lower::ValueId value) const { return sets_[value.index]; }

 private:
  void find_told();
  void tell(lower::ValueId value, std::uint32_t number);
  NumberSet found(const lower::Instruction& it) const;
  NumberSet decided(const lower::Instruction& it, const NumberSet& a, const NumberSet& b) const;
  std::uint32_t ones(lower::ValueId value) const;

  const lower::Kernel& kernel_;
  std::vector<NumberSet> sets_, places_;
  std::vector<std::pair<lower::ValueId, NumberSet>> told_;  // by branches
};

}  // namespace vyre::emit
