// Computes how many loop rounds an invocation of a kernel takes at the most: some drivers end all loops after so many
// (run/vulkan/api/probes.hpp).
#pragma once

#include <cstdint>

#include "vyre/lower/kernel.hpp"

namespace vyre::lower {

// An upper bound for every invocation of every grid, whatever the arrays hold; saturates. Rounds are counted as llvmpipe counts them, which
// was found out by experiment: each evaluation of a loop's condition is a round, so a loop takes one round more than it has turns. The
// rounds of both branches of an If are added. All invocations of a workgroup take as many rounds as the one that takes the most.
std::uint64_t most_rounds(const Kernel& kernel);

}  // namespace vyre::lower
