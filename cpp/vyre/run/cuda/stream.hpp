// The one order of everything that happens on a device: a CUDA stream, and values that say how far the device is.
//
// Every submission has a value, which grows by the number of its operations. A call that waits has an event recorded after its value,
// unless a later one is there, and asks for it: so a call that nobody waits for costs no event.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "vyre/run/cuda/api/context.hpp"
#include "vyre/run/gpu/retired.hpp"
#include "vyre/run/gpu/waiting.hpp"

namespace vyre::run::cuda {

// Any thread may call any function.
class Stream {
 public:
  explicit Stream(Context& context);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();
  // Destroys all retired objects. The device must be idle or lost, and nothing may be submitted afterwards.
  void finish() noexcept;

  // Waits while too much is submitted and not done: the driver would block a caller that cannot be interrupted there. Callers submit at
  // most kAtOnce operations between two calls of this.
  static constexpr std::uint64_t kAtOnce = 64;
  void make_room(const Waiting& waiting);

  // Runs `enqueue(CUstream)`, which enqueues so many operations, at most kAtOnce, so that nothing comes between them. Returns the value
  // that tells that the device has done them. `used(value)` runs under the stream's lock afterwards, also when `enqueue` throws, because
  // the device may then be at work on a part.
  template <class Enqueue, class Used>
  TimelineValue submit(std::uint64_t operations, const Enqueue& enqueue, const Used& used) {
    const Current current(context_);
    const std::lock_guard lock(mutex_);
    const TimelineValue value = last_ + operations;
    struct Submitted {
      Stream& stream;
      const Used& used;
      const TimelineValue value;
      ~Submitted() {
        stream.submitted(value);
        used(value);
      }
    } submitted{*this, used, value};
    enqueue(stream_);
    return value;
  }
  // Runs something short between two submissions.
  template <class Work>
  auto in_order(const Work& work) {
    const std::lock_guard lock(mutex_);
    return work();
  }

  // Take and give back memory of a pool in the order of the stream. The context must be the current one.
  CUresult allocate(CUdeviceptr& address, std::uint64_t bytes, CUmemoryPool pool) {
    return context_.api().cuMemAllocFromPoolAsync(&address, bytes, pool, stream_);
  }
  void free(CUdeviceptr address) noexcept { static_cast<void>(context_.api().cuMemFreeAsync(address, stream_)); }

  // Whether the value is known to be past, without asking the device.
  bool is_past(TimelineValue value) const { return past_ >= value; }
  // Whether the value is past. Throws DeviceLostError.
  bool done(TimelineValue value);
  void wait(TimelineValue value, const Waiting& waiting);

  // Destroys the object once the value is past; at once if it is. In a forked process the object is leaked: see Context::forked.
  void retire(TimelineValue value, std::unique_ptr<Retired> object) noexcept;
  // Destroys the retired objects that the device is known to be done with, or was when the last events were recorded.
  void collect_done();
  // For a call that timed out or was interrupted. Calls of host arrays are refused until the device has done it.
  void abandon(TimelineValue value) noexcept { raise(abandoned_, value); }
  bool has_abandoned_work() { return !done(abandoned_); }
  // Throws DeviceError while the device works on a call that timed out or was interrupted.
  void check_nothing_is_abandoned();
  // Waits until such calls are done; returns false if that takes longer than `time`.
  bool wait_for_abandoned_work(std::chrono::duration<double> time);
  // Waits until the device is idle; returns false if that takes longer than `time` or the wait fails.
  bool idle_within(std::chrono::duration<double> time) noexcept;

 private:
  // An event that the device reaches after the submissions up to `value`.
  struct Mark {
    TimelineValue value;
    CUevent event;
  };
  // These are called with the mutex held.
  void submitted(TimelineValue value) noexcept;
  void record_mark();
  std::shared_ptr<const Mark> mark_after(TimelineValue value);
  bool reached(const Mark& mark);
  // Destroys the retired objects whose values are past.
  void collect() noexcept;

  Context& context_;
  CUstream stream_ = nullptr;
  std::atomic<TimelineValue> past_ = 0;
  std::atomic<TimelineValue> abandoned_ = 0;
  std::mutex mutex_;  // guards what follows
  TimelineValue last_ = 0;
  TimelineValue marked_ = 0;  // of the latest mark
  std::deque<std::shared_ptr<const Mark>> marks_;
  std::vector<CUevent> unused_events_;
  bool busy_ = false;  // whether count_busy() was called for this stream and count_idle() was not yet
  RetiredList retired_;
};

}  // namespace vyre::run::cuda
