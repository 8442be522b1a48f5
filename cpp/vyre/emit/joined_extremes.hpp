// Finds what NVIDIA's compilers (ptxas 13.0 from sm_90 on, and driver 580 for Vulkan) get wrong where a minimum or maximum is computed from
// another. They make one instruction of both, or of one and a sum, and lose the minus of an operand. They take selects and branches for
// minima too, and find negations in differences, products, quotients and inversions. ptxas also takes the unsigned maximum of 0 and a
// signed minimum of 0 for 0, and loses the minus of what is rotated or shifted in a sum.
#pragma once

#include <vector>

#include "vyre/emit/places.hpp"
#include "vyre/lower/kernel.hpp"

namespace vyre::emit {

// Returns for each instruction whether it may negate or end at 0, and a compiler must not see that. The list is empty if there is none.
std::vector<bool> joined_extremes(const lower::Kernel& kernel, const Opcodes& opcodes);

}  // namespace vyre::emit
