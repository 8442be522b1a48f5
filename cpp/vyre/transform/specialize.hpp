// Specialises a program for calls in which some elements of its Uniform buffers have known values: literals replace the loads of these
// elements, and the passes and the device's compiler optimise with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vyre/ir/value.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::transform {

// An element of a Uniform buffer that a program loads by a literal index.
struct UniformElement {
  std::size_t slot = 0;  // into ValidProgram::bound()
  std::uint32_t index = 0;
  ir::DataType type = ir::kU32;
  bool operator==(const UniformElement&) const = default;
};

// Returns the elements whose values are worth knowing: those that, together with literals alone, determine both bounds of a loop, a
// condition or a divisor. They are in the order in which the program first loads them. The list is empty if a call would have to compare
// too many of them, or if the program is so large that compiling it once more takes long. The program must have no Calls and be optimised,
// because only a literal index is recognised.
std::vector<UniformElement> deciding_elements(const validate::ValidProgram& program);

// Returns the program with a literal, or a Pack of literals, in place of every load of these elements. `values` has one value for each
// element; the value of a Bool is 0 or 1.
validate::ValidProgram specialize(const validate::ValidProgram& program, std::span<const UniformElement> elements,
                                  std::span<const ir::Value> values);

}  // namespace vyre::transform
