// Defines the base class of what reads a kernel instruction by instruction: the interpreter's compiler, and the steps of the analysis and
// the translation to machine code. A value is named by the position of the instruction that makes it, or by its ValueId.
#pragma once

#include <cstdint>
#include <vector>

#include "vyre/lower/kernel.hpp"
#include "vyre/run/cpu/uniformity.hpp"

namespace vyre::run::cpu {

class KernelReader {
 protected:
  // Both must outlive the reader. The uniformity is not read before a derived class asks what varies.
  KernelReader(const lower::Kernel& kernel, const Uniformity& uniformity)
      : kernel_(kernel), uniformity_(uniformity), size_(static_cast<std::uint32_t>(kernel.code.size())) {}

  const lower::Instruction& at(std::uint32_t position) const { return kernel_.code[position]; }
  const lower::Instruction& at(lower::ValueId value) const { return kernel_.code[value.index]; }
  bool is_constant(lower::ValueId value) const { return at(value).op == lower::Opcode::Constant; }
  bool varies(std::uint32_t value) const { return uniformity_.varying[value]; }
  bool varies(lower::ValueId value) const { return uniformity_.varies(value); }
  // Whether control flow may diverge in the If or Loop that begins at position `block`.
  bool parts(std::uint32_t block) const {
    return at(block).op == lower::Opcode::Loop ? uniformity_.parts_loop(block) : varies(at(block).a);
  }

  const lower::Kernel& kernel_;
  const Uniformity& uniformity_;
  const std::uint32_t size_;  // instructions
};

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

}  // namespace vyre::run::cpu
