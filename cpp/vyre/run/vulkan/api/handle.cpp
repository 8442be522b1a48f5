#include "vyre/run/vulkan/api/handle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "vyre/base/error.hpp"
#include "vyre/base/refused.hpp"
#include "vyre/run/gpu/driver_errors.hpp"

namespace vyre::run::vulkan {
namespace {

struct Named {
  VkResult result;
  std::string_view name;
};
// clang-format off
#define NAMED(result) Named{result, #result}
constexpr Named kResults[] = {
    NAMED(VK_ERROR_OUT_OF_HOST_MEMORY), NAMED(VK_ERROR_OUT_OF_DEVICE_MEMORY), NAMED(VK_ERROR_INITIALIZATION_FAILED),
    NAMED(VK_ERROR_DEVICE_LOST), NAMED(VK_ERROR_MEMORY_MAP_FAILED), NAMED(VK_ERROR_LAYER_NOT_PRESENT),
    NAMED(VK_ERROR_EXTENSION_NOT_PRESENT), NAMED(VK_ERROR_FEATURE_NOT_PRESENT), NAMED(VK_ERROR_INCOMPATIBLE_DRIVER),
    NAMED(VK_ERROR_TOO_MANY_OBJECTS),
};
#undef NAMED
// clang-format on

std::string text(VkResult result) {
  const auto* const known = std::ranges::find(kResults, result, &Named::result);
  return known != std::end(kResults) ? std::string(known->name) : fmt::format("VkResult {}", static_cast<int>(result));
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
