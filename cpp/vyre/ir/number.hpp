// Numbers before they have a type, as Python and the text form write them, and the numbers that types hold.
#pragma once

#include <cstdint>
#include <string>

#include "vyre/ir/expr.hpp"

namespace vyre::ir {

// An integer of 64 bits and a sign.
struct Number {
  std::uint64_t magnitude = 0;
  bool negative = false;

  // Reads 64-bit two's complement; a number that is not negative has all 64 bits.
  static constexpr Number of(std::uint64_t bits, bool negative) { return {negative ? 0 - bits : bits, negative}; }
  // The value of a literal that is no truth.
  static Number of(const Literal& literal);

  // The reverse of of(bits, negative).
  constexpr std::uint64_t bits() const { return negative ? 0 - magnitude : magnitude; }
  // Whether it is a value of a type, or of a vector's components.
  bool fits(DataType type) const;
  // A literal of a type of integers; one that does not fit loses its high bits.
  Literal literal(DataType type) const;
  std::string text() const;
};

// The value of a literal as the text form writes it, without the suffix of its type: "7", "-7", "true".
std::string digits(const Literal& literal);

// The least and the greatest number of a type of integers, or of a vector's components.
struct NumberRange {
  Number least, greatest;
};
NumberRange range(DataType type);
std::string range_text(DataType type);  // "-128 to 127"

}  // namespace vyre::ir
