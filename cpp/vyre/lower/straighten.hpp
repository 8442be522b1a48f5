// Takes short branches and variables out of code: compilers of drivers take long over many of either. An If that does nothing but write
// variables with a few operations becomes selects, and where a variable is read in the stretch of code that wrote it, its value stands.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vyre/lower/kernel.hpp"

namespace vyre::lower {

// `variables` are the lanes of each. An operand that is no index into `code` is somebody else's, and stays.
std::vector<Instruction> straighten(std::span<const Instruction> code, std::span<const std::uint8_t> variables);

}  // namespace vyre::lower
