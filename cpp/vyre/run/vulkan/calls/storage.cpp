// How it works: last_use() is the timeline value of the last submission that uses the block. Reads wait for it. If the host reaches device
// memory, it reads and writes the block; otherwise Transfers copies through staging memory. A storage may be destroyed while the device
// still uses its block. If the host cannot reach the block, it then goes back to the heap together with last_use(): work that is submitted
// later may use it at once. Otherwise, or if the heap keeps enough unused memory already, the block is retired until that value is past.
#include "vyre/run/vulkan/calls/storage.hpp"

#include <fmt/format.h>

#include <cstring>
#include <functional>
#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/gpu/chunks.hpp"
#include "vyre/run/gpu/limits.hpp"
#include "vyre/run/host/host_parts.hpp"
#include "vyre/run/profile.hpp"

namespace vyre::run::vulkan {

// A write of a storage with a mirror is one chunk, so the mirror is updated once.
static_assert(kChunkBytes >= HostMirror::kMaxBytes);

struct VulkanStorage::Memory final : Retired {
  explicit Memory(Block of) : block(std::move(of)) {}
  Block block;
};

VulkanStorage::VulkanStorage(std::shared_ptr<Device> on, std::uint64_t bytes, bool zeroed) : DeviceStorage(std::move(on), bytes) {
  const Context::Limit most = device().context().max_array();
  Limits(device().name()).at_most(bytes, most.bytes, most.name, "bytes of an array", "make a smaller array");
  if (device().context().unified()) {
    memory_ = std::make_unique<Memory>(device().heap().allocate(bytes));
  } else {
    // The host cannot reach this block. Only submissions use it, and they wait for the earlier submissions that still use it.
    Heap::InOrder given = device().heap().allocate_in_order(bytes);
    memory_ = std::make_unique<Memory>(std::move(given.block));
    used_until(given.busy_until);
  }
  if (bytes <= HostMirror::kMaxBytes) mirror_ = std::make_unique<HostMirror>(bytes, zeroed);
  if (!zeroed) return;
  // The host can clear a block that it reaches, because the device does not use such a block when it comes from the heap.
  if (std::byte* mapped = block().mapped()) {
    std::memset(mapped, 0, block().bytes());
  } else {
    device().transfers().clear(block(), [this](TimelineValue value) { used_until(value); });
  }
}

VulkanStorage::~VulkanStorage() {
  Context& context = device().context();
  if (!context.unified() && !context.forked() && !device().stream().is_past(last_use()) &&
      device().heap().give_back_in_order(memory_->block, last_use())) {
    return;
  }
  device().stream().retire(last_use(), std::move(memory_));
}

const Block& VulkanStorage::block() const { return memory_->block; }

void VulkanStorage::write(std::uint64_t offset, std::span<const std::byte> from, const RunOptions& options) {
  VYRE_ASSERT(offset <= bytes() && from.size() <= bytes() - offset);
  check_reachable();
  Span span("upload");
  if (span) span.work().bytes = from.size();
  if (std::byte* mapped = block().mapped(); mapped != nullptr && !mirror_) {
    device().stream().wait(last_use(), Waiting(options));
    host_copy(mapped + offset, from.data(), from.size());
  } else if (mapped == nullptr || !write_if_unused(mapped, offset, from)) {
    upload(offset, from, options);
  }
  if (from.size() == bytes()) forget_failure();
}

void VulkanStorage::upload(std::uint64_t offset, std::span<const std::byte> from, const RunOptions& options) {
  const auto on_submit = [&](TimelineValue value) {
    used_until(value);
    if (mirror_) mirror_->written_by_host(offset, from);
  };
  device().transfers().upload(from, block(), offset, std::cref(on_submit), options);
}

bool VulkanStorage::write_if_unused(std::byte* mapped, std::uint64_t offset, std::span<const std::byte> from) {
  Stream& stream = device().stream();
  return stream.in_order([&] {
    if (!stream.is_past(last_use())) return false;
    mirror_->written_by_host(offset, from);
    std::copy(from.begin(), from.end(), mapped + offset);
    return true;
  });
}

void VulkanStorage::read(std::uint64_t offset, std::span<std::byte> to, const RunOptions& options) {
  VYRE_ASSERT(offset <= bytes() && to.size() <= bytes() - offset);
  Span span("download");
  if (span) span.work().bytes = to.size();
  wait(options);
  if (const std::byte* mapped = block().mapped()) {
    host_copy(to.data(), mapped + offset, to.size());
  } else {
    device().transfers().download(
        block(), offset, to, [this](TimelineValue value) { used_until(value); }, options);
  }
}

}  // namespace vyre::run::vulkan
