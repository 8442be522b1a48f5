// Walks a program once: resolves names, computes types, and sorts what it finds by kind.
#pragma once

#include "vyre/validate/gathered.hpp"

namespace vyre::validate {

class OpBodies;

// `op` is the operation whose body `program` is, or null. Calls are resolved in `bodies`, but not looked into.
Gathered gather(const ir::Program& program, const ir::OpSpec* op, OpBodies& bodies, bool limits);

}  // namespace vyre::validate
