// Checks a call: the sizes of its arrays before it runs, and afterwards the status that the program reported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "vyre/run/backend.hpp"
#include "vyre/run/vulkan/api/context.hpp"
#include "vyre/run/vulkan/compile/shader.hpp"

namespace vyre::run::vulkan {

// `bytes[k]` is the size of the array in slot k. Throws CapabilityError for an array that is too large for the device, or too large to be
// bound to the shader.
void check_sizes(const Context& context, const Shader& shader, std::span<const std::uint64_t> bytes);
// Does the same for the arrays of a call, one for each buffer of the shader.
void check_host_call(const Context& context, const Shader& shader, std::span<const BufferView> buffers);
// `status` is the word that a program with Shader::has_status wrote. Throws CapabilityError if the driver ended one of its loops early.
void check_status(const Context& context, const std::byte* status);

inline bool is_empty(Grid grid) { return grid.x == 0 || grid.y == 0 || grid.z == 0; }

}  // namespace vyre::run::vulkan
