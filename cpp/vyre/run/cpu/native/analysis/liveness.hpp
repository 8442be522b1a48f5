// Finds the live ranges of cells, and how often they are accessed.
#pragma once

#include <vector>

#include "vyre/lower/kernel.hpp"
#include "vyre/run/cpu/native/analysis/analysis.hpp"

namespace vyre::run::cpu::native {

// Fills in the live ranges and weights of found.cells, and found.divides. `forms` has the form of each instruction's value. `found` must
// have the cells and the regions.
void find_live_ranges(const lower::Kernel& kernel, const std::vector<Form>& forms, Analysis& found);

}  // namespace vyre::run::cpu::native
