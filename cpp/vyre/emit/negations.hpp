// Finds what a compiler may simplify to a negation.
#pragma once

#include "vyre/emit/found_numbers.hpp"
#include "vyre/lower/kernel.hpp"

namespace vyre::emit {

// Whether terms of a sum may cancel each other.
bool may_cancel(const lower::Kernel& kernel, const lower::Instruction& it);

// Whether an instruction may give minus a value, or what is that once a number is added.
bool may_negate(const lower::Kernel& kernel, const lower::Instruction& it, const FoundNumbers& numbers);

}  // namespace vyre::emit
