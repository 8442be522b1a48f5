#include "vyre/run/host/host_storage.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/refused.hpp"
#include "vyre/run/host/host_parts.hpp"
#include "vyre/run/profile.hpp"

namespace vyre::run {

HostStorage::HostStorage(std::uint64_t bytes, bool zeroed)
    // The memory is never empty, and HostMemory pads it to whole words, because programs work in it in place.
    : bytes_(bytes),
      id_(new_memory_id()),
      data_(zeroed ? HostMemory::zeroed(std::max<std::uint64_t>(bytes, 16))
                   : HostMemory::uninitialised(std::max<std::uint64_t>(bytes, 16))) {
  if (data_.data() != nullptr) return;
  throw no_memory("the host", fmt::format("an array of {} bytes", bytes));
}

void HostStorage::look_for_a_lost_writer() noexcept {
  if (!busy_.take_lost_writer()) return;
  fail(std::make_exception_ptr(
      DeviceError("another thread was writing the array when this process was forked, and it goes on in the parent alone. Fix: write the "
                  "whole array anew, or fork while no call works with it.")));
}

void HostStorage::write(std::uint64_t offset, std::span<const std::byte> from, const RunOptions& options) {
  VYRE_ASSERT(offset <= bytes_ && from.size() <= bytes_ - offset);
  Span span("upload");
  if (span) span.work().bytes = from.size();
  SharedAccess::Writing lock;
  wait_for_calls([&] { lock = busy_.write(options); });
  look_for_a_lost_writer();
  host_copy(data_.data() + offset, from.data(), from.size());
  if (from.size() == bytes_) forget_failure();
}

void HostStorage::read(std::uint64_t offset, std::span<std::byte> to, const RunOptions& options) {
  VYRE_ASSERT(offset <= bytes_ && to.size() <= bytes_ - offset);
  Span span("download");
  if (span) span.work().bytes = to.size();
  SharedAccess::Reading lock;
  wait_for_calls([&] { lock = busy_.read(options); });
  look_for_a_lost_writer();
  rethrow_failure();
  host_copy(to.data(), data_.data() + offset, to.size());
}

void HostStorage::wait(const RunOptions& options) {
  SharedAccess::Reading lock;
  wait_for_calls([&] { lock = busy_.read(options); });
  look_for_a_lost_writer();
  rethrow_failure();
}

bool HostStorage::is_ready() {
  if (!busy_.try_acquire(SharedAccess::Use::Read)) return false;
  const SharedAccess::Reading lock(busy_, std::adopt_lock);
  return is_sound();
}

HostAccess::HostAccess(std::span<const StorageView> views, const std::vector<bool>& written, const RunOptions* options)
    : held_(views.size()) {
  for (std::size_t slot = 0; slot < views.size(); ++slot) {
    held_.uses[slot] = {static_cast<HostStorage*>(views[slot].storage), written[slot]};
  }
  std::ranges::sort(held_.uses.all(), [](const Use& a, const Use& b) {
    return a.storage->id() != b.storage->id() ? a.storage->id() < b.storage->id() : a.written > b.written;
  });
  const Use* const end =
      std::unique(held_.uses.begin(), held_.uses.end(), [](const Use& a, const Use& b) { return a.storage == b.storage; });
  for (const Use& use : std::span<const Use>(held_.uses.begin(), end)) {
    const SharedAccess::Use wanted = use.written ? SharedAccess::Use::Write : SharedAccess::Use::Read;
    if (options != nullptr) {
      use.storage->busy_.acquire(wanted, *options);
    } else if (!use.storage->busy_.try_acquire(wanted)) {
      return;
    }
    ++held_.held;
    if (options == nullptr && !use.storage->is_sound()) return;
    use.storage->look_for_a_lost_writer();
    use.storage->rethrow_failure();
  }
  held_.all = true;
}

HostAccess::Held::~Held() {
  for (const Use& use : uses.all().first(held)) {
    if (use.written) {
      use.storage->busy_.unlock();
    } else {
      use.storage->busy_.unlock_shared();
    }
  }
}

void HostAccess::fail(const std::exception_ptr& error) const noexcept {
  for (const Use& use : held_.uses.all().first(held_.held)) {
    if (use.written) use.storage->fail(error);
  }
}

}  // namespace vyre::run
