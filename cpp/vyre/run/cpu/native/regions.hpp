// Cuts the code at its barriers.
#pragma once

#include "vyre/lower/kernel.hpp"
#include "vyre/run/cpu/native/analysis.hpp"

namespace vyre::run::cpu::native {

// Fills in found.regions and found.of_workgroup. `found` must have the uniformity and the nesting. Returns false if some lanes may not
// reach a barrier together with the others.
bool find_regions(const lower::Kernel& kernel, Analysis& found);

}  // namespace vyre::run::cpu::native
