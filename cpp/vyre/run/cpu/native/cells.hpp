// Gives each word of a value and of a variable a cell.
#pragma once

#include <vector>

#include "vyre/lower/kernel.hpp"
#include "vyre/run/cpu/native/analysis.hpp"

namespace vyre::run::cpu::native {

// Fills in found.cells, whose live ranges are still empty, found.of_value, found.of_variable, found.first_lane and found.guards. `forms`
// has the form of each instruction's value. `found` must have everything else but what find_live_ranges() and find_streamed_buffers() give.
void make_cells(const lower::Kernel& kernel, const std::vector<Form>& forms, Analysis& found);

}  // namespace vyre::run::cpu::native
