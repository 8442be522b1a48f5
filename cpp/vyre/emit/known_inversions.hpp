// Finds inversions that NVIDIA's compilers (driver 580) get wrong. Where a branch tells the one for Vulkan that x is 0, it takes `~x` for 0
// as well, and `x ^ 0xFFFFFFFF`, `0xFFFFFFFF - x` and `-(x + 1)` too, also those that stand in front of the branch and are used behind it.
// ptxas does so with `x ^ y` where it finds that y is 0xFFFFFFFF.
#pragma once

#include <vector>

#include "vyre/emit/places.hpp"
#include "vyre/lower/kernel.hpp"

namespace vyre::emit {

// Returns for each instruction the operand that it inverts, if the conditions of branches may tell what that is; otherwise an invalid one.
// The list is empty if there is no such instruction.
std::vector<lower::ValueId> known_inversions(const lower::Kernel& kernel, const Opcodes& opcodes);

// Returns the same for exclusive ors alone, if a compiler may find the other operand to be 0xFFFFFFFF and that is no literal.
std::vector<lower::ValueId> known_exclusive_ors(const lower::Kernel& kernel, const Opcodes& opcodes);

}  // namespace vyre::emit
