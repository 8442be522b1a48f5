// Programs that fill arrays with zeros and that copy them, for elements of 1, 2, 4 and 16 bytes.
#pragma once

#include <cstdint>

#include "vyre/run/profile.hpp"

namespace vyre::run {

// Invocations of a workgroup, one for each element.
inline constexpr std::uint32_t kFillInvocations = 256;

// Returns the largest element size that divides both `offset` and `bytes`.
std::uint32_t fill_element(std::uint64_t offset, std::uint64_t bytes);
// Returns the program that fills an array with zeros. It binds this array.
const ProfiledProgram& zero_program(std::uint32_t element_bytes);
// Returns the program that copies an array. It binds the array to read, and then the array to write.
const ProfiledProgram& copy_program(std::uint32_t element_bytes);

}  // namespace vyre::run
