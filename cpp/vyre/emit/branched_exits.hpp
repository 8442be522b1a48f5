// Finds loops that NVIDIA's compiler for Vulkan (driver 580) gets wrong where it repeats their body. Where a Break or Return leaves a loop
// behind an If or Loop on the same way out, some invocations that left the inner statement early come to what follows the exit:
// `for a: if u { for b: { if v { break }; ... }; break }; x = 1` sets x though u is true. Unrolled no further, such loops are right.
#pragma once

#include <vector>

#include "vyre/emit/places.hpp"
#include "vyre/lower/kernel.hpp"

namespace vyre::emit {

// Returns for each instruction whether it is such a loop. The list is empty if there is none.
std::vector<bool> loops_with_branched_exits(const lower::Kernel& kernel, const Opcodes& opcodes);

}  // namespace vyre::emit
