// Moves each value to just before its first use. Drivers' compilers take time that grows with the number of live values, and programs
// often compute values long before they use them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vyre/lower/kernel.hpp"

namespace vyre::lower {

// Values do not move into or out of branches and loop bodies, and a load does not move past the next instruction with an effect. Operands
// that are not indices into `code` refer to other values and are kept.
std::vector<Instruction> settle(std::span<const Instruction> code);

}  // namespace vyre::lower
