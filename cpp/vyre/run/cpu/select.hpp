// Instruction selection: which instructions of a kernel become instructions of the machine.
//
// The lowering leaves operators and accesses whole that the machine has instructions for (lower::kCpuTarget), so a kernel's instruction
// is at most one instruction for each lane of its value. One shape that programs write themselves becomes shorter: an If that does nothing
// but keep a store inside its buffer.
#pragma once

#include <cstdint>
#include <vector>

#include "vyre/lower/kernel.hpp"

namespace vyre::run::cpu {

enum class Selected : std::uint8_t {
  Nothing,  // its value is not used, or another instruction does its work
  Itself,
  BoundedStore,  // a store that also does the work of the If around it
};

// By instruction of the kernel.
std::vector<Selected> select_instructions(const lower::Kernel& kernel);

// Visits the positions of the values that a selected instruction reads.
template <class Visit>
void for_each_operand(const lower::Instruction& instruction, Selected selected, const Visit& visit) {
  if (selected == Selected::Nothing) return;
  for (const lower::ValueId operand : {instruction.a, instruction.b, instruction.c, instruction.d}) {
    if (operand.valid()) visit(operand.index);
  }
}

}  // namespace vyre::run::cpu
