// Operations for generated programs to call, beside the standard ones: loops, branches, assigned parameters, parameters that are
// ignored, names in sibling scopes, every value type, and chains of calls.
#pragma once

#include "vyre/ir/op_spec.hpp"

namespace vyre::fuzz {

// fuzz.*; register them before a program that calls them runs.
const std::vector<ir::OpTable::Spec>& operations();

// The standard operations and these.
const ir::OpTable& op_table();

}  // namespace vyre::fuzz
