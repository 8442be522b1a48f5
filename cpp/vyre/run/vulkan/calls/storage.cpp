#include "vyre/run/vulkan/calls/storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/host_copy.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/vulkan/memory/transfer.hpp"

namespace vyre::run::vulkan {

class VulkanStorage::Held final : public Retired {
 public:
  Held(Heap& heap, VkDeviceSize bytes) : heap_(heap), block_(heap.allocate(bytes)) {}
  ~Held() override { heap_.give_back(std::move(block_)); }
  const Block& block() const { return block_.front(); }

 private:
  Heap& heap_;
  std::list<Block> block_;
};

VulkanStorage::VulkanStorage(std::shared_ptr<Device> device, std::uint64_t bytes, bool zeroed) : device_(std::move(device)), bytes_(bytes) {
  const Device::Limit most = device_->max_array();
  if (bytes > most.bytes) {
    throw CapabilityError(
        fmt::format("an array of {} bytes exceeds {} of device `{}`, which allows {}. Fix: make a smaller array, or use "
                    "another device.",
                    bytes, most.name, device_->name(), most.bytes));
  }
  held_ = std::make_unique<Held>(device_->heap(), bytes);
  if (bytes <= Contents::kMostBytes) contents_ = std::make_unique<Contents>(bytes, zeroed);
  if (!zeroed) return;
  // A block that came back is no longer in use, so the host may write it where it can.
  if (std::byte* mapped = block().mapped()) {
    std::memset(mapped, 0, block().bytes);
  } else {
    clear(*device_, *this);
  }
}

VulkanStorage::~VulkanStorage() { device_->stream().retire(last_use_, std::move(held_)); }

const Block& VulkanStorage::block() const { return held_->block(); }

void VulkanStorage::check_reachable() const {
  device_->check_process();
  if (device_->condemned()) {
    device_->stream().rethrow_failure();
    throw DeviceLostError(
        fmt::format("device `{}` was lost, and the arrays on it with it. Fix: make them anew, and call again.", device_->name()));
  }
}

void VulkanStorage::check_usable() const {
  check_reachable();
  rethrow_failure();
}

void VulkanStorage::write(std::uint64_t offset, std::span<const std::byte> from, const RunOptions& options) {
  VYRE_ASSERT(offset <= bytes_ && from.size() <= bytes_ - offset);
  check_reachable();
  Span span("upload");
  if (span) span.work().bytes = from.size();
  if (std::byte* mapped = block().mapped(); mapped != nullptr && !contents_) {
    device_->stream().wait(last_use_, Waiting(options));
    host_copy(mapped + offset, from.data(), from.size());
  } else if (mapped == nullptr || !write_if_unused(mapped, offset, from)) {
    upload(*device_, from, *this, offset, options);
  }
  if (from.size() == bytes_) forget_failure();
}

bool VulkanStorage::write_if_unused(std::byte* mapped, std::uint64_t offset, std::span<const std::byte> from) {
  Stream& stream = device_->stream();
  return stream.in_order([&] {
    if (!stream.is_past(last_use_)) return false;
    contents_->written_by_host(offset, from);
    std::copy(from.begin(), from.end(), mapped + offset);
    return true;
  });
}

void VulkanStorage::read(std::uint64_t offset, std::span<std::byte> to, const RunOptions& options) {
  VYRE_ASSERT(offset <= bytes_ && to.size() <= bytes_ - offset);
  Span span("download");
  if (span) span.work().bytes = to.size();
  wait(options);
  if (const std::byte* mapped = block().mapped()) {
    host_copy(to.data(), mapped + offset, to.size());
  } else {
    download(*device_, *this, offset, to, options);
  }
}

void VulkanStorage::wait(const RunOptions& options) {
  check_reachable();
  device_->stream().wait(last_use_, Waiting(options));
  rethrow_failure();
}

}  // namespace vyre::run::vulkan
