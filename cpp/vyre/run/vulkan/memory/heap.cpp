// How it works: the size of a block up to 1 MiB is a power of two, and blocks of the same size share a slab, which is one buffer of 64 KiB
// to 4 MiB. A larger block has a buffer of its own, and its size is rounded up by an eighth at most. A block that comes back goes to the
// front of its size's list, so that a loop of calls gets the same blocks each time, and with them the descriptor sets and plans that were
// made for these blocks. A block that comes back while the device uses it goes to a list of busy blocks: later submissions may use it at
// once, the host only when the device is done with it. If more large blocks come back than may be kept, those that came back first are
// freed.
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

Heap::Heap(Context& context, Stream& stream) : context_(context), stream_(stream) {
  unused(BufferUse::Device).most = kept_on(context);
  unused(BufferUse::Host).most = kKeptAtLeast;
}

VkDeviceSize Heap::class_of(VkDeviceSize bytes) const {
  const VkDeviceSize wanted = size_class(bytes);
  // Rounding up to a size class must not push a request over the allocation limit, so such a request gets its exact size.
  return wanted > context_.physical().max_memory_allocation ? (bytes + kAlignment - 1) / kAlignment * kAlignment : wanted;
}

Block Heap::take(Unused& unused, Parts& from, Parts::iterator part) {
  Parts taken;
  taken.splice(taken.begin(), from, part);
  taken.front().busy_until = 0;
  if (taken.front().bytes > kLargestShared) unused.kept -= taken.front().bytes;
  return Block(*this, std::move(taken));
}

Block Heap::allocate(VkDeviceSize bytes, BufferUse use) {
  const VkDeviceSize wanted = class_of(bytes);
  {
    const std::lock_guard lock(mutex_);
    // Makes the lists of this size before a block of it can be given back, so that giving back needs no memory.
    Unused& unused = this->unused(use);
    auto& [idle, busy] = unused.by_size[wanted];
    if (!idle.empty()) return take(unused, idle, idle.begin());
    if (!busy.empty() && stream_.is_past(busy.back().busy_until)) return take(unused, busy, std::prev(busy.end()));
  }
  return make(wanted, use);
}

Heap::InOrder Heap::allocate_in_order(VkDeviceSize bytes) {
  {
    const std::lock_guard lock(mutex_);
    Unused& unused = this->unused(BufferUse::Device);
    if (const auto found = unused.by_size.find(class_of(bytes)); found != unused.by_size.end() && !found->second.busy.empty()) {
      Parts& busy = found->second.busy;
      const TimelineValue until = busy.front().busy_until;
      return {take(unused, busy, busy.begin()), until};
    }
  }
  return {allocate(bytes), 0};
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
  Parts& idle = this->unused(use).by_size[bytes].idle;
  idle.splice(idle.end(), parts);
  return Block(*this, std::move(part));
}

void Heap::give_back(Parts part) noexcept {
  const VkDeviceSize bytes = part.front().bytes;
  Parts freed;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  Unused& unused = this->unused(part.front().use);
  // A part beyond the limit is not kept: `part` frees it when this function returns.
  if (!unused.keep(bytes, stream_, freed)) return;
  Parts& idle = unused.by_size.find(bytes)->second.idle;
  idle.splice(idle.begin(), part);
  idle.front().given_back = ++unused.given_back;
}

bool Heap::give_back_in_order(Block& block, TimelineValue busy_until) noexcept {
  const VkDeviceSize bytes = block.bytes();
  Parts freed;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  Unused& unused = this->unused(block.part().use);
  if (!unused.keep(bytes, stream_, freed)) return false;
  Parts& busy = unused.by_size.find(bytes)->second.busy;
  busy.splice(busy.begin(), block.part_);
  busy.front().busy_until = busy_until;
  busy.front().given_back = ++unused.given_back;
  block.heap_ = nullptr;
  return true;
}

bool Heap::Unused::keep(VkDeviceSize bytes, const Stream& stream, Parts& freed) noexcept {
  if (bytes <= kLargestShared) return true;
  if (bytes > most) return false;
  while (kept + bytes > most) {
    if (!free_oldest(stream, freed)) return false;
  }
  kept += bytes;
  return true;
}

bool Heap::Unused::free_oldest(const Stream& stream, Parts& freed) noexcept {
  Parts* from = nullptr;
  const auto look_at = [&](Parts& parts) {
    if (!parts.empty() && (from == nullptr || parts.back().given_back < from->back().given_back)) from = &parts;
  };
  for (auto size = by_size.upper_bound(kLargestShared); size != by_size.end(); ++size) {
    OfOneSize& parts = size->second;
    look_at(parts.idle);
    if (!parts.busy.empty() && stream.is_past(parts.busy.back().busy_until)) look_at(parts.busy);
  }
  if (from == nullptr) return false;
  kept -= from->back().bytes;
  freed.splice(freed.end(), *from, std::prev(from->end()));
  return true;
}

bool Heap::trim() noexcept {
  Parts freed;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  for (Unused& unused : unused_) {
    unused.kept = 0;
    for (auto& [bytes, parts] : unused.by_size) {
      freed.splice(freed.end(), parts.idle);
      for (auto part = parts.busy.begin(); part != parts.busy.end();) {
        const auto next = std::next(part);
        if (stream_.is_past(part->busy_until)) {
          freed.splice(freed.end(), parts.busy, part);
        } else if (bytes > kLargestShared) {
          unused.kept += bytes;
        }
        part = next;
      }
    }
  }
  return !freed.empty();
}

}  // namespace vyre::run::vulkan
