// Finds how the values of a kernel are represented in vectors: which conditions need no register of their own.
#pragma once

#include <vector>

#include "vyre/run/cpu/native/analysis.hpp"

namespace vyre::run::cpu::native {

// Returns a form for each instruction. `found` must have the uniformity and the selected instructions.
std::vector<Form> find_forms(const lower::Kernel& kernel, const Analysis& found);

}  // namespace vyre::run::cpu::native
