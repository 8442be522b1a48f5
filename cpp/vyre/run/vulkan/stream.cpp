#include "vyre/run/vulkan/stream.hpp"

#include <utility>

#include "vyre/run/vulkan/device.hpp"
#include "vyre/run/vulkan/process_end.hpp"

namespace vyre::run::vulkan {
namespace {

// Submissions that the device has not done yet. More would take memory without end when calls come faster than they are done.
constexpr std::uint64_t kMostAhead = 4096;
// How often a submission looks whether something can be freed.
constexpr std::uint64_t kLookEvery = 64;

}  // namespace

Stream::Stream(Device& device) : device_(device) {
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
  if (busy_) count_given_back();
  // One after the other: a long list must not be destroyed from inside itself.
  while (retired_) retired_ = std::move(retired_->next_);
}

std::uint64_t Stream::submit(std::span<const VkCommandBuffer> commands) {
  std::uint64_t moment = 0;
  {
    const std::lock_guard lock(mutex_);
    moment = last_ + 1;
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
    last_ = moment;
    if (!busy_) {
      busy_ = true;
      count_abandoned();
    }
  }
  if (moment % kLookEvery == 0) collect();
  return moment;
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
  return past_ >= moment;
}

void Stream::wait(std::uint64_t moment, const Waiting& waiting) {
  if (past_ >= moment) return;
  const DeviceApi& api = device_.api();
  waiting.wait(
      device_.name(), [&] { return done(moment); },
      [&](std::uint64_t nanoseconds) {
        VkSemaphoreWaitInfo info{};
        info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
        info.semaphoreCount = 1;
        info.pSemaphores = timeline_.address();
        info.pValues = &moment;
        const VkResult result = api.vkWaitSemaphores(api.device, &info, nanoseconds);
        if (result < 0) device_.condemn();
        device_.check(result, "vkWaitSemaphores");
        if (result == VK_SUCCESS) raise(past_, moment);
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
