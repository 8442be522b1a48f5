// Finds the atomics that could make the output depend on the order of invocations.
#pragma once

#include <vector>

#include "vyre/validate/validate.hpp"

namespace vyre::run::reference {

// Returns, in program order, the statements with an atomic whose result is used, or which may not commute with the atomics on its buffer.
std::vector<NodeId> ordered_atomics(const validate::ValidProgram& program);

}  // namespace vyre::run::reference
