#include "vyre/run/host/host_storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/data_grid.hpp"
#include "vyre/run/deadline.hpp"
#include "vyre/run/host/host_copy.hpp"
#include "vyre/run/profile.hpp"

namespace vyre::run {

HostStorage::HostStorage(std::uint64_t bytes, bool zeroed)
    // The memory is never empty, and HostMemory pads it to whole words, because programs work in it in place.
    : bytes_(bytes),
      id_(new_memory_id()),
      data_(zeroed ? HostMemory::zeroed(std::max<std::uint64_t>(bytes, 16))
                   : HostMemory::uninitialised(std::max<std::uint64_t>(bytes, 16))) {
  if (data_.data() != nullptr) return;
  throw DeviceMemoryError(
      fmt::format("the host has no memory for an array of {} bytes. Fix: ask for fewer elements, or free some memory.", bytes));
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
  const auto lock = busy_.write(options);
  look_for_a_lost_writer();
  host_copy(data_.data() + offset, from.data(), from.size());
  if (from.size() == bytes_) forget_failure();
}

void HostStorage::read(std::uint64_t offset, std::span<std::byte> to, const RunOptions& options) {
  VYRE_ASSERT(offset <= bytes_ && to.size() <= bytes_ - offset);
  Span span("download");
  if (span) span.work().bytes = to.size();
  const auto lock = busy_.read(options);
  look_for_a_lost_writer();
  rethrow_failure();
  host_copy(to.data(), data_.data() + offset, to.size());
}

void HostStorage::wait(const RunOptions& options) {
  const auto lock = busy_.read(options);
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

class HostPlan final : public Plan {
 public:
  HostPlan(Executable& executable, std::span<const StorageView> views, std::vector<bool> written, Grid grid,
           const std::array<std::uint32_t, 3>& workgroup_size)
      : executable_(executable), written_(std::move(written)), grid_(grid) {
    if (const StorageView* counts = counts_of(views)) {
      counted_by_ = counted_by(counts->role, workgroup_size);
      written_.push_back(false);
    }
    VYRE_ASSERT(written_.size() == views.size());
  }

  void submit(std::span<const StorageView> views, const RunOptions& options) override {
    const HostAccess access(views, written_, options);
    RunOptions in_place = options;
    in_place.in_place = true;
    run(views, access, in_place);
  }

  bool submit_at_once(std::span<const StorageView> views) override {
    if (counts_of(views) != nullptr || profiling() || !executable_.is_short(grid_)) return false;
    const HostAccess access(views, written_);
    if (!access.holds()) return false;
    RunOptions in_place;
    in_place.in_place = true;
    run(views, access, in_place);
    return true;
  }

 private:
  void run(std::span<const StorageView> views, const HostAccess& access, const RunOptions& in_place) {
    const std::span<const StorageView> of_buffers = buffers_of(views);
    Few<BufferView> buffers(of_buffers.size());
    for (std::size_t slot = 0; slot < of_buffers.size(); ++slot) {
      const StorageView& view = of_buffers[slot];
      buffers[slot] = {{HostAccess::memory_of(view), static_cast<std::size_t>(view.bytes)}, view.length};
    }
    const StorageView* counts = counts_of(views);
    try {
      executable_.run(buffers.all(), counts == nullptr ? grid_ : grid_of_counts(HostAccess::memory_of(*counts), counted_by_, grid_),
                      in_place);
    } catch (...) {
      access.fail(std::current_exception());
      throw;
    }
  }

  Executable& executable_;
  std::vector<bool> written_;  // by view
  const Grid grid_;            // the largest one, where the counts come from data
  std::array<std::uint32_t, 3> counted_by_{};
};

class HostSequence final : public Sequence {
 public:
  explicit HostSequence(std::vector<Step> steps) : steps_(std::move(steps)) {}

  void submit(std::uint64_t times, const RunOptions& options) override {
    for (; times > 0; --times) {
      for (const Step& step : steps_) {
        deadline_of(options).check_interrupted();
        step.plan->submit(step.views, options);
      }
    }
  }

 private:
  const std::vector<Step> steps_;
};

std::unique_ptr<Plan> plan_on_host(Executable& executable, std::span<const StorageView> views, std::vector<bool> written, Grid grid,
                                   const std::array<std::uint32_t, 3>& workgroup_size) {
  return std::make_unique<HostPlan>(executable, views, std::move(written), grid, workgroup_size);
}

std::unique_ptr<Sequence> sequence_on_host(std::vector<Step> steps) { return std::make_unique<HostSequence>(std::move(steps)); }

}  // namespace vyre::run
