// Replaces short branches by selects and variables by values, because drivers' compilers are slow on code with many branches or many
// variables. An If that only writes a few variables with cheap operations becomes selects. A read of a variable becomes the value that the
// same stretch of straight code wrote to it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vyre/lower/kernel.hpp"

namespace vyre::lower {

// `variables` holds the number of lanes of each variable. Operands that are not indices into `code` refer to other values and are kept.
std::vector<Instruction> straighten(std::span<const Instruction> code, std::span<const std::uint8_t> variables);

}  // namespace vyre::lower
