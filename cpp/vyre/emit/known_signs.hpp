// Finds arithmetic shifts that NVIDIA's compilers (ptxas 13.0, and driver 580 for Vulkan) get wrong. They know that the sign bit of
// `x = y | 0x80000000` is 1, but then assume that the sign bit of `x >> 1`, `x >> 2` and `x >> 3` is 0.
#pragma once

#include <vector>

#include "vyre/emit/places.hpp"
#include "vyre/lower/kernel.hpp"

namespace vyre::emit {

// Returns for each instruction whether it shifts a value with its sign, and a compiler may know the value's uppermost bit to be 1. The
// list is empty if there is no such instruction.
std::vector<bool> shifts_of_known_signs(const lower::Kernel& kernel, const Opcodes& opcodes);

}  // namespace vyre::emit
