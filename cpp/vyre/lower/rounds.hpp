// Computes an upper bound of the loop rounds that an invocation of a kernel takes. Some drivers end every loop without an error after a
// fixed number of rounds (run/vulkan/api/probes.hpp).
#pragma once

#include <cstdint>

#include "vyre/lower/kernel.hpp"

namespace vyre::lower {

// Returns a bound that holds for every invocation of every grid, whatever the arrays hold; it saturates. Experiments showed how llvmpipe
// counts rounds, and this function counts in the same way: each evaluation of a loop's condition is a round, so a loop takes one round more
// than it has turns. The rounds of both branches of an If are added. All invocations of a workgroup take as many rounds as the invocation
// that takes the most.
std::uint64_t most_rounds(const Kernel& kernel);

}  // namespace vyre::lower
