// How it works: the size of a block up to 1 MiB is a power of two, and blocks of the same size share a slab, which is one buffer of 64 KiB
// to 4 MiB. A larger block has a buffer of its own, and its size is rounded up by an eighth at most. A block that comes back goes to the
// front of its size's list, so that a loop of calls gets the same blocks each time, and with them the descriptor sets and plans that were
// made for these blocks.
#include "vyre/run/vulkan/memory/heap.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

#include "vyre/run/storage.hpp"

namespace vyre::run::vulkan {
namespace {

// Sizes, in bytes: the largest block in a slab, a slab, and the smallest limit on the unused memory that is kept.
constexpr VkDeviceSize kLargestShared = VkDeviceSize{1} << 20;
constexpr VkDeviceSize kSmallestSlab = VkDeviceSize{64} << 10, kLargestSlab = VkDeviceSize{4} << 20;
constexpr VkDeviceSize kKeptAtLeast = VkDeviceSize{256} << 20;

VkDeviceSize size_class(VkDeviceSize bytes) {
  const VkDeviceSize whole = std::bit_ceil(std::max(bytes, Heap::kAlignment));
  if (whole <= kLargestShared) return whole;
  const VkDeviceSize step = whole / 16;
  return (bytes + step - 1) / step * step;
}

// The limit on unused device memory that is kept: an eighth of the device's memory, or kKeptAtLeast if that is more.
VkDeviceSize kept_on(const Context& context) {
  VkDeviceSize largest = 0;
  const VkPhysicalDeviceMemoryProperties& memory = context.physical().memory;
  for (std::uint32_t heap = 0; heap < memory.memoryHeapCount; ++heap) {
    if ((memory.memoryHeaps[heap].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0) largest = std::max(largest, memory.memoryHeaps[heap].size);
  }
  return std::max(kKeptAtLeast, largest / 8);
}

}  // namespace

Block::~Block() {
  if (heap_ != nullptr) heap_->give_back(std::move(part_));
}

Heap::Heap(Context& context, Stream& stream) : context_(context), stream_(stream), most_kept_on_device_(kept_on(context)) {}

VkDeviceSize Heap::most_kept(BufferUse use) const { return use == BufferUse::Device ? most_kept_on_device_ : kKeptAtLeast; }

Block Heap::allocate(VkDeviceSize bytes, BufferUse use) {
  VkDeviceSize wanted = size_class(bytes);
  // Rounding up to a size class must not push a request over the allocation limit, so such a request gets its exact size.
  if (wanted > context_.physical().max_memory_allocation) wanted = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  {
    Parts part;
    const std::lock_guard lock(mutex_);
    // Makes the list of this size before a block of it can be given back, so that give_back() needs no memory.
    Parts& unused = this->unused(use).by_size[wanted];
    if (!unused.empty()) {
      part.splice(part.begin(), unused, unused.begin());
      if (wanted > kLargestShared) this->unused(use).kept -= wanted;
      return Block(*this, std::move(part));
    }
  }
  return make(wanted, use);
}

Block Heap::make(VkDeviceSize bytes, BufferUse use) {
  // The mutex is not held here: a driver may take long to allocate, and collect() destroys retired objects, whose blocks lock the mutex to
  // come back.
  const VkDeviceSize whole = bytes > kLargestShared ? bytes : std::clamp(64 * bytes, kSmallestSlab, kLargestSlab);
  const auto free_memory = [this] {
    stream_.collect();
    return trim();
  };
  const auto buffer = std::make_shared<Buffer>(context_, whole, use, free_memory);
  Parts parts;
  for (VkDeviceSize offset = 0; offset < whole; offset += bytes) parts.push_back({buffer, offset, bytes, new_memory_id(), use});
  Parts part;
  part.splice(part.begin(), parts, parts.begin());
  const std::lock_guard lock(mutex_);
  Parts& unused = this->unused(use).by_size[bytes];
  unused.splice(unused.end(), parts);
  return Block(*this, std::move(part));
}

void Heap::give_back(Parts part) noexcept {
  const VkDeviceSize bytes = part.front().bytes;
  const std::lock_guard lock(mutex_);
  Unused& unused = this->unused(part.front().use);
  if (bytes > kLargestShared) {
    // Beyond the limit, the memory is freed when this returns.
    if (unused.kept + bytes > most_kept(part.front().use)) return;
    unused.kept += bytes;
  }
  Parts& same_size = unused.by_size.find(bytes)->second;
  same_size.splice(same_size.begin(), part);
}

bool Heap::trim() noexcept {
  Parts freed;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  for (Unused& unused : unused_) {
    for (auto& [bytes, parts] : unused.by_size) freed.splice(freed.end(), parts);
    unused.kept = 0;
  }
  return !freed.empty();
}

}  // namespace vyre::run::vulkan
