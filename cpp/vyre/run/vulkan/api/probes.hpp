// Holds the results of the probes (devices/probes.hpp): how a driver was found to behave, which may differ from what it reports.
#pragma once

#include <cstdint>
#include <optional>

namespace vyre::run::vulkan {

struct Probes {
  // After an invocation has run this many loop rounds, the driver ends every loop of the shader without an error. Empty if it never does
  // that.
  std::optional<std::uint32_t> loop_budget;
  // Whether storage buffers may have elements of 8 and of 16 bits, and shaders access them correctly.
  bool accesses_8_bits = false, accesses_16_bits = false;
};

}  // namespace vyre::run::vulkan
