// Divides by literals with products (Granlund and Montgomery, "Division by Invariant Integers using Multiplication", 1994).
//
// For n bits and 2^l < c < 2^(l + 1), the multiplier m = floor(2^(n + l) / c) has n bits, and x * m / 2^(n + l) is below x / c by less than
// x / 2^(n + l) < 1, so its floor is the quotient or one less. With the multiplier m + 1 and e = (m + 1) * c - 2^(n + l), the floor is the
// quotient for all x where e <= 2^l (theorem 4.2 there). An even c and x may be halved first until c is odd: then x is below 2^(n - 1), and
// e < 2^(l + 1) is enough.
#pragma once

#include <bit>
#include <cstdint>

namespace vyre::lower {

// The quotient of x is the high half of (x >> before) * multiplier, shifted right by `after`, or one more unless that is exact.
template <class Number>
struct Reciprocal {
  Number multiplier = 0;
  std::uint32_t before = 0, after = 0;
  bool is_exact = false;
};

// The divisor is no power of two.
template <class Number>
constexpr Reciprocal<Number> reciprocal(Number divisor) {
  __extension__ using Wide = unsigned __int128;
  constexpr std::uint32_t kBits = 8 * sizeof(Number);
  const auto halves = static_cast<std::uint32_t>(std::countr_zero(divisor));
  for (const std::uint32_t before : {0u, halves}) {
    const Number by = divisor >> before;
    const auto log = static_cast<std::uint32_t>(std::bit_width(by)) - 1;
    const Wide power = Wide{1} << (kBits + log);
    const auto multiplier = static_cast<Number>(power / by);
    const auto excess = static_cast<Number>(Wide{multiplier} * by + by - power);
    if (excess <= Number{1} << log || before > 0) return {static_cast<Number>(multiplier + 1), before, log, true};
    if (halves == 0) return {multiplier, 0, log, false};
  }
  return {};
}

}  // namespace vyre::lower
