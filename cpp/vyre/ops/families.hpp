// One function a family of the standard library.
#pragma once

#include <vector>

#include "vyre/ir/op_spec.hpp"

namespace vyre::ops {

std::vector<ir::OpTable::Spec> bitwise_ops();       // primitive.bitwise.*: operators and permutations
std::vector<ir::OpTable::Spec> bit_field_ops();     // fields of bits
std::vector<ir::OpTable::Spec> bit_position_ops();  // positions of bits, and the bytes of a word
std::vector<ir::OpTable::Spec> math_ops();          // primitive.math.*: arithmetic
std::vector<ir::OpTable::Spec> saturating_ops();
std::vector<ir::OpTable::Spec> average_ops();
std::vector<ir::OpTable::Spec> signed_ops();
std::vector<ir::OpTable::Spec> dot_ops();  // sums of products of bytes
std::vector<ir::OpTable::Spec> divisor_ops();
std::vector<ir::OpTable::Spec> compare_ops();    // primitive.compare.*
std::vector<ir::OpTable::Spec> logical_ops();    // primitive.logical.*
std::vector<ir::OpTable::Spec> u64_ops();        // primitive.u64.*: operators
std::vector<ir::OpTable::Spec> u64_range_ops();  // sums and averages that do not wrap, high products, limits
std::vector<ir::OpTable::Spec> u64_bit_ops();
std::vector<ir::OpTable::Spec> u64_divisor_ops();
std::vector<ir::OpTable::Spec> u64_signed_ops();  // division, shifts, comparisons
std::vector<ir::OpTable::Spec> u64_signed_range_ops();
std::vector<ir::OpTable::Spec> u64_signed_bit_ops();
std::vector<ir::OpTable::Spec> rng_ops();  // primitive.rng.*

}  // namespace vyre::ops
