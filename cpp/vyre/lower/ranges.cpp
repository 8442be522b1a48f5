// The rules whose results may wrap compute bounds in 64 bits, where nothing wraps, and then test whether the bounds fit into 32 bits.
#include "vyre/lower/ranges.hpp"

#include <algorithm>
#include <bit>

namespace vyre::lower {
namespace {

constexpr std::uint64_t kWraps = std::uint64_t{1} << 32;

// All bits up to the highest one of `value`.
std::uint32_t filled(std::uint32_t value) { return value == 0 ? 0 : ~0u >> std::countl_zero(value); }

// How many bits at the low end are zero in every value whose bits are among `ones`.
std::uint32_t low_zeros(std::uint32_t ones) { return static_cast<std::uint32_t>(std::countr_zero(ones)); }
std::uint32_t multiples(std::uint32_t zeros) { return zeros >= 32 ? 0 : ~0u << zeros; }  // the bits that multiples of 2^zeros may have

// Restricts a range to values that have no other bits than `bits`.
Range with_bits(const Range& range, std::uint32_t bits) { return both(range, Range::of_bits(bits)); }

// From `least` to `greatest`, both modulo 2^32. Nothing is known where some of the values wrap and others do not.
Range modulo(std::uint64_t least, std::uint64_t greatest) {
  if (least / kWraps != greatest / kWraps) return {};
  return Range::between(static_cast<std::uint32_t>(least), static_cast<std::uint32_t>(greatest));
}

Range sum(const Range& a, const Range& b) {
  return with_bits(modulo(std::uint64_t{a.least} + b.least, std::uint64_t{a.greatest} + b.greatest),
                   multiples(std::min(low_zeros(a.ones), low_zeros(b.ones))));
}

Range difference(const Range& a, const Range& b) {
  return with_bits(modulo(kWraps + a.least - b.greatest, kWraps + a.greatest - b.least),
                   multiples(std::min(low_zeros(a.ones), low_zeros(b.ones))));
}

Range product(const Range& a, const Range& b) {
  const std::uint64_t greatest = std::uint64_t{a.greatest} * b.greatest;
  const Range bounds = greatest < kWraps ? modulo(std::uint64_t{a.least} * b.least, greatest) : Range{};
  return with_bits(bounds, multiples(low_zeros(a.ones) + low_zeros(b.ones)));
}

Range high_product(const Range& a, const Range& b) {
  return Range::between(static_cast<std::uint32_t>(std::uint64_t{a.least} * b.least >> 32),
                        static_cast<std::uint32_t>(std::uint64_t{a.greatest} * b.greatest >> 32));
}

Range quotient(const Range& a, const Range& b) {
  return Range::between(a.least / std::max(b.greatest, 1u), a.greatest / std::max(b.least, 1u));
}

Range remainder(const Range& a, const Range& b) {
  if (a.greatest < b.least) return a;
  const Range below = Range::at_most(std::min(a.greatest, std::max(b.greatest, 1u) - 1));
  const bool power_of_two = b.least == b.greatest && std::has_single_bit(b.least);
  return power_of_two ? with_bits(below, a.ones & (b.least - 1)) : below;
}

Range range_of_or(const Range& a, const Range& b) {
  const std::uint64_t total = std::uint64_t{a.greatest} + b.greatest;
  const std::uint32_t bits = a.ones | b.ones;
  return with_bits(Range::between(std::max(a.least, b.least), static_cast<std::uint32_t>(std::min<std::uint64_t>(total, bits))), bits);
}

Range bitwise_xor(const Range& a, const Range& b) {
  if ((a.ones & b.ones) == 0) return range_of_or(a, b);
  Range result = range_of_or(a, b);
  result.least = 0;
  return result;
}

Range complement(const Range& a) { return Range::between(~a.greatest, ~a.least); }

Range shifted_left(const Range& a, const Range& b) {
  const std::uint32_t least = b.least & 31, greatest = std::min(b.greatest, 31u);
  const std::uint64_t top = std::uint64_t{a.greatest} << greatest;
  const Range bounds = top < kWraps ? modulo(std::uint64_t{a.least} << least, top) : Range{};
  if (b.least == b.greatest) return with_bits(bounds, a.ones << greatest);
  return with_bits(bounds, multiples(low_zeros(a.ones) + least));
}

Range shifted_right(const Range& a, const Range& b) {
  const std::uint32_t least = b.least & 31, greatest = std::min(b.greatest, 31u);
  const Range bounds = Range::between(a.least >> greatest, a.greatest >> least);
  return b.least == b.greatest ? with_bits(bounds, a.ones >> greatest) : bounds;
}

Range rotated(const Range& a, const Range& b, bool left) {
  if (b.least != b.greatest) return {};
  const int by = static_cast<int>(b.least & 31);
  return Range::of_bits(left ? std::rotl(a.ones, by) : std::rotr(a.ones, by));
}

bool is_positive(const Range& a) { return a.greatest < 0x80000000u; }

std::uint32_t saturated(std::uint64_t sum) { return static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, ~0u)); }

