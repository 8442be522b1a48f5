// Holds what a driver was found to do (devices/probes.hpp), whatever it says of itself.
#pragma once

#include <cstdint>
#include <optional>

namespace vyre::run::vulkan {

struct Probes {
  // The number of loop rounds of an invocation after which the driver ends every loop of a shader with no error; none if it never does.
  std::optional<std::uint32_t> loop_budget;
  // Whether storage buffers may have elements of 8 and of 16 bits, and accesses to them are right.
  bool accesses_8_bits = false, accesses_16_bits = false;
};

}  // namespace vyre::run::vulkan
