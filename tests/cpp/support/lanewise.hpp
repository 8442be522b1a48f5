// What the opcodes of one lane give, to compare analyses with.
#pragma once

#include <cstdint>

#include "vyre/run/cpu/lanes.hpp"

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

// As the cpu backend computes it.
inline std::uint32_t lanewise(lower::Opcode op, std::uint32_t a, std::uint32_t b) {
  static const run::cpu::Lanes& lanes = *run::cpu::available_lanes().front();
  return lanes.one[static_cast<std::size_t>(op)](a, b, 0);
}

}  // namespace vyre::test
