// A Vulkan buffer with memory of its own. Heap makes all of them: calls take blocks from it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "vyre/emit/interface.hpp"
#include "vyre/run/vulkan/api/context.hpp"

namespace vyre::run::vulkan {

enum class BufferUse {
  Device,  // arrays of programs: device memory, mapped where it is unified
  Host,    // host memory that the device copies from and to, and where shaders report their status; has no address
};

class Buffer {
 public:
  // `free_memory` is called when the device has no memory left. If it returns true it freed some, and the allocation is tried once more.
  // Throws DeviceMemoryError when there is no room.
  Buffer(Context& context, VkDeviceSize bytes, BufferUse use, const std::function<bool()>& free_memory);

  VkBuffer handle() const { return *buffer_; }
  // Null where the host cannot reach the memory.
  std::byte* mapped() const { return mapped_; }

 private:
  MemoryHandle memory_;  // outlives the buffer that lies in it
  BufferHandle buffer_;
  std::byte* mapped_ = nullptr;
};

// The bytes of device memory that an array of `host_bytes` takes: whole words, because a Bytes array may end inside one, and never none.
constexpr VkDeviceSize device_bytes(std::uint64_t host_bytes) { return std::max<VkDeviceSize>(kMinBufferBytes, (host_bytes + 3) / 4 * 4); }

// The address of a buffer of BufferUse::Device, on a device that has addresses.
std::uint64_t address_of(const Context& context, VkBuffer buffer);

}  // namespace vyre::run::vulkan
