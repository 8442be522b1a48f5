// The standard library: an explicit list of families, and the process-wide registry that starts with it.
#pragma once

#include "vyre/ir/op_spec.hpp"

namespace vyre::ops {

// primitive.bitwise.*, primitive.math.*, primitive.compare.*, primitive.logical.*, primitive.u64.*
const ir::OpTable& standard_ops();

}  // namespace vyre::ops
