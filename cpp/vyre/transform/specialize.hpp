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

// An element of a bound buffer that a program loads by a literal index.
struct UniformElement {
  std::size_t slot = 0;  // into ValidProgram::bound()
  std::uint32_t index = 0;
  ir::DataType type = ir::DataType::U32;
  bool operator==(const UniformElement&) const = default;
};

// The elements whose values are worth knowing: with literals alone they give a loop both its bounds, or a condition, or a divisor. In
// the order in which the program first loads them; none when there are more than a call should look at, and for programs so large that
// compiling them once more takes long. Of a program without Calls, optimised: indices must be literals already.
std::vector<UniformElement> deciding_elements(const validate::ValidProgram& program);

// The program with a literal, or a Pack of literals, in the place of every load of these elements. One value each; a Bool is 0 or 1.
validate::ValidProgram specialize(const validate::ValidProgram& program, std::span<const UniformElement> elements,
                                  std::span<const ir::Value> values);

}  // namespace vyre::transform
