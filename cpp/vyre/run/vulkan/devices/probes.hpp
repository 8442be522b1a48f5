// Finds out where a driver breaks the rules of Vulkan without reporting it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vyre/run/vulkan/device.hpp"

namespace vyre::run::vulkan {

struct Probes {
  // The number of loop rounds of an invocation after which the driver ends every loop of a shader with no error; none if it never does.
  std::optional<std::uint32_t> loop_budget;
};

// Runs the probes on a device, once in a process for each driver and device.
Probes probe(Device& device);

// What probe() found, as DeviceInfo shows it; empty before the device was probed.
std::vector<std::pair<std::string, std::string>> probes_seen(const PhysicalDevice& device);

}  // namespace vyre::run::vulkan
