// Probes a driver for violations of Vulkan's rules that it does not report.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "vyre/run/vulkan/api/context.hpp"
#include "vyre/run/vulkan/device.hpp"

namespace vyre::run::vulkan {

// Returns the results of the probes on a device. The probes run once in a process for each driver and device.
Probes probe(Device& device);

// Returns what probe() found, as DeviceInfo shows it. The list is empty before the device was probed.
std::vector<std::pair<std::string, std::string>> probes_seen(const PhysicalDevice& device);

}  // namespace vyre::run::vulkan
