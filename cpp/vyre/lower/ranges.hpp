// What is known of a value of one lane without running the program: between which numbers it lies, and which of its bits may be set.
#pragma once

#include <cstdint>

#include "vyre/lower/opcode.hpp"

namespace vyre::lower {

struct Range {
  std::uint32_t least = 0, greatest = ~0u;
  std::uint32_t ones = ~0u;  // the bits that may be set
  bool operator==(const Range&) const = default;

  static constexpr Range only(std::uint32_t value) { return {value, value, value}; }
  static Range at_most(std::uint32_t greatest) { return between(0, greatest); }
  static Range between(std::uint32_t least, std::uint32_t greatest);
  // Any value that has no other bits than these.
  static Range of_bits(std::uint32_t bits) { return {0, bits, bits}; }

  bool contains(std::uint32_t value) const { return value >= least && value <= greatest && (value & ~ones) == 0; }
  bool is_only(std::uint32_t value) const { return least == value && greatest == value; }
};

// The values that are in either range.
Range either(const Range& a, const Range& b);
// The values that are in both. There are none only in code that does not run; the result is then `a`.
Range both(const Range& a, const Range& b);

// The range of the value of a lanewise opcode, a Select included. It holds for the operands that the opcode is defined for
// (lower/opcodes.def): a divisor is not zero, an amount of a shift is below 32. Operands that the opcode lacks are ignored.
Range range_of(Opcode op, const Range& a, const Range& b = {}, const Range& c = {});

}  // namespace vyre::lower
