// Instruction selection: which instructions of a kernel become instructions of the interpreter (machine.hpp).
//
// Almost every instruction of a kernel has a counterpart in the interpreter, because lowering expands the instructions that
// lower::kCpuTarget lacks. One pattern is combined: an If around a single store, whose condition is that the store's index is less than the
// length of its buffer, becomes one bounded store.
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

// Returns what becomes of each instruction of the kernel, by its position.
std::vector<Selected> select_instructions(const lower::Kernel& kernel);

// Visits the positions of the values that an instruction reads.
template <class Visit>
void for_each_operand(const lower::Instruction& instruction, const Visit& visit) {
  for (const lower::ValueId operand : instruction.operands()) {
    if (operand.valid()) visit(operand.index);
  }
}
// Does the same after selection. An instruction that no code is made for reads nothing.
template <class Visit>
void for_each_operand(const lower::Instruction& instruction, Selected selected, const Visit& visit) {
  if (selected != Selected::Nothing) for_each_operand(instruction, visit);
}

}  // namespace vyre::run::cpu
