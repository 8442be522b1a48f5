// Programs that fill arrays with zeros and that copy them, for elements of 1, 2, 4 and 16 bytes.
#pragma once

#include <cstdint>

#include "vyre/run/profile.hpp"

namespace vyre::run {

// Invocations of a workgroup, one for each element.
inline constexpr std::uint32_t kFillInvocations = 256;

// The largest size of elements in which both numbers of bytes are whole.
std::uint32_t fill_element(std::uint64_t offset, std::uint64_t bytes);
// Binds the array.
const ProfiledProgram& zero_program(std::uint32_t element_bytes);
// Binds the array to read and then the one to write.
const ProfiledProgram& copy_program(std::uint32_t element_bytes);

}  // namespace vyre::run
