// Looks into the operations that a program reaches.
#pragma once

#include "vyre/validate/op_bodies.hpp"
#include "vyre/validate/options.hpp"

namespace vyre::validate {

// Examines `body` and all that it reaches: gathers them, checks them, and makes those valid that keep every rule. Linear in their sizes,
// cycles included.
void examine(OpBody& body, OpBodies& bodies, const Options& options);

}  // namespace vyre::validate
