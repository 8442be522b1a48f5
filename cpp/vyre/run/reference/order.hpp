// Finds the atomics that could make the output depend on the order of invocations.
#pragma once

#include <vector>

#include "vyre/validate/validate.hpp"

namespace vyre::run::reference {

// The statements of atomics whose result something uses, or that need not commute with others on their buffer; in program order.
std::vector<NodeId> ordered_atomics(const validate::ValidProgram& program);

}  // namespace vyre::run::reference
