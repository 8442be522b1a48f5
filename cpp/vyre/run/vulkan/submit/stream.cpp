#include "vyre/run/vulkan/submit/stream.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "vyre/run/profile.hpp"
#include "vyre/run/vulkan/api/process_end.hpp"
#include "vyre/run/vulkan/device.hpp"

namespace vyre::run::vulkan {
namespace {

// Submissions that the device has not done yet. More would take memory without end when calls come faster than they are done.
constexpr std::uint64_t kMostAhead = 4096;
// How often a submission looks whether something can be freed.
constexpr std::uint64_t kLookEvery = 64;
// How long the submitter looks for more before it sleeps.
constexpr auto kSpin = std::chrono::microseconds(100);

}  // namespace

Stream::Stream(Device& device)
    : device_(device),
      // The threads of a software device want the processors for themselves.
      beside_(device.options().submit_beside.value_or(device.physical().type != VK_PHYSICAL_DEVICE_TYPE_CPU)) {
  VkSemaphoreTypeCreateInfo type{};
  type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo create{};
  create.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  create.pNext = &type;
  const DeviceApi& api = device.api();
  VkSemaphore timeline = VK_NULL_HANDLE;
  device.check(api.vkCreateSemaphore(api.device, &create, nullptr, &timeline), "vkCreateSemaphore");
  timeline_ = SemaphoreHandle(api, timeline);
}

Stream::~Stream() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    any_left_ = true;
    wake_.notify_one();
  }
  if (submitter_.joinable()) submitter_.join();
  if (busy_) count_given_back();
  // One after the other: a long list must not be destroyed from inside itself.
  while (retired_) retired_ = std::move(retired_->next_);
}

std::uint64_t Stream::submit(const Submission& submission) {
  std::uint64_t moment = 0;
  {
    const std::lock_guard lock(mutex_);
    moment = last_ + 1;
    if (submission.agree && !submission.agree()) return 0;
    if (wants_submitter()) {
      left_.insert(left_.end(), submission.commands.begin(), submission.commands.end());
      any_left_ = true;
      if (asleep_) wake_.notify_one();
    } else {
      hand_to_driver(is_past(last_) && !submission.when_done.empty() ? submission.when_done : submission.commands, moment);
    }
    last_ = moment;
    if (submission.then) submission.then(moment);
    if (!busy_) {
      busy_ = true;
      count_abandoned();
    }
  }
  if (moment % kLookEvery == 0) collect();
  return moment;
}

void Stream::hand_to_driver(std::span<const VkCommandBuffer> commands, std::uint64_t moment) {
  VkTimelineSemaphoreSubmitInfo timeline{};
  timeline.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
  timeline.signalSemaphoreValueCount = 1;
  timeline.pSignalSemaphoreValues = &moment;
  VkSubmitInfo submit{};
  submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  submit.pNext = &timeline;
  submit.commandBufferCount = static_cast<std::uint32_t>(commands.size());
  submit.pCommandBuffers = commands.data();
  submit.signalSemaphoreCount = 1;
  submit.pSignalSemaphores = timeline_.address();
  device_.submit(submit, VK_NULL_HANDLE);
}

bool Stream::wants_submitter() {
  if (failure_) std::rethrow_exception(failure_);
  // Whoever waits after a call or two is done soonest when nobody must be woken for it.
  constexpr std::uint64_t kFew = 4;
  if (!beside_) return false;
  // What comes after something that was left to it must be left to it too.
  if (left_.empty() && !submitting_) {
    if (last_ < waited_for_ + kFew) return false;
    if (past_ < last_) poll();
    if (past_ >= last_) return false;
  }
  if (!submitter_.joinable()) {
    try {
      submitter_ = std::thread([this] { submit_what_comes(); });
    } catch (const std::system_error&) {
      return beside_ = false;
    }
  }
  return true;
}

