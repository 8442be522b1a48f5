// Defines Range, the values that a value of one lane can have in any run: it lies between two numbers, and only certain bits may be set.
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

  bool is_single() const { return least == greatest; }
  bool contains(std::uint32_t value) const { return value >= least && value <= greatest && (value & ~ones) == 0; }
};

// Returns a range that holds all values of both ranges.
Range either(const Range& a, const Range& b);
// Returns the intersection of two ranges. It is empty only in code that never runs; the result is then `a`.
Range both(const Range& a, const Range& b);

// Whether a value of the range plus `by` may be 2^32 or more.
bool sum_wraps(const Range& range, std::uint32_t by);

// Returns the range of the result of a lanewise opcode or a Select. It is valid for operands for which the opcode is defined
// (lower/opcodes.def): a divisor is not zero, and the amount of a shift is below 32. Operands that the opcode lacks are ignored.
Range range_of(Opcode op, const Range& a, const Range& b = {}, const Range& c = {});

}  // namespace vyre::lower
