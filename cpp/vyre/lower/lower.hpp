// Lowers a valid program to a Kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "vyre/lower/kernel.hpp"
#include "vyre/lower/options.hpp"
#include "vyre/lower/target.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::lower {

// Prepares a program for lowering: inlines it, and optimises it where the options say so. Throws LoweringError.
validate::ValidProgram prepare(const validate::ValidProgram& program, const Options& options);

// Inlines, optimises and lowers. Throws LoweringError.
// An access to memory, and whether its index is compared with the length, or bounded by the target.
struct AccessCheck {
  NodeId statement;  // that makes the access
  BufferId buffer;
  bool kept = true;  // false: the index is proven to be in range
};
struct Explained {
  validate::ValidProgram program;     // what was lowered, after passes and inlining: the statements and buffers are of this program
  std::vector<AccessCheck> accesses;  // in evaluation order; code after a Return or a Break has none
};
// Says of every access of a program which check lower() keeps.
Explained explain_checks(const validate::ValidProgram& program, const Options& options = {}, const Target& target = kShaderTarget);

Kernel lower(const validate::ValidProgram& program, const Options& options = {}, const Target& target = kShaderTarget);

struct Traced {
  validate::ValidProgram program;  // what was lowered, as of Explained
  Kernel kernel;
  // By instruction of the kernel: the statement whose effect it is; invalid for values, and where it is not known.
  std::vector<NodeId> statements;
};
// lower() and where its instructions come from.
Traced lower_traced(const validate::ValidProgram& program, const Options& options = {}, const Target& target = kShaderTarget);

// Lowers the program to a Kernel whose workgroup g does the work of workgroups ways * g to ways * g + ways - 1 along x. Nothing when
// transform::coarsen refuses the program.
std::optional<Kernel> lower_coarsened(const validate::ValidProgram& program, std::uint32_t ways, const Options& options = {},
                                      const Target& target = kShaderTarget);

}  // namespace vyre::lower
