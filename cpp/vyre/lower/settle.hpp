// Puts each value where it is first needed: compilers of drivers take time that grows with how many values live at once, and programs say
// early what they use late.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vyre/lower/kernel.hpp"

namespace vyre::lower {

// No value moves into or out of a branch or a round, and no access to memory over one that something else may see. An operand that is no
// index into `code` is somebody else's, and stays.
std::vector<Instruction> settle(std::span<const Instruction> code);

}  // namespace vyre::lower
