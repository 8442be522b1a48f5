// Finds the Ifs and Loops around each instruction, and the ones that some lanes leave before others.
#pragma once

#include <cstdint>

#include "vyre/lower/kernel.hpp"
#include "vyre/run/cpu/native/analysis.hpp"

namespace vyre::run::cpu::native {

// The deepest nesting of blocks that is translated. It is limited because some steps look at all blocks around a position.
inline constexpr std::uint32_t kDeepest = 64;  // the refusal names this number, too

// Fills in found.around, found.exits, found.returns and found.accesses_in_parted_loop. `found` must have the uniformity. Returns false if
// the nesting is too deep.
bool find_nesting(const lower::Kernel& kernel, Analysis& found);

}  // namespace vyre::run::cpu::native
