// Manages the memory of a device. The heap hands out blocks in size classes, and keeps those that come back, to reuse them: an allocation
// by the driver takes longer than a small program runs, and drivers allow only a few thousand allocations.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "vyre/run/vulkan/memory/buffer.hpp"
#include "vyre/run/vulkan/submit/stream.hpp"

namespace vyre::run::vulkan {

class Heap;

// Owns a part of a buffer; gives it back to the heap when it is destroyed.
class Block {
 public:
  Block() = default;
  Block(Block&& other) noexcept : heap_(std::exchange(other.heap_, nullptr)), part_(std::move(other.part_)) {}
  Block& operator=(Block&& other) noexcept {
    std::swap(heap_, other.heap_);
    part_.swap(other.part_);
    return *this;
  }
  ~Block();

  VkBuffer buffer() const { return part().buffer->handle(); }
  // A multiple of Heap::kAlignment.
  VkDeviceSize offset() const { return part().offset; }
  VkDeviceSize bytes() const { return part().bytes; }
  // Identifies the memory: see Storage::id.
  std::uint64_t id() const { return part().id; }
  // Null where the host cannot reach the memory.
  std::byte* mapped() const { return part().buffer->mapped() == nullptr ? nullptr : part().buffer->mapped() + part().offset; }
  explicit operator bool() const { return heap_ != nullptr; }

 private:
  friend class Heap;
  struct Part {
    std::shared_ptr<Buffer> buffer;  // shared with the other parts of a slab
    VkDeviceSize offset = 0;
    VkDeviceSize bytes = 0;
    std::uint64_t id = 0;
    BufferUse use = BufferUse::Device;
    TimelineValue busy_until = 0;  // for a part in a `busy` list: the last submission that uses it
    std::uint64_t given_back = 0;  // counts the parts that came back up to this one, which orders them by age
  };
  Block(Heap& heap, std::list<Part> part) : heap_(&heap), part_(std::move(part)) {}
  const Part& part() const { return part_.front(); }

  Heap* heap_ = nullptr;
  std::list<Part> part_;  // one node, which moves back into a list of the heap without an allocation
};

// Any thread may call any function.
class Heap {
 public:
  // The alignment of every block, in bytes: the largest that Vulkan lets a device ask for.
  static constexpr VkDeviceSize kAlignment = 256;

  Heap(Context& context, Stream& stream);

  // A block of at least `bytes` bytes, with any contents. When the device has no memory left, frees what the heap keeps for reuse and tries
  // again. Throws DeviceMemoryError.
  Block allocate(VkDeviceSize bytes, BufferUse use = BufferUse::Device);

  // A block of device memory that submissions up to `busy_until` may still use. Later submissions may use it at once, because they wait for
  // the earlier ones. So an array that is made and dropped in a loop takes no new memory while the device is still executing earlier calls.
  // The host must not touch the block before `busy_until` is past.
  struct InOrder {
    Block block;
    TimelineValue busy_until;
  };
  InOrder allocate_in_order(VkDeviceSize bytes);
  // Takes back a block that submissions up to `busy_until` use. Returns false, and leaves the block alone, if the heap keeps enough unused
  // memory already: the caller must then keep the block until `busy_until` is past.
  bool give_back_in_order(Block& block, TimelineValue busy_until) noexcept;

 private:
  friend class Block;
  using Parts = std::list<Block::Part>;
  struct OfOneSize {
    Parts idle;
    Parts busy;  // the device may still use them; the part that came back last is the first
  };
  struct Unused {
    VkDeviceSize kept = 0;  // bytes of the unused parts that have a buffer of their own
    VkDeviceSize most = 0;  // the limit on `kept`
    std::uint64_t given_back = 0;
    std::map<VkDeviceSize, OfOneSize> by_size;
    // Returns whether a part of this size may be kept, and counts it if so. Makes room by moving the parts that were given back first
    // to `freed`.
    bool keep(VkDeviceSize bytes, const Stream& stream, Parts& freed) noexcept;
    // Of the parts that have a buffer of their own and that the device does not use, moves the one that came back first to `freed`. Returns
    // false if there is none.
    bool free_oldest(const Stream& stream, Parts& freed) noexcept;
  };
  VkDeviceSize class_of(VkDeviceSize bytes) const;
  // Moves a part of `from` into a block.
  Block take(Unused& unused, Parts& from, Parts::iterator part);
  Unused& unused(BufferUse use) { return unused_[use == BufferUse::Device ? 0 : 1]; }
  Block make(VkDeviceSize bytes, BufferUse use);
  void give_back(Parts part) noexcept;
  // Frees the memory that is kept for reuse and that the device does not use. Returns whether there was any.
  bool trim() noexcept;

  Context& context_;
  Stream& stream_;
  std::mutex mutex_;
  std::array<Unused, 2> unused_;
};

}  // namespace vyre::run::vulkan
