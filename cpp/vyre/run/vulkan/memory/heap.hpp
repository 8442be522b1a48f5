// Device memory for storages: blocks in classes of size, which come back here and are handed out again. An allocation costs a driver
// more than a small program takes, and drivers allow some thousand of them.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>

#include "vyre/run/vulkan/memory/buffer.hpp"

namespace vyre::run::vulkan {

struct Block {
  std::shared_ptr<Buffer> buffer;  // whole, or shared with other blocks
  VkDeviceSize offset = 0;         // a multiple of kAlignment
  VkDeviceSize bytes = 0;
  std::uint64_t id = 0;

  // Null where the host cannot reach it.
  std::byte* mapped() const { return buffer->mapped() == nullptr ? nullptr : buffer->mapped() + offset; }
};

class Heap {
 public:
  // Of every storage buffer's offset: the most that Vulkan lets a device ask for.
  static constexpr VkDeviceSize kAlignment = 256;

  explicit Heap(Device& device);

  // A list of one block of at least so many bytes. Throws DeviceMemoryError.
  std::list<Block> allocate(VkDeviceSize bytes);
  void give_back(std::list<Block> block) noexcept;
  // Frees what nobody uses; whether there was any.
  bool trim() noexcept;

 private:
  Device& device_;
  const VkDeviceSize most_kept_;
  std::mutex mutex_;
  VkDeviceSize kept_ = 0;  // bytes of the large blocks below
  std::map<VkDeviceSize, std::list<Block>> unused_;
};

}  // namespace vyre::run::vulkan
