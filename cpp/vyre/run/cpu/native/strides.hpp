// Finds the values that rise evenly from lane to lane: with them as indices, a vector loads and stores memory without gathering.
#pragma once

#include "vyre/run/cpu/native/analysis.hpp"

namespace vyre::run::cpu::native {

// Fills in found.strides. `found` must have the uniformity, and say whether the kernel needs whole workgroups.
void find_strides(const lower::Kernel& kernel, Analysis& found);

}  // namespace vyre::run::cpu::native
