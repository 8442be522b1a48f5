// Puts the work of a device into one order, and keeps the objects that the work uses alive until it is done.
//
// Every submission has a value on a timeline semaphore: 1, 2, 3 and so on. The device signals a value once it has done that submission and
// all before it. So one number says how far the device is, what a call waits for, and when an object that the device uses may be destroyed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "vyre/run/gpu/retired.hpp"
#include "vyre/run/gpu/submission_queue.hpp"
#include "vyre/run/gpu/waiting.hpp"
#include "vyre/run/vulkan/api/context.hpp"

namespace vyre::run::vulkan {

// Any thread may call any function.
class Stream {
 public:
  explicit Stream(Context& context);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { finish(); }
  // Ends the submission thread and destroys all retired objects. The device must be idle, and nothing may be submitted afterwards.
  void finish();

  // Waits while too many submissions are pending. Calls do so before they begin, while they can still be interrupted.
  void make_room(const Waiting& waiting);

  struct Submission {
    std::span<const VkCommandBuffer> commands;
    // A variant of `commands`, submitted instead if the host knows that the device has done all earlier submissions. Empty if there is
    // none.
    std::span<const VkCommandBuffer> when_idle = {};
    // Both run under the stream's lock; keep them short. `still_valid` runs first and can cancel the submission.
    std::function<bool()> still_valid = {};
    std::function<void(TimelineValue)> on_submit = {};
  };
  // Returns the value that tells that the device has done the submission, or 0 if `still_valid` returned false.
  //
  // An idle device is given the work at once. While it is busy, and several submissions have come without a wait, they go to a thread of
  // the stream's own, which submits together what has come meanwhile: a submission costs the caller more than the rest of a small call. If
  // one fails there, the device becomes unusable, and the next submit or wait throws what that submission threw.
  TimelineValue submit(const Submission& submission);
  // Runs something short between two submissions.
  template <class Work>
  auto in_order(const Work& work) {
    const std::lock_guard lock(mutex_);
    return work();
  }
  // Throws what a submission of the stream's own thread threw.
  void rethrow_failure() const { queue_.rethrow_failure(); }

  // Whether the value is known to be past, without asking the device.
  bool is_past(TimelineValue value) const { return past_ >= value; }
  // Whether the value is past. Throws DeviceLostError.
  bool done(TimelineValue value);
  void wait(TimelineValue value, const Waiting& waiting);

  // Destroys the object once the value is past; at once if it is. In a forked process the object is leaked: see Context::forked.
  void retire(TimelineValue value, std::unique_ptr<Retired> object) noexcept;
  // Retires an object that was used by a call which timed out or was interrupted.
  void abandon(TimelineValue value, std::unique_ptr<Retired> object) noexcept;
  bool has_abandoned_work() { return !done(abandoned_); }
  // Throws DeviceError while the device works on a call that timed out or was interrupted.
  void check_nothing_is_abandoned();
  // Waits until such calls are done; returns false if that takes longer than `time`.
  bool wait_for_abandoned_work(std::chrono::duration<double> time);

  // Destroys the retired objects whose values are past. Returns whether the device is idle.
  bool collect() noexcept;
  // Waits until the device is idle; returns false if that takes longer than `time` or the wait fails.
  bool idle_within(std::chrono::duration<double> time) noexcept;

 private:
  TimelineValue last() {
    const std::lock_guard lock(mutex_);
    return last_;
  }
  // Asks the device how far it is.
  void poll();
  void pass_to_queue(std::span<const VkCommandBuffer> commands, TimelineValue value);
  // Whether the submission thread should do the next submission; starts the thread. Called with the mutex held.
  bool use_submission_thread();

  Context& context_;
  SemaphoreHandle timeline_;
  std::atomic<TimelineValue> past_ = 0;
  std::atomic<TimelineValue> waited_for_ = 0;
  std::atomic<TimelineValue> abandoned_ = 0;
  std::mutex mutex_;  // guards what follows
  TimelineValue last_ = 0;
  bool busy_ = false;  // whether count_busy() was called for this stream and count_idle() was not yet
  RetiredList retired_;
  std::atomic<bool> may_use_thread_;
  // The commands that the thread has to submit, up to a value.
  struct Queued {
    std::vector<VkCommandBuffer> commands;
    TimelineValue value = 0;
    bool empty() const { return commands.empty(); }
    void clear() { commands.clear(); }
  };
  SubmissionQueue<Queued> queue_;
};

}  // namespace vyre::run::vulkan
