// Orders everything that happens on a device: one CUDA stream, and timeline values that tell how far the device has come.
//
// Every submission has a timeline value: the value of the previous submission plus the number of its own operations. A caller that waits
// for a value asks the driver whether the whole stream is idle, so that neither a call nor its wait needs an event. If another thread
// submits meanwhile, it first records an event, and the waiting caller polls that event from then on: it does not wait for later
// submissions. Events are also recorded after every few submissions. When submissions come one after the other without a wait, a thread of
// the stream's own passes them to the driver (gpu/submission_queue.hpp), in the order of their values.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "vyre/run/cuda/api/context.hpp"
#include "vyre/run/cuda/submit/commands.hpp"
#include "vyre/run/gpu/submission_queue.hpp"
#include "vyre/run/gpu/timeline.hpp"

namespace vyre::run::cuda {

// Any thread may call any function.
class Stream : public Timeline<Stream, Context> {
 public:
  explicit Stream(Context& context);
  ~Stream();
  // Ends the submission thread and destroys all retired objects. Nothing may be submitted afterwards. The device must be idle, unless the
  // context is lost or a submission failed. After a failed submission, this waits for the device.
  void finish() noexcept;

  // Waits while too many operations are submitted and not done. Otherwise the driver would block the caller, which could not be interrupted
  // then. Callers submit at most kAtOnce operations between two calls of this.
  static constexpr std::uint64_t kAtOnce = 64;
  void make_room(const Waiting& waiting);

  // Runs `enqueue(Commands&)`, which enqueues `operations` operations, at most kAtOnce; no other submission comes between them. Returns
  // their timeline value, which is past once the device has done them. `used(value)` runs under the stream's lock afterwards. If `enqueue`
  // throws while it passes operations to the driver, `used` runs too, because the device may be at work on some of them.
  //
  // The first submissions after a wait are passed to the driver before this returns; those that follow are left to the submission thread.
  // If a submission fails on that thread, the device becomes unusable, and the next submission or wait throws the same exception.
  template <class Enqueue, class Used>
  TimelineValue submit(std::uint64_t operations, const Enqueue& enqueue, const Used& used) {
    std::unique_lock lock(mutex_);
    if (!use_submission_thread()) return submit_now(lock, operations, enqueue, used);
    const TimelineValue value = last_ + operations;
    Batch& waiting = queue_.waiting();
    const std::size_t before = waiting.size();
    try {
      Commands commands(waiting);
      enqueue(commands);
    } catch (...) {
      waiting.cut(before);
      throw;
    }
    waiting.value = last_ = value;
    set_busy(true);
    used(value);
    queue_.appended();
    return value;
  }
  // Does the same, but always passes the submission to the driver before it returns. The caller then learns of a refusal, and can rely on
  // the submission when it goes on. `enqueue(Commands&, CUstream)` runs after all earlier submissions were passed, and the device's context
  // is the current one.
  template <class Enqueue, class Used>
  TimelineValue submit_now(std::uint64_t operations, const Enqueue& enqueue, const Used& used) {
    std::unique_lock lock(mutex_);
    pass_all(lock);
    return submit_now(
        lock, operations, [&](Commands& commands) { enqueue(commands, stream_); }, used);
  }

  // Takes memory of a pool in the order of the stream; submissions that still wait for the submission thread cannot use this memory, so it
  // may be taken before them. The context must be the current one.
  CUresult allocate(CUdeviceptr& address, std::uint64_t bytes, CUmemoryPool pool) {
    return context_.api().cuMemAllocFromPoolAsync(&address, bytes, pool, stream_);
  }
  // Gives memory of a pool back after all submissions until now.
  void free(CUdeviceptr address) noexcept;
  // Throws what a submission on the submission thread threw.
  void rethrow_failure() const { queue_.rethrow_failure(); }

  // Whether the value is past. Throws DeviceLostError.
  bool done(TimelineValue value);
  void wait(TimelineValue value, const Waiting& waiting);

  // Polls the recorded marks, and destroys the retired objects that the device is done with.
  void collect_done();
  // Waits until the device is idle; returns false if that takes longer than `time` or the wait fails.
  bool idle_within(std::chrono::duration<double> time) noexcept;

 private:
  // Has an event that the device reaches after the submissions up to `value`.
  struct Mark {
    TimelineValue value;
    CUevent event;
  };
  template <class Enqueue, class Used>
  TimelineValue submit_now(const std::unique_lock<std::mutex>&, std::uint64_t operations, const Enqueue& enqueue, const Used& used) {
    const Current current(context_);
    mark_for_waiting();
    const TimelineValue value = last_ + operations;
    struct Submitted {
      Stream& stream;
      const Used& used;
      const TimelineValue value;
      ~Submitted() {
        stream.last_ = value;
        stream.set_busy(true);
        stream.passed(value);
        used(value);
      }
    } submitted{*this, used, value};
    Commands commands(context_, stream_);
    enqueue(commands);
    return value;
  }
  // These are called with the mutex held.
  // Whether the submission thread should do the next submission. Starts the thread.
  bool use_submission_thread();
  // Returns once the driver has all submissions.
  void pass_all(std::unique_lock<std::mutex>& lock);
  // Reports that the driver has all submissions up to this value.
  void passed(TimelineValue value) noexcept;
  void record_mark();
  // Records a mark if a thread waits for the stream to become idle. Must be called before the driver gets another submission.
  void mark_for_waiting() noexcept;
  // Passes queued submissions up to the value to the driver. Returns false if another thread is passing them.
  bool pass_up_to(std::unique_lock<std::mutex>& lock, TimelineValue value);
  // Returns a mark at or after the value; null if the value is past.
  std::shared_ptr<const Mark> mark_after(TimelineValue value);
  // Reports that the device has done all submissions up to the value.
  void done_up_to(TimelineValue value);

  // The following functions are called without the mutex.

  // How a waiting thread finds out whether a value is past. It starts with neither, and then has one of the two.
  struct Watch {
    std::shared_ptr<const Mark> mark;
    TimelineValue idle = 0;  // the value of the latest submission when the thread began to ask whether the stream is idle
  };
  // Whether the value is past, as far as the watch tells.
  bool poll(TimelineValue value, Watch& watch);
  bool reached(const Mark& mark);
  // Destroys the retired objects whose values are past.
  void collect() noexcept;

  CUstream stream_ = nullptr;
  // mutex_ guards what follows.
  TimelineValue passed_ = 0;  // of the latest one that the driver has
  TimelineValue marked_ = 0;  // of the latest mark
  // The latest value for which a thread asks whether the stream is idle; 0 once a mark tells the same. Written with the mutex held.
  std::atomic<TimelineValue> watched_ = 0;
  std::deque<std::shared_ptr<const Mark>> marks_;
  std::vector<CUevent> unused_events_;
  bool may_use_thread_;
  std::uint64_t since_wait_ = 0;   // submissions, counted up to kDirectSubmissions
  std::uint64_t sleeps_seen_ = 0;  // of the submission thread
  SubmissionQueue<Batch> queue_;
};

}  // namespace vyre::run::cuda
