// Finds inversions that NVIDIA's compilers (driver 580) get wrong. Where a branch tells the one for Vulkan that x is 0, it takes `~x` for 0
// as well, and `x ^ 0xFFFFFFFF`, `0xFFFFFFFF - x` and `-(x + 1)` too, also those that stand in front of the branch and are used behind it.
// ptxas does so with `x ^ y` where it finds that y is 0xFFFFFFFF, also where x is what a loop without unknowns ends with.
#pragma once

#include <vector>

#include "vyre/emit/places.hpp"
#include "vyre/lower/kernel.hpp"

namespace vyre::emit {

// Returns for each instruction the operand that it inverts, if the conditions of branches may tell what that is; otherwise an invalid one.
// The list is empty if there is no such instruction.
std::vector<lower::ValueId> known_inversions(const lower::Kernel& kernel, const Opcodes& opcodes);

// The same for exclusive ors with what may turn out to be ones, but is no literal, where constants alone may tell the operand as well.
std::vector<lower::ValueId> known_exclusive_ors(const lower::Kernel& kernel, const Opcodes& opcodes);

}  // namespace vyre::emit
