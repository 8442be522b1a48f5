// A Vulkan buffer with memory of its own.
#pragma once

#include <cstddef>

#include "vyre/run/vulkan/device.hpp"

namespace vyre::run::vulkan {

enum class BufferUse {
  Device,   // where programs work: device memory, mapped where it is unified
  Staging,  // host memory that the device copies from and to
  Status,   // host memory that programs write; has no address
};

class Buffer {
 public:
  Buffer() = default;
  // Throws DeviceMemoryError when there is no room.
  Buffer(Device& device, VkDeviceSize bytes, BufferUse use);

  VkBuffer handle() const { return *buffer_; }
  VkDeviceSize bytes() const { return bytes_; }
  // Null where the host cannot reach the memory.
  std::byte* mapped() const { return mapped_; }

 private:
  MemoryHandle memory_;  // freed after the buffer that lies in it
  BufferHandle buffer_;
  VkDeviceSize bytes_ = 0;
  std::byte* mapped_ = nullptr;
};

// Where a shader finds a buffer of BufferUse::Device, on a device that has addresses.
std::uint64_t address_of(const Device& device, VkBuffer buffer);

}  // namespace vyre::run::vulkan
