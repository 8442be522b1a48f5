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

// One access to memory, and whether its index is still checked: compared with the length, or bounded by the target.
struct AccessCheck {
  NodeId statement;  // the statement that makes the access
  BufferId buffer;
  bool kept = true;  // false: the index is proven to be in range
};
struct Explained {
  validate::ValidProgram program;     // the program after passes and inlining; `accesses` names statements and buffers of it
  std::vector<AccessCheck> accesses;  // in evaluation order; code after a Return or a Break has none
};
// Returns for every access of a program whether lower() keeps its check.
Explained explain_checks(const validate::ValidProgram& program, const Options& options = {}, const Target& target = kShaderTarget);

// Inlines, optimises and lowers. Throws LoweringError.
Kernel lower(const validate::ValidProgram& program, const Options& options = {}, const Target& target = kShaderTarget);

struct Traced {
  validate::ValidProgram program;  // the program after passes and inlining, as in Explained
  Kernel kernel;
  // By instruction of the kernel: the statement whose effect it is; invalid for values, and where the statement is not known.
  std::vector<NodeId> statements;
};
// Lowers as lower() does, and also returns which statement each effect comes from.
Traced lower_traced(const validate::ValidProgram& program, const Options& options = {}, const Target& target = kShaderTarget);

// Lowers the program to a Kernel whose workgroup g does the work of workgroups ways * g to ways * g + ways - 1 along x. Nothing when
// transform::coarsen refuses the program.
std::optional<Kernel> lower_coarsened(const validate::ValidProgram& program, std::uint32_t ways, const Options& options = {},
                                      const Target& target = kShaderTarget);

}  // namespace vyre::lower
