// From a valid program to a Kernel.
#pragma once

#include "vyre/lower/kernel.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::lower {

struct Options {
  bool optimize = true;  // inlining always happens; a Kernel has no calls
};

// Inlines, optimises and lowers. Throws LoweringError.
Kernel lower(const validate::ValidProgram& program, const Options& options = {});

}  // namespace vyre::lower
