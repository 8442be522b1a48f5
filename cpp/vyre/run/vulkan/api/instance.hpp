// Holds the Vulkan instance of this process: its devices, their properties, and the reasons why a device cannot be used.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vyre/base/error.hpp"
#include "vyre/run/backend.hpp"
#include "vyre/run/vulkan/api/loader.hpp"

namespace vyre::run::vulkan {

// The machine has no Vulkan: no loader, too old a loader, or no driver. If Vulkan exists but a call fails, another DeviceError is thrown.
class NoVulkanError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

inline constexpr const char* kNoDriver =
    "no Vulkan driver was found. Fix: install the driver of the GPU, or a software one, on Debian with `apt-get install "
    "mesa-vulkan-drivers`.";

// The properties of a device, known before it is opened.
struct PhysicalDevice {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  DeviceInfo info;
  VkPhysicalDeviceType type = VK_PHYSICAL_DEVICE_TYPE_OTHER;
  VkDriverId driver = {};
  VkPhysicalDeviceLimits limits = {};
  std::uint64_t max_memory_allocation = 0;
  std::uint64_t max_buffer = 0;  // 0: the driver reports none
  VkPhysicalDeviceMemoryProperties memory = {};
  std::uint32_t queue_family = 0;
  bool robust_buffer_access = false;
  bool robust_buffer_access2 = false;
  // Whether the storage buffers of a descriptor set may be updated after commands were recorded with it, and whether robust access holds
  // for these too.
  bool update_after_bind = false;
  bool robust_update_after_bind = false;
  bool buffer_addresses = false;
  // Whether storage buffers may have elements of 8 and of 16 bits.
  bool storage_8_bits = false, storage_16_bits = false;
  bool integers_64_bits = false;
  std::uint32_t timestamp_bits = 0;    // valid bits of the queue's timestamps; 0: it has none
  bool calibrated_timestamps = false;  // VK_EXT_calibrated_timestamps
  bool pipeline_statistics = false;    // VK_KHR_pipeline_executable_properties
  // Identifies driver, device and driver version, in hexadecimal. A compiled pipeline depends on these and on its SPIR-V words.
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
  // All devices, in the loader's order.
  const std::vector<PhysicalDevice>& devices() const { return devices_; }

 private:
  void enumerate();

  InstanceApi api_;
  pid_t process_;
  std::vector<PhysicalDevice> devices_;
};

}  // namespace vyre::run::vulkan
