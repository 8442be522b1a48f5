// What the opcodes of one lane give, from lower/opcodes.def, to compare analyses with.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "vyre/base/assert.hpp"
#include "vyre/lower/opcode.hpp"

namespace vyre::test {

// Whether the opcode is defined for these operands.
inline bool is_defined(lower::Opcode op, std::uint32_t a, std::uint32_t b) {
  using lower::Opcode;
  switch (op) {
    case Opcode::Div:
    case Opcode::Mod:
      return b != 0;
    case Opcode::SDiv:
    case Opcode::SMod:
      return b != 0 && b != ~0u;
    case Opcode::Shl:
    case Opcode::Shr:
    case Opcode::SShr:
      return b < 32;
    case Opcode::Clz:
    case Opcode::Ctz:
      return a != 0;
    default:
      return true;
  }
}

inline std::uint32_t lanewise(lower::Opcode op, std::uint32_t a, std::uint32_t b) {
  using lower::Opcode;
  const auto s = static_cast<std::int32_t>(a), t = static_cast<std::int32_t>(b);
  const auto u = [](std::int32_t value) { return static_cast<std::uint32_t>(value); };
  switch (op) {
    case Opcode::Add:
      return a + b;
    case Opcode::Sub:
      return a - b;
    case Opcode::Mul:
      return a * b;
    case Opcode::MulHigh:
      return static_cast<std::uint32_t>(std::uint64_t{a} * b >> 32);
    case Opcode::Div:
      return a / b;
    case Opcode::Mod:
      return a % b;
    case Opcode::SDiv:
      return u(s / t);
    case Opcode::SMod:
      return u(s % t);
    case Opcode::And:
      return a & b;
    case Opcode::Or:
      return a | b;
    case Opcode::Xor:
      return a ^ b;
    case Opcode::Not:
      return ~a;
    case Opcode::Neg:
      return 0 - a;
    case Opcode::Shl:
      return a << b;
    case Opcode::Shr:
      return a >> b;
    case Opcode::SShr:
      return u(s >> b);
    case Opcode::Min:
      return std::min(a, b);
    case Opcode::Max:
      return std::max(a, b);
    case Opcode::SMin:
      return u(std::min(s, t));
    case Opcode::SMax:
      return u(std::max(s, t));
    case Opcode::Eq:
      return a == b;
    case Opcode::Ne:
      return a != b;
    case Opcode::Lt:
      return a < b;
    case Opcode::Le:
      return a <= b;
    case Opcode::SLt:
      return s < t;
    case Opcode::SLe:
      return s <= t;
    case Opcode::Popcount:
      return static_cast<std::uint32_t>(std::popcount(a));
    case Opcode::Clz:
      return static_cast<std::uint32_t>(std::countl_zero(a));
    case Opcode::Ctz:
      return static_cast<std::uint32_t>(std::countr_zero(a));
    case Opcode::ReverseBits: {
      std::uint32_t result = 0;
      for (int bit = 0; bit < 32; ++bit) result = result << 1 | (a >> bit & 1);
      return result;
    }
    case Opcode::AddSat:
      return a > ~b ? ~0u : a + b;
    case Opcode::RotateLeft:
      return std::rotl(a, static_cast<int>(b % 32));
    case Opcode::RotateRight:
      return std::rotr(a, static_cast<int>(b % 32));
    default:
      VYRE_ASSERT(!"a lanewise opcode");
      return 0;
  }
}

}  // namespace vyre::test
