#include "vyre/run/vulkan/api/handle.hpp"

#include <fmt/format.h>

#include <string>

#include "vyre/base/error.hpp"
#include "vyre/base/refused.hpp"
#include "vyre/run/gpu/driver_errors.hpp"

namespace vyre::run::vulkan {
namespace {

std::string text(VkResult result) {
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
      return "VK_ERROR_OUT_OF_HOST_MEMORY";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
      return "VK_ERROR_OUT_OF_DEVICE_MEMORY";
    case VK_ERROR_INITIALIZATION_FAILED:
      return "VK_ERROR_INITIALIZATION_FAILED";
    case VK_ERROR_DEVICE_LOST:
      return "VK_ERROR_DEVICE_LOST";
    case VK_ERROR_MEMORY_MAP_FAILED:
      return "VK_ERROR_MEMORY_MAP_FAILED";
    case VK_ERROR_LAYER_NOT_PRESENT:
      return "VK_ERROR_LAYER_NOT_PRESENT";
    case VK_ERROR_EXTENSION_NOT_PRESENT:
      return "VK_ERROR_EXTENSION_NOT_PRESENT";
    case VK_ERROR_FEATURE_NOT_PRESENT:
      return "VK_ERROR_FEATURE_NOT_PRESENT";
    case VK_ERROR_INCOMPATIBLE_DRIVER:
      return "VK_ERROR_INCOMPATIBLE_DRIVER";
    case VK_ERROR_TOO_MANY_OBJECTS:
      return "VK_ERROR_TOO_MANY_OBJECTS";
    default:
      return fmt::format("VkResult {}", static_cast<int>(result));
  }
}

}  // namespace

void fail(VkResult result, const char* call, std::string_view device) {
  const auto failure = [&] {
    switch (result) {
      case VK_ERROR_OUT_OF_HOST_MEMORY:
        return DriverFailure::HostMemory;
      case VK_ERROR_OUT_OF_DEVICE_MEMORY:
        return DriverFailure::DeviceMemory;
      case VK_ERROR_DEVICE_LOST:
        return DriverFailure::DeviceLost;
      default:
        return DriverFailure::Other;
    }
  };
  throw_driver_error(failure(), call, device, text(result));
}

void check_process(pid_t opened_by) {
  if (opened_by == getpid()) return;
  throw forked("Vulkan was opened");
}

}  // namespace vyre::run::vulkan
