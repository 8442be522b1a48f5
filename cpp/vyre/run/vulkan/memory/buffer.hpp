// Owns a Vulkan buffer and its memory. Only Heap makes buffers; calls take blocks from the heap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "vyre/emit/interface.hpp"
#include "vyre/run/vulkan/api/context.hpp"

namespace vyre::run::vulkan {

enum class BufferUse {
  Device,  // arrays of programs: device memory, which is mapped if the device is unified (Context::unified)
  Host,    // host memory that the device copies from and to, and in which shaders report their status; has no address
};

class Buffer {
 public:
  // If the device has no memory left, `free_memory` is called. It returns whether it freed any memory; if so, the allocation is tried once
  // more. Throws DeviceMemoryError if there is still no room.
  Buffer(Context& context, VkDeviceSize bytes, BufferUse use, const std::function<bool()>& free_memory);
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { context_.count_destroyed_buffer(); }

  VkBuffer handle() const { return *buffer_; }
  // Null where the host cannot reach the memory.
  std::byte* mapped() const { return mapped_; }

 private:
  Context& context_;
  MemoryHandle memory_;  // outlives the buffer that lies in it
  BufferHandle buffer_;
  std::byte* mapped_ = nullptr;
};

// The bytes of device memory that an array of `host_bytes` takes: rounded up to whole words, because a Bytes array may end inside a word,
// and at least kMinBufferBytes, also for an empty array.
constexpr VkDeviceSize device_bytes(std::uint64_t host_bytes) { return std::max<VkDeviceSize>(kMinBufferBytes, (host_bytes + 3) / 4 * 4); }

// The address of a buffer of BufferUse::Device, on a device that has addresses.
std::uint64_t address_of(const Context& context, VkBuffer buffer);

}  // namespace vyre::run::vulkan
