// How it works: submit() takes the next timeline value under the lock and passes the command buffers to the device's queue, or appends them
// to what the submission thread will pass (gpu/submission_queue.hpp). wait() spins on the semaphore's counter for a while, then sleeps in
// vkWaitSemaphores. Retired objects form a list through themselves, so that retiring needs no memory; a wait, and every 64th submission,
// destroys those whose values are past.
#include "vyre/run/vulkan/submit/stream.hpp"

#include <algorithm>

#include "vyre/run/profile.hpp"

namespace vyre::run::vulkan {
namespace {

// The most submissions that the device has not done yet. Without this limit, calls that come faster than the device does them would take
// memory without bound.
constexpr std::uint64_t kMaxPending = 4096;
// How many submissions pass between two searches for retired objects that can be destroyed.
constexpr std::uint64_t kCollectEvery = 64;
// After a wait, callers pass this many submissions to the driver themselves before the submission thread may take over. This gives the
// lowest latency if one or two calls are followed by a wait.
constexpr std::uint64_t kDirectSubmissions = 4;

}  // namespace

Stream::Stream(Context& context)
    : Timeline(context),
      // By default, a software device has no submission thread, because it runs shaders on the processors that the thread would need.
      may_use_thread_(context.options().submission_thread.value_or(context.physical().type != VK_PHYSICAL_DEVICE_TYPE_CPU)),
      queue_(
          mutex_, [this](const Queued& queued) { pass_to_queue(queued.commands, queued.value); },
          [this](const Queued&) {
            if (queue_.failed()) context_.mark_unusable();
          }) {
  VkSemaphoreTypeCreateInfo type{};
  type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo create{};
  create.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  create.pNext = &type;
  const DeviceApi& api = context.api();
  VkSemaphore timeline = VK_NULL_HANDLE;
  context.check(api.vkCreateSemaphore(api.device, &create, nullptr, &timeline), "vkCreateSemaphore");
  timeline_ = SemaphoreHandle(api, timeline);
}

void Stream::finish() {
  queue_.end();
  set_busy(false);
  retired_.clear();
}

TimelineValue Stream::submit(const Submission& submission) {
  TimelineValue value = 0;
  {
    const std::lock_guard lock(mutex_);
    value = last_ + 1;
    if (submission.still_valid && !submission.still_valid()) return 0;
    if (use_submission_thread()) {
      Queued& waiting = queue_.waiting();
      waiting.commands.insert(waiting.commands.end(), submission.commands.begin(), submission.commands.end());
      waiting.value = value;
      queue_.appended();
    } else {
      pass_to_queue(is_past(last_) && !submission.when_idle.empty() ? submission.when_idle : submission.commands, value);
    }
    last_ = value;
    if (submission.on_submit) submission.on_submit(value);
    set_busy(true);
  }
  if (value % kCollectEvery == 0) collect();
  return value;
}

void Stream::pass_to_queue(std::span<const VkCommandBuffer> commands, TimelineValue value) {
  VkTimelineSemaphoreSubmitInfo timeline{};
  timeline.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
  timeline.signalSemaphoreValueCount = 1;
  timeline.pSignalSemaphoreValues = &value;
  VkSubmitInfo submit{};
  submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  submit.pNext = &timeline;
  submit.commandBufferCount = static_cast<std::uint32_t>(commands.size());
  submit.pCommandBuffers = commands.data();
  submit.signalSemaphoreCount = 1;
  submit.pSignalSemaphores = timeline_.address();
  context_.submit(submit);
}

bool Stream::use_submission_thread() {
  queue_.check();
  if (!may_use_thread_) return false;
  // While earlier work is queued, this submission must be queued too, so that it does not overtake that work.
  if (queue_.idle()) {
    if (last_ < waited_for_ + kDirectSubmissions) return false;
    if (past_ < last_) poll();
    if (past_ >= last_) return false;
  }
  return may_use_thread_ = queue_.start();
}

void Stream::make_room(const Waiting& waiting) {
  const TimelineValue submitted = last();
  if (submitted > past_ + kMaxPending) wait(submitted - kMaxPending / 2, waiting);
}

void Stream::poll() {
  const DeviceApi& api = context_.api();
  TimelineValue value = 0;
  const VkResult result = api.vkGetSemaphoreCounterValue(api.device, *timeline_, &value);
  if (result < 0) context_.mark_unusable();
  context_.check(result, "vkGetSemaphoreCounterValue");
  raise(past_, value);
}

bool Stream::done(TimelineValue value) {
  if (past_ < value) poll();
  if (past_ < value) rethrow_failure();
  return past_ >= value;
}

void Stream::wait(TimelineValue value, const Waiting& waiting) {
  raise(waited_for_, value);
  if (past_ >= value) return;
  const Span span("wait");
  const DeviceApi& api = context_.api();
  waiting.wait(
      context_.name(), context_.physical().type != VK_PHYSICAL_DEVICE_TYPE_CPU, [&] { return done(value); },
      [&](std::uint64_t nanoseconds) {
        // A value that the submission thread failed to submit is never signalled, so a wait checks from time to time whether it failed.
        if (may_use_thread_)
          nanoseconds = std::min(nanoseconds, static_cast<std::uint64_t>(std::chrono::nanoseconds(kPollInterval).count()));
        VkSemaphoreWaitInfo info{};
        info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
        info.semaphoreCount = 1;
        info.pSemaphores = timeline_.address();
        info.pValues = &value;
        const VkResult result = api.vkWaitSemaphores(api.device, &info, nanoseconds);
        // After a failed wait the state of the device is unknown.
        if (result < 0) context_.mark_unusable();
        context_.check(result, "vkWaitSemaphores");
        if (result == VK_SUCCESS) {
          raise(past_, value);
        } else {
          rethrow_failure();
        }
        return result == VK_SUCCESS;
      });
  collect();
}

bool Stream::idle_within(std::chrono::duration<double> time) noexcept {
  try {
    if (!is_past_within(time, last())) return false;
  } catch (const std::exception&) {
    return false;
  }
  return collect();
}

bool Stream::collect() noexcept {
  bool up_to_date = false;
  {
    const std::lock_guard lock(mutex_);
    if (!is_busy() && retired_.empty()) return true;
    up_to_date = past_ >= last_;
  }
  try {
    if (!up_to_date) poll();
  } catch (const std::exception&) {
    return false;  // the next call that waits for the device reports the failure
  }
  const TimelineValue past = past_;
  RetiredList due;
  bool idle = false;
  {
    const std::lock_guard lock(mutex_);
    due = retired_.take_past(past);
    idle = past >= last_;
    if (idle) set_busy(false);
  }
  return idle;
}

}  // namespace vyre::run::vulkan
