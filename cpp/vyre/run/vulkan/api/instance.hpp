// The Vulkan of this process: what devices there are, what each can do, and why one does not fit.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vyre/base/error.hpp"
#include "vyre/run/backend.hpp"
#include "vyre/run/vulkan/api/loader.hpp"

namespace vyre::run::vulkan {

// There is no Vulkan here at all, as opposed to one that failed: no loader, one that is too old, or no driver.
class NoVulkanError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

// What is known of a device before it is opened.
struct PhysicalDevice {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  DeviceInfo info;
  VkPhysicalDeviceType type = VK_PHYSICAL_DEVICE_TYPE_OTHER;
  VkDriverId driver = {};
  VkPhysicalDeviceLimits limits = {};
  std::uint64_t max_memory_allocation = 0;
  std::uint64_t max_buffer = 0;  // 0: the driver names none
  VkPhysicalDeviceMemoryProperties memory = {};
  std::uint32_t queue_family = 0;
  bool robust_buffer_access = false;
  bool robust_buffer_access2 = false;
  bool buffer_addresses = false;
  std::uint32_t timestamp_bits = 0;    // of the queue family's timestamps; 0: it has none
  bool calibrated_timestamps = false;  // VK_EXT_calibrated_timestamps
  // Of driver, device and driver version, in hexadecimal: what a compiled pipeline depends on beside its words.
  std::string key;
};

class Instance {
 public:
  // Throws NoVulkanError, or DeviceError and its kinds when a call fails.
  explicit Instance(const Loader& loader);
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  ~Instance();

  const InstanceApi& api() const { return api_; }
  // In the loader's order.
  const std::vector<PhysicalDevice>& devices() const { return devices_; }

 private:
  void enumerate();

  InstanceApi api_;
  pid_t process_;
  std::vector<PhysicalDevice> devices_;
};

}  // namespace vyre::run::vulkan
