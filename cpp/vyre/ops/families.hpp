// One function a family of the standard library.
#pragma once

#include <vector>

#include "vyre/ir/op_spec.hpp"

namespace vyre::ops {

std::vector<ir::OpTable::Spec> bitwise_ops();  // primitive.bitwise.*
std::vector<ir::OpTable::Spec> math_ops();     // primitive.math.*
std::vector<ir::OpTable::Spec> compare_ops();  // primitive.compare.*
std::vector<ir::OpTable::Spec> logical_ops();  // primitive.logical.*
std::vector<ir::OpTable::Spec> u64_ops();      // primitive.u64.*

}  // namespace vyre::ops
