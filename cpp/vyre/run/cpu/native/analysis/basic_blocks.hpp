// Numbers the basic blocks of a kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "vyre/lower/kernel.hpp"

namespace vyre::run::cpu::native {

// Returns the number of each instruction's basic block. A Barrier ends a block, too.
inline std::vector<std::uint32_t> basic_blocks(const lower::Kernel& kernel) {
  std::vector<std::uint32_t> blocks;
  blocks.reserve(kernel.code.size());
  std::uint32_t block = 0;
  for (const lower::Instruction& instruction : kernel.code) {
    blocks.push_back(block);
    if (lower::jumps(instruction.op) || instruction.op == lower::Opcode::Barrier) ++block;
  }
  return blocks;
}

}  // namespace vyre::run::cpu::native
