#include "vyre/run/vulkan/memory/heap.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "vyre/run/storage.hpp"

namespace vyre::run::vulkan {
namespace {

// Up to here, blocks share buffers.
constexpr VkDeviceSize kMostShared = VkDeviceSize{1} << 20;
constexpr VkDeviceSize kLeastSlab = VkDeviceSize{64} << 10, kMostSlab = VkDeviceSize{4} << 20;
constexpr VkDeviceSize kLeastKept = VkDeviceSize{256} << 20;

// Powers of two, and above the shared ones eight steps between them: an eighth is wasted at most.
VkDeviceSize size_class(VkDeviceSize bytes) {
  const VkDeviceSize whole = std::bit_ceil(std::max(bytes, Heap::kAlignment));
  if (whole <= kMostShared) return whole;
  const VkDeviceSize step = whole / 16;
  return (bytes + step - 1) / step * step;
}

// An eighth of the memory that arrays lie in.
VkDeviceSize most_kept(const Device& device) {
  VkDeviceSize largest = 0;
  const VkPhysicalDeviceMemoryProperties& memory = device.physical().memory;
  for (std::uint32_t heap = 0; heap < memory.memoryHeapCount; ++heap) {
    if ((memory.memoryHeaps[heap].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0) largest = std::max(largest, memory.memoryHeaps[heap].size);
  }
  return std::max(kLeastKept, largest / 8);
}

}  // namespace

Heap::Heap(Device& device) : device_(device), most_kept_(most_kept(device)) {}

std::list<Block> Heap::allocate(VkDeviceSize bytes) {
  VkDeviceSize wanted = size_class(bytes);
  // What fits must not be too much because of its class. Nor need a device that gives more than it promises give an eighth more yet.
  if (wanted > device_.physical().max_memory_allocation) wanted = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  std::list<Block> block;
  {
    const std::lock_guard lock(mutex_);
    // The class has its list before a block of it can come back, which must not need memory.
    std::list<Block>& unused = unused_[wanted];
    if (!unused.empty()) {
      block.splice(block.begin(), unused, unused.begin());
      if (wanted > kMostShared) kept_ -= wanted;
      return block;
    }
  }
  // With nothing locked: a driver may take its time.
  const VkDeviceSize whole = wanted > kMostShared ? wanted : std::clamp(64 * wanted, kLeastSlab, kMostSlab);
  const auto buffer = std::make_shared<Buffer>(device_, whole, BufferUse::Device);
  for (VkDeviceSize offset = 0; offset < whole; offset += wanted) block.push_back({buffer, offset, wanted, new_memory_id()});
  std::list<Block> others;
  others.splice(others.begin(), block, std::next(block.begin()), block.end());
  const std::lock_guard lock(mutex_);
  std::list<Block>& unused = unused_[wanted];
  unused.splice(unused.end(), others);
  return block;
}

void Heap::give_back(std::list<Block> block) noexcept {
  const VkDeviceSize bytes = block.front().bytes;
  const std::lock_guard lock(mutex_);
  if (bytes > kMostShared) {
    // Freed when this returns.
    if (kept_ + bytes > most_kept_) return;
    kept_ += bytes;
  }
  // The last one used comes first: a loop then meets the blocks that it had, and the calls planned for them.
  std::list<Block>& unused = unused_.find(bytes)->second;
  unused.splice(unused.begin(), block);
}

bool Heap::trim() noexcept {
  std::list<Block> freed;  // destroyed after the lock is given up
  const std::lock_guard lock(mutex_);
  for (auto& [bytes, unused] : unused_) freed.splice(freed.end(), unused);
  kept_ = 0;
  return !freed.empty();
}

}  // namespace vyre::run::vulkan
