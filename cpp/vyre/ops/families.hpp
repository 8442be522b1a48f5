// One function a family of the standard library.
#pragma once

#include <vector>

#include "vyre/ir/op_spec.hpp"

namespace vyre::ops {

std::vector<ir::OpTable::Spec> bitwise_ops();    // primitive.bitwise.*: operators and permutations
std::vector<ir::OpTable::Spec> bit_field_ops();  // primitive.bitwise.*: fields, positions and bytes
std::vector<ir::OpTable::Spec> math_ops();       // primitive.math.*: arithmetic
std::vector<ir::OpTable::Spec> integer_ops();    // primitive.math.*: saturating, averages, products of bytes, divisors
std::vector<ir::OpTable::Spec> compare_ops();    // primitive.compare.*
std::vector<ir::OpTable::Spec> logical_ops();    // primitive.logical.*
std::vector<ir::OpTable::Spec> u64_ops();        // primitive.u64.*: operators
std::vector<ir::OpTable::Spec> u64_more_ops();   // primitive.u64.*: signed forms, and what 32 bits have beside the operators
std::vector<ir::OpTable::Spec> rng_ops();        // primitive.rng.*

}  // namespace vyre::ops