void Stream::submit_what_comes() {
  using Clock = std::chrono::steady_clock;
  std::vector<VkCommandBuffer> taken;
  std::unique_lock lock(mutex_);
  for (;;) {
    if (left_.empty() && !ended_) {
      // Calls that come one after the other must not pay for waking it up.
      lock.unlock();
      const auto start = Clock::now();
      while (!any_left_ && Clock::now() - start < kSpin) std::this_thread::yield();
      lock.lock();
      asleep_ = true;
      wake_.wait(lock, [&] { return ended_ || !left_.empty(); });
      asleep_ = false;
    }
    if (ended_) return;
    taken.swap(left_);
    any_left_ = false;
    const std::uint64_t moment = last_;
    submitting_ = true;
    lock.unlock();
    std::exception_ptr failure;
    try {
      hand_to_driver(taken, moment);
    } catch (...) {
      failure = std::current_exception();
    }
    taken.clear();
    lock.lock();
    submitting_ = false;
    if (failure) {
      failure_ = failure;
      failed_ = true;
      device_.condemn();
      return;
    }
  }
}

void Stream::rethrow_failure() {
  if (!failed_) return;
  const std::lock_guard lock(mutex_);
  std::rethrow_exception(failure_);
}

void Stream::make_room(const Waiting& waiting) {
  const std::uint64_t submitted = last();
  if (submitted > past_ + kMostAhead) wait(submitted - kMostAhead / 2, waiting);
}

void Stream::poll() {
  const DeviceApi& api = device_.api();
  std::uint64_t moment = 0;
  const VkResult result = api.vkGetSemaphoreCounterValue(api.device, *timeline_, &moment);
  if (result < 0) device_.condemn();
  device_.check(result, "vkGetSemaphoreCounterValue");
  raise(past_, moment);
}

bool Stream::done(std::uint64_t moment) {
  if (past_ < moment) poll();
  if (past_ < moment) rethrow_failure();
  return past_ >= moment;
}

void Stream::wait(std::uint64_t moment, const Waiting& waiting) {
  raise(waited_for_, moment);
  if (past_ >= moment) return;
  const Span span("wait");
  const DeviceApi& api = device_.api();
  waiting.wait(
      device_.name(), [&] { return done(moment); },
      [&](std::uint64_t nanoseconds) {
        // What the submitter fails to submit never comes, so look now and then whether it failed.
        if (beside_) nanoseconds = std::min(nanoseconds, static_cast<std::uint64_t>(std::chrono::nanoseconds(kPollInterval).count()));
        VkSemaphoreWaitInfo info{};
        info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
        info.semaphoreCount = 1;
        info.pSemaphores = timeline_.address();
        info.pValues = &moment;
        const VkResult result = api.vkWaitSemaphores(api.device, &info, nanoseconds);
        if (result < 0) device_.condemn();
        device_.check(result, "vkWaitSemaphores");
        if (result == VK_SUCCESS) raise(past_, moment);
        if (result != VK_SUCCESS) rethrow_failure();
        return result == VK_SUCCESS;
      });
  collect();
}

bool Stream::idle_within(std::chrono::duration<double> time) noexcept {
  try {
    RunOptions options;
    options.timeout = time;
    wait(last(), Waiting(options));
  } catch (const std::exception&) {
    return false;
  }
  return collect();
}

void Stream::retire(std::uint64_t moment, std::unique_ptr<Retired> thing) noexcept {
  if (device_.forked()) {
    static_cast<void>(thing.release());
    return;
  }
  // Destroyed with nothing locked: it may be the last of its kind and have much to do.
  if (past_ >= moment) return;
  const std::lock_guard lock(mutex_);
  thing->until_ = moment;
  thing->next_ = std::move(retired_);
  retired_ = std::move(thing);
}

bool Stream::collect() noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (!busy_ && !retired_) return true;
  }
  try {
    poll();
  } catch (const std::exception&) {
    return false;  // whoever waits for the device will hear of it
  }
  const std::uint64_t past = past_;
  std::unique_ptr<Retired> due;
  bool idle = false;
  {
    const std::lock_guard lock(mutex_);
    for (std::unique_ptr<Retired>* at = &retired_; *at;) {
      if ((*at)->until_ > past) {
        at = &(*at)->next_;
        continue;
      }
      std::unique_ptr<Retired> taken = std::move(*at);
      *at = std::move(taken->next_);
      taken->next_ = std::move(due);
      due = std::move(taken);
    }
    idle = past >= last_;
    if (idle && busy_) {
      busy_ = false;
      count_given_back();
    }
  }
  while (due) due = std::move(due->next_);
  return idle;
}

}  // namespace vyre::run::vulkan
