// Lowers a valid program to a Kernel.
#pragma once

#include <cstdint>
#include <optional>

#include "vyre/lower/kernel.hpp"
#include "vyre/lower/options.hpp"
#include "vyre/lower/target.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::lower {

// Prepares a program for lowering: inlines it, and optimises it where the options say so. Throws LoweringError.
validate::ValidProgram prepare(const validate::ValidProgram& program, const Options& options);

// Inlines, optimises and lowers. Throws LoweringError.
Kernel lower(const validate::ValidProgram& program, const Options& options = {}, const Target& target = kShaderTarget);

// Lowers the program to a Kernel whose workgroup g does the work of workgroups ways * g to ways * g + ways - 1 along x. Nothing when
// transform::coarsen refuses the program.
std::optional<Kernel> lower_coarsened(const validate::ValidProgram& program, std::uint32_t ways, const Options& options = {},
                                      const Target& target = kShaderTarget);

}  // namespace vyre::lower
