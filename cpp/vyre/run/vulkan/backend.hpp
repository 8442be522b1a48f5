// Programs on Vulkan devices. Free of Vulkan's headers: a build without SPIR-V has the same entry (run/vulkan_absent).
#pragma once

#include <memory>

#include "vyre/run/backend.hpp"

namespace vyre::run {

// Looks for Vulkan when it is first asked for something, never before. Keep the backend until the process ends: its devices
// need not be closed before, and a driver may take its time to close one.
std::unique_ptr<Backend> make_vulkan_backend();

}  // namespace vyre::run
