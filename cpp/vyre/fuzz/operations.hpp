// Provides operations that generated programs call in addition to the standard ones. Their bodies have loops, branches, assigned
// parameters, parameters that are ignored, names in sibling scopes, every value type, and chains of calls.
#pragma once

#include "vyre/ir/op_spec.hpp"

namespace vyre::fuzz {

// fuzz.*; register them before a program that calls them runs.
const std::vector<ir::OpTable::Spec>& operations();

// The standard operations and these.
const ir::OpTable& op_table();

}  // namespace vyre::fuzz
