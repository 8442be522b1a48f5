// Finds negations whose minus NVIDIA's compilers lose (ptxas 13.0 from sm_90 on, and driver 580 for Vulkan): they make one instruction of
// two minima or maxima, an operand of which is a negation, be it that of a quotient.
#pragma once

#include <vector>

#include "vyre/lower/kernel.hpp"

namespace vyre::emit {

// Returns for each instruction whether it negates in a kernel with several minima or maxima. The list is empty if there is none.
std::vector<bool> joined_negations(const lower::Kernel& kernel);

}  // namespace vyre::emit
