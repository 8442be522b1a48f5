#include "vyre/run/cuda/calls/storage.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/gpu/limits.hpp"
#include "vyre/run/profile.hpp"

namespace vyre::run::cuda {

namespace {

Block allocated(Device& device, std::uint64_t bytes) {
  const std::uint64_t memory = device.context().physical().memory_bytes;
  Limits(device.name()).at_most(bytes, memory, "the memory", "bytes of an array", "make a smaller array");
  return device.pool().allocate(bytes);
}

// Owns an event for one use.
class Event {
 public:
  explicit Event(Context& context) : context_(context) {
    context.check(context.api().cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  // The driver destroys the event once the device has passed it.
  ~Event() {
    if (event_ != nullptr) static_cast<void>(context_.api().cuEventDestroy(event_));
  }
  // The device reaches the event after all work that was submitted to the stream until now.
  void record(CUstream stream) const { context_.check(context_.api().cuEventRecord(event_, stream), "cuEventRecord"); }
  CUevent get() const { return event_; }
  void release() { event_ = nullptr; }

 private:
  Context& context_;
  CUevent event_ = nullptr;
};

}  // namespace

// Keeps memory of another library alive until the device is done with it. The owner may be destroyed on any thread, even while that thread
// holds locks (for example of a recording or of the list of devices). So the deleter of `owner_` must neither wait for another thread nor
// call this backend.
class CudaStorage::Owner final : public Retired {
 public:
  Owner(Device& device, ForeignMemory& memory) : device_(device), bytes_(memory.bytes), owner_(std::move(memory.owner)) {}
  ~Owner() override {
    if (is_counted_) device_.foreign_bytes() -= bytes_;
  }
  // Counts the memory as kept only for the device. Returns whether the total of such memory now exceeds its limit.
  bool is_too_much() {
    is_counted_ = true;
    return (device_.foreign_bytes() += bytes_) > device_.context().physical().memory_bytes / kMostForeign;
  }

 private:
  // The other library cannot reclaim this memory when it runs out of memory, so at most 1 / kMostForeign of the device's memory is kept.
  static constexpr std::uint64_t kMostForeign = 16;

  Device& device_;
  const std::uint64_t bytes_;
  const std::shared_ptr<void> owner_;
  bool is_counted_ = false;
};

CudaStorage::CudaStorage(std::shared_ptr<Device> on, std::uint64_t bytes, bool zeroed)
    : DeviceStorage(std::move(on), bytes), id_(new_memory_id()), block_(allocated(device(), bytes)), address_(block_.address()) {
  const auto used = [this](TimelineValue value) { used_until(value); };
  if (zeroed) {
    device().transfers().clear(address(), block_.bytes(), used);
  } else if (bytes % 4 != 0) {
    // A Bytes buffer consists of whole words, and the last word is padded with zeros.
    device().transfers().clear(address() + bytes / 4 * 4, 4, used);
  }
}

CudaStorage::CudaStorage(std::shared_ptr<Device> on, ForeignMemory memory)
    : DeviceStorage(std::move(on), memory.bytes),
      id_(new_memory_id()),
      owner_(std::make_unique<Owner>(device(), memory)),
      address_(memory.address) {
  // Calls with arrays of another library may follow each other without a wait, and each keeps memory alive, so memory that is done is
  // released here.
  device().stream().collect_done();
}

CudaStorage::~CudaStorage() {
  Context& context = device().context();
  if (!context.alive()) return;
  try {
    if (shared_) {
      const Current current(context);
      static_cast<void>(context.api().cuCtxSynchronize());
    }
    // The other library must not have its memory back before the device is done with it here.
    if (!owner_ || device().stream().done(last_use())) return;
    if (owner_->is_too_much()) device().stream().wait(last_use(), Waiting({}));
    device().stream().retire(last_use(), std::move(owner_));
  } catch (const std::exception&) {
    // The context is lost, and the memory with it.
  }
}

void CudaStorage::wait_for(CUstream other) {
  check_reachable();
  Context& context = device().context();
  const Current current(context);
  Event event(context);
  // The event covers only what the other library has submitted until now.
  event.record(other);
  device().stream().submit(
      1, [&](Commands& commands) { commands.wait_for(event.get()); }, [this](TimelineValue value) { used_until(value); });
  event.release();
}

void CudaStorage::let_wait(CUstream other) {
  check_usable();
  Context& context = device().context();
  const Current current(context);
  const Event event(context);
  device().stream().submit_now(
      1,
      [&](Commands&, CUstream stream) {
        event.record(stream);
        context.check(context.api().cuStreamWaitEvent(other, event.get(), 0), "cuStreamWaitEvent");
      },
      [](TimelineValue) {});
}

void CudaStorage::write(std::uint64_t offset, std::span<const std::byte> from, const RunOptions& options) {
  VYRE_ASSERT(offset <= bytes() && from.size() <= bytes() - offset);
  check_reachable();
  Span span("upload");
  if (span) span.work().bytes = from.size();
  device().transfers().upload(
      from, address() + offset, [this](TimelineValue value) { used_until(value); }, options);
  if (from.size() == bytes()) forget_failure();
}

void CudaStorage::read(std::uint64_t offset, std::span<std::byte> to, const RunOptions& options) {
  VYRE_ASSERT(offset <= bytes() && to.size() <= bytes() - offset);
  Span span("download");
  if (span) span.work().bytes = to.size();
  wait(options);
  device().transfers().download(
      address() + offset, to, [this](TimelineValue value) { used_until(value); }, options);
}

void use(std::span<const StorageView> views, TimelineValue value) {
  for (const StorageView& view : views) storage_of(view).used_until(value);
}

void fail_written(std::span<const StorageView> views, const std::vector<bool>& written) {
  for (std::size_t slot = 0; slot < written.size(); ++slot) {
    if (written[slot]) views[slot].storage->fail(std::current_exception());
  }
}

}  // namespace vyre::run::cuda
