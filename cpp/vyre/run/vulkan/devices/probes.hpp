// What a driver really does, where drivers are known to break the rules without saying so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vyre/run/vulkan/device.hpp"

namespace vyre::run::vulkan {

struct Probes {
  // After so many loop rounds in all, the driver ends every loop of a shader with no error; none when it does no such thing.
  std::optional<std::uint32_t> loop_budget;
};

// Tries the device out, once a process for each driver and device.
Probes probe(Device& device);

// What probe() found, as DeviceInfo shows it; empty before it was called for this device.
std::vector<std::pair<std::string, std::string>> probes_seen(const PhysicalDevice& device);

}  // namespace vyre::run::vulkan