Range least_of(const Range& a, const Range& b) {
  return with_bits(Range::between(std::min(a.least, b.least), std::min(a.greatest, b.greatest)), a.ones | b.ones);
}
Range greatest_of(const Range& a, const Range& b) {
  return with_bits(Range::between(std::max(a.least, b.least), std::max(a.greatest, b.greatest)), a.ones | b.ones);
}

Range counted_low_zeros(const Range& a) {
  const std::uint32_t most = static_cast<std::uint32_t>(std::bit_width(std::max(a.greatest, 1u))) - 1;
  return Range::between(std::min(low_zeros(a.ones), most), most);
}

std::uint32_t reversed(std::uint32_t bits) {
  std::uint32_t result = 0;
  for (std::uint32_t bit = 0; bit < 32; ++bit) result |= (bits >> bit & 1) << (31 - bit);
  return result;
}

// 1 where the comparison is true of all values of both ranges, 0 where it is of none.
Range decided(bool always, bool never) { return always ? Range::only(1) : never ? Range::only(0) : Range::at_most(1); }

Range compared(Opcode op, const Range& a, const Range& b) {
  const bool apart = a.greatest < b.least || b.greatest < a.least;
  const bool alike = a.is_single() && b.is_single() && a.least == b.least;
  switch (op) {
    case Opcode::Eq:
      return decided(alike, apart);
    case Opcode::Ne:
      return decided(apart, alike);
    case Opcode::Lt:
      return decided(a.greatest < b.least, a.least >= b.greatest);
    case Opcode::Le:
      return decided(a.greatest <= b.least, a.least > b.greatest);
    default:  // signed
      if (!is_positive(a) || !is_positive(b)) return Range::at_most(1);
      return compared(op == Opcode::SLt ? Opcode::Lt : Opcode::Le, a, b);
  }
}

}  // namespace

Range Range::between(std::uint32_t least, std::uint32_t greatest) { return {least, greatest, filled(greatest)}; }

Range either(const Range& a, const Range& b) { return {std::min(a.least, b.least), std::max(a.greatest, b.greatest), a.ones | b.ones}; }

Range both(const Range& a, const Range& b) {
  const std::uint32_t least = std::max(a.least, b.least), ones = a.ones & b.ones;
  const std::uint32_t greatest = std::min({a.greatest, b.greatest, ones});
  if (least > greatest) return a;
  return {least, greatest, ones & filled(greatest)};
}

bool sum_wraps(const Range& range, std::uint32_t by) {
  // The low bits that are zero in every value take up a smaller number without a carry.
  const bool without_carry = (by & multiples(low_zeros(range.ones))) == 0;
  return !without_carry && std::uint64_t{range.greatest} + by >= kWraps;
}

Range range_of(Opcode op, const Range& a, const Range& b, const Range& c) {
  if (is_comparison(op)) return compared(op, a, b);
  switch (op) {
    case Opcode::Add:
      return sum(a, b);
    case Opcode::Sub:
      return difference(a, b);
    case Opcode::Mul:
      return product(a, b);
    case Opcode::MulHigh:
      return high_product(a, b);
    case Opcode::Div:
      return quotient(a, b);
    case Opcode::Mod:
      return remainder(a, b);
    case Opcode::And:
      return with_bits(Range::at_most(std::min(a.greatest, b.greatest)), a.ones & b.ones);
    case Opcode::Or:
      return range_of_or(a, b);
    case Opcode::Xor:
      return bitwise_xor(a, b);
    case Opcode::Not:
      return complement(a);
    case Opcode::Neg:
      return difference(Range::only(0), a);
    case Opcode::Shl:
      return shifted_left(a, b);
    case Opcode::Shr:
      return shifted_right(a, b);
    case Opcode::SShr:
      return is_positive(a) ? shifted_right(a, b) : Range{};
    case Opcode::RotateLeft:
    case Opcode::RotateRight:
      return rotated(a, b, op == Opcode::RotateLeft);
    case Opcode::Min:
      return least_of(a, b);
    case Opcode::Max:
      return greatest_of(a, b);
    case Opcode::SMin:
      return is_positive(a) && is_positive(b) ? least_of(a, b) : either(a, b);
    case Opcode::SMax:
      return is_positive(a) && is_positive(b) ? greatest_of(a, b) : either(a, b);
    case Opcode::AddSat:
      return Range::between(saturated(std::uint64_t{a.least} + b.least), saturated(std::uint64_t{a.greatest} + b.greatest));
    case Opcode::Popcount:
      return Range::between(a.least != 0, static_cast<std::uint32_t>(std::popcount(a.ones)));
    case Opcode::ReverseBits:
      return Range::of_bits(reversed(a.ones));
    case Opcode::Clz:
      return Range::between(static_cast<std::uint32_t>(std::countl_zero(std::max(a.greatest, 1u))),
                            static_cast<std::uint32_t>(std::countl_zero(std::max(a.least, 1u))));
    case Opcode::Ctz:
      return counted_low_zeros(a);
    case Opcode::Select:
      if (a.least > 0) return b;
      return a.greatest == 0 ? c : either(b, c);
    default:
      return {};
  }
}

}  // namespace vyre::lower
