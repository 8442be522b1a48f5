// Finds conditions that NVIDIA's compiler (driver 580) must not learn from. Behind `if x { barrier; if x || y { return } }` it knows that x
// is 0, and then takes `~x` for 0 as well, and so it may in the Else of `if x`. It does the same with `x ^ 0xFFFFFFFF`, `0xFFFFFFFF - x`
// and `-(x + 1)`. Where the condition is not known to be one of x, it learns nothing about x.
#pragma once

#include <vector>

#include "vyre/lower/kernel.hpp"

namespace vyre::emit {

// Returns for each instruction whether it is an If around an inversion, or around a conditional Return or Break, and its condition and a
// value that is inverted depend on the same load, id or variable. The list is empty if there is none.
std::vector<bool> hidden_conditions(const lower::Kernel& kernel);

}  // namespace vyre::emit
