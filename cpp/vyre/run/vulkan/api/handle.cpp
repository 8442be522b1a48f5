#include "vyre/run/vulkan/api/handle.hpp"

#include <fmt/format.h>

#include <string>

#include "vyre/base/error.hpp"

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
  const std::string where = device.empty() ? std::string() : fmt::format(" on device `{}`", device);
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
      throw DeviceMemoryError(
          fmt::format("{} ran out of host memory{} ({}). Fix: free memory, or pass smaller arrays.", call, where, text(result)));
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
      throw DeviceMemoryError(
          fmt::format("{} ran out of device memory{} ({}). Fix: pass smaller arrays, or use another device.", call, where, text(result)));
    case VK_ERROR_DEVICE_LOST:
      throw DeviceLostError(
          fmt::format("{} failed: the device was lost{} ({}). Fix: call again, which opens the device anew; if it is lost "
                      "again, shorten the program's loops or update the driver.",
                      call, where, text(result)));
    default:
      throw DeviceError(
          fmt::format("{} failed{} ({}). Fix: check the Vulkan driver's installation, or use another device.", call, where, text(result)));
  }
}

void check_process(pid_t opened_by) {
  if (opened_by == getpid()) return;
  throw DeviceError(
      "Vulkan was opened before this process was forked, and drivers do not survive that. Fix: start worker processes with the "
      "`spawn` method, or make the first call that uses Vulkan after the fork.");
}

}  // namespace vyre::run::vulkan
