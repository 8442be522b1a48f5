// Finds out where a driver breaks the rules of Vulkan without reporting it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vyre/run/vulkan/api/probes.hpp"
#include "vyre/run/vulkan/device.hpp"

namespace vyre::run::vulkan {

// Runs the probes on a device, once in a process for each driver and device.
Probes probe(Device& device);

// What probe() found, as DeviceInfo shows it; empty before the device was probed.
std::vector<std::pair<std::string, std::string>> probes_seen(const PhysicalDevice& device);

}  // namespace vyre::run::vulkan
