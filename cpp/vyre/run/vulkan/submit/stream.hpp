// Puts the work of a device into one order, and keeps the objects that the work uses alive until it is done.
//
// Every submission has a value on a timeline semaphore: 1, 2, 3 and so on. The device signals the value once it has done that submission
// and all earlier ones; the value is then past. So one kind of number says how far the device is, what a call waits for, and when an object
// that the device uses may be destroyed.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "vyre/run/gpu/submission_queue.hpp"
#include "vyre/run/gpu/timeline.hpp"
#include "vyre/run/vulkan/api/context.hpp"

namespace vyre::run::vulkan {

// Any thread may call any function.
class Stream : public Timeline<Stream, Context> {
 public:
  explicit Stream(Context& context);
  ~Stream() { finish(); }
  // Ends the submission thread and destroys all retired objects. The device must be idle, and nothing may be submitted afterwards.
  void finish();

  // Waits while too many submissions are pending. Calls do this before they submit anything, while they can still be interrupted.
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
  // Returns the timeline value of the submission, or 0 if `still_valid` returned false.
  //
  // If the device is idle, the caller's thread passes the commands to the driver. If it is busy, and several submissions have come without
  // a wait, they are queued for the stream's submission thread, because passing them costs a caller more than the rest of a small call.
  // That thread passes all queued commands together. If this fails, the device becomes unusable, and the next submit or wait throws the
  // error.
  TimelineValue submit(const Submission& submission);
  // Runs `work`, which must be short, between two submissions.
  template <class Work>
  auto in_order(const Work& work) {
    const std::lock_guard lock(mutex_);
    return work();
  }
  // Throws the error if a submission failed on the submission thread.
  void rethrow_failure() const { queue_.rethrow_failure(); }

  // Whether the value is past. Throws DeviceLostError.
  bool done(TimelineValue value);
  void wait(TimelineValue value, const Waiting& waiting);

  // Destroys the retired objects whose values are past. Returns whether the device is idle.
  bool collect() noexcept;
  // Waits until the device is idle; returns false if that takes longer than `time` or the wait fails.
  bool idle_within(std::chrono::duration<double> time) noexcept;

 private:
  // Asks the device how far it is.
  void poll();
  void pass_to_queue(std::span<const VkCommandBuffer> commands, TimelineValue value);
  // Whether the next submission should go to the submission thread. Starts the thread if so. Called with the mutex held.
  bool use_submission_thread();

  SemaphoreHandle timeline_;
  std::atomic<TimelineValue> waited_for_ = 0;
  std::atomic<bool> may_use_thread_;
  // Commands for the submission thread, and the timeline value of the last submission among them.
  struct Queued {
    std::vector<VkCommandBuffer> commands;
    TimelineValue value = 0;
    bool empty() const { return commands.empty(); }
    void clear() { commands.clear(); }
  };
  SubmissionQueue<Queued> queue_;
};

}  // namespace vyre::run::vulkan
