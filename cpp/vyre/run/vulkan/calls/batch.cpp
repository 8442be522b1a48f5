#include "vyre/run/vulkan/calls/batch.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/emit/interface.hpp"
#include "vyre/run/vulkan/calls/host_call.hpp"
#include "vyre/run/vulkan/calls/storage.hpp"
#include "vyre/run/vulkan/device.hpp"

namespace vyre::run::vulkan {
namespace {

// Calls that a profile times in one submission.
constexpr std::size_t kMostTimed = 64;

// What the calls since the last barrier touch: whether the next one may run beside them.
class Since {
 public:
  bool must_wait_for(const Recording& call) const {
    // A long list would make each call slower to record than a barrier makes it to run.
    constexpr std::size_t kMost = 64;
    if (touched_.size() > kMost) return true;
    for (const Recording::Touch& now : call.touches()) {
      for (const Recording::Touch& before : touched_) {
        if (now.buffer == before.buffer && now.begin < before.end && before.begin < now.end && (now.written || before.written)) return true;
      }
    }
    return false;
  }
  void forget() { *this = {}; }
  void add(const Recording& call) {
    touched_.insert(touched_.end(), call.touches().begin(), call.touches().end());
    copies_ = copies_ || call.copies();
  }
  bool copies() const { return copies_; }

 private:
  std::vector<Recording::Touch> touched_;
  bool copies_ = false;
};

using Calls = std::span<const std::shared_ptr<Recording>>;

std::uint64_t dispatches(Calls calls) {
  std::uint64_t count = 0;
  for (const std::shared_ptr<Recording>& call : calls) count += call->count();
  return count;
}

// Into one command buffer, after all that is `before` it.
void record_all(Commands& commands, const Stage& before, Calls calls) {
  Since since;
  bool host_reads = false;
  commands.begin(true);
  commands.order(before, kDevice);
  for (const std::shared_ptr<Recording>& call : calls) {
    if (since.must_wait_for(*call)) {
      const Stage& stage = since.copies() || call->copies() ? kDevice : kShader;
      commands.order(stage, stage);
      since.forget();
    }
    since.add(*call);
    call->record(commands, 0, call->count());
    host_reads = host_reads || call->host_reads();
  }
  if (host_reads) commands.order(kDevice, kHost);
  commands.end();
}

}  // namespace

// The command buffers, which the device may still work with when the batch is gone.
class Batch::Recorded final : public Retired {
 public:
  Recorded(Device& device, Calls calls) {
    const std::uint64_t most = device.options().dispatches_per_submission;
    runs_.emplace_back();
    for (std::size_t first = 0; first < calls.size();) {
      // One of very many dispatches is recorded while its first ones run.
      if (calls[first]->count() > most) {
        runs_.back().then = calls[first].get();
        runs_.emplace_back();
        ++first;
        continue;
      }
      std::size_t end = first + 1;
      std::uint64_t count = calls[first]->count();
      while (end < calls.size() && count + calls[end]->count() <= most) count += calls[end++]->count();
      record_all(buffers_.emplace_back(device), kDevice, calls.subspan(first, end - first));
      runs_.back().buffers.push_back(buffers_.back().handle());
      first = end;
    }
    // After a large call that comes last, and when there is none at all.
    if (runs_.back().buffers.empty()) runs_.pop_back();
  }

  // Command buffers, and a call too large for one.
  struct Run {
    std::vector<VkCommandBuffer> buffers;
    Recording* then = nullptr;
  };
  const std::vector<Run>& runs() const { return runs_; }
  // Whether it is command buffers only, so that repeating those repeats it.
  bool whole() const { return runs_.size() == 1 && runs_.front().then == nullptr; }
  // Command buffers of a whole one.
  std::size_t size() const { return runs_.front().buffers.size(); }
  // The same for a device that has done all before; empty where nobody would notice: whoever waits for each small call does, many calls do
  // not, and it is not worth recording for one that is made once.
  std::span<const VkCommandBuffer> when_done(Device& device, Calls calls) {
    constexpr std::uint64_t kFew = 16;
    if (!whole() || size() != 1 || dispatches(calls) > kFew) return {};
    std::call_once(recorded_when_done_, [&] {
      buffers_.emplace_back(device);
      try {
        record_all(buffers_.back(), kDone, calls);
      } catch (...) {
        buffers_.pop_back();
        throw;
      }
      when_done_ = buffers_.back().handle();
    });
    return {&when_done_, 1};
  }

 private:
  std::deque<Commands> buffers_;
  std::vector<Run> runs_;
  std::once_flag recorded_when_done_;
  VkCommandBuffer when_done_ = VK_NULL_HANDLE;
};

Batch::Batch(std::shared_ptr<Device> device, std::vector<std::shared_ptr<Recording>> calls)
    : device_(std::move(device)), calls_(std::move(calls)) {
  // A loop's graph has the same few calls again and again.
  for (const std::shared_ptr<Recording>& call : calls_) different_.push_back(call.get());
  std::sort(different_.begin(), different_.end());
  different_.erase(std::unique(different_.begin(), different_.end()), different_.end());
  for (Recording* call : different_) {
    if (call->shader().has_status) checked_.push_back(call);
  }
  recorded_ = std::make_unique<Recorded>(*device_, calls_);
}

Batch::~Batch() { device_->stream().retire(last_use_, std::move(recorded_)); }

bool Batch::whole() const { return recorded_->whole(); }

bool Batch::timed_as_a_whole() const { return whole() && calls_.size() <= kMostTimed; }

std::uint64_t Batch::submit(const Use& use, std::uint64_t times, const RunOptions& options) {
  // As many command buffers as one submission takes without making the first ones wait for it.
  constexpr std::uint64_t kMost = 64;
  for (const StorageView& view : use.views) storage_of(view).check_usable();
  // Of nothing any number is done.
  if (recorded_->runs().empty()) return times;
  const Waiting waiting(options);
  std::uint64_t done = 0;
  while (done < times) {
    // Interrupted here, nothing is half done.
    device_->stream().make_room(waiting);
    // A profile's may take several submissions, and use.agree is asked once.
    const bool one = !recorded_->whole() || (use.agree && profiling());
    const std::uint64_t now = one ? 1 : std::clamp<std::uint64_t>(kMost / recorded_->size(), 1, times - done);
    try {
      const bool agreed = checked_.empty() ? submit_recorded(use, now, waiting) : submit_checked(use, now, waiting);
      if (!agreed) return done;
    } catch (...) {
      for (std::size_t slot = 0; slot < use.views.size(); ++slot) {
        if (use.written[slot]) use.views[slot].storage->fail(std::current_exception());
      }
      throw;
    }
    done += now;
  }
  return done;
}

bool Batch::submit_recorded(const Use& use, std::uint64_t times, const Waiting& waiting) {
  if (profiling()) return submit_timed(use, times, waiting);
  for (const Recorded::Run& run : recorded_->runs()) {
    if (times == 1) {
      std::span<const VkCommandBuffer> when_done;
      if (last_use_ != 0) when_done = recorded_->when_done(*device_, calls_);
      if (!run.buffers.empty() && hand_in(run.buffers, use, when_done) == 0) return false;
    } else {
      std::vector<VkCommandBuffer> repeated;
      for (std::uint64_t k = 0; k < times; ++k) repeated.insert(repeated.end(), run.buffers.begin(), run.buffers.end());
      if (hand_in(repeated, use) == 0) return false;
    }
    if (run.then != nullptr) submit_in_turns(*run.then, use, waiting);
  }
  return true;
}

// The same for a profile: recorded for this one submission, and each call after the one before it, so that its time is its own.
bool Batch::submit_timed(const Use& use, std::uint64_t times, const Waiting& waiting) {
  const std::uint64_t most = device_->options().dispatches_per_submission;
  Timing& timing = device_->timing();
  std::unique_ptr<Timestamps> timestamps;
  std::uint64_t dispatches = 0;
  std::size_t calls = 0;
  bool host_reads = false;
  bool begun = false;
  const auto submit = [&] {
    if (!timestamps) return true;
    Commands& commands = timestamps->commands();
    if (host_reads) commands.order(kDevice, kHost);
    commands.end();
    const VkCommandBuffer handle = commands.handle();
    // What has begun is ended.
    const std::uint64_t moment = hand_in({&handle, 1}, begun ? Use{use.views, use.written, kAlways} : use);
    if (moment == 0) return false;
    begun = true;
    timing.submitted(std::move(timestamps), moment);
    dispatches = calls = 0;
    host_reads = false;
    return true;
  };
  for (std::uint64_t turn = 0; turn < times; ++turn) {
    for (const std::shared_ptr<Recording>& call : calls_) {
      if ((calls == kMostTimed || dispatches + call->count() > most) && !submit()) return false;
      if (call->count() > most) {
        submit_in_turns(*call, use, waiting);
        continue;
      }
      if (!timestamps) {
        timestamps = timing.begin(waiting.options());
        timestamps->commands().begin();
      }
      timestamps->commands().order(kDevice, kDevice);
      call->record(timestamps->commands(), 0, call->count(), timestamps.get());
      dispatches += call->count();
      ++calls;
      host_reads = host_reads || call->host_reads();
    }
  }
  return submit();
}

void Batch::submit_in_turns(Recording& call, const Use& use, const Waiting& waiting) {
  VYRE_ASSERT(!use.agree);
  struct Turn final : Retired {
    explicit Turn(Device& device) : commands(device) {}
    Commands commands;
    std::uint64_t last_use = 0;
  };
  // Two in turn: the device works on one while the other is recorded.
  struct Turns {
    explicit Turns(Device& to) : device(to), two{std::make_unique<Turn>(to), std::make_unique<Turn>(to)} {}
    Turns(const Turns&) = delete;
    Turns& operator=(const Turns&) = delete;
    ~Turns() {
      for (std::unique_ptr<Turn>& turn : two) {
        const std::uint64_t until = turn->last_use;
        device.stream().retire(until, std::move(turn));
      }
    }
    Device& device;
    std::array<std::unique_ptr<Turn>, 2> two;
  } turns(*device_);
  Stream& stream = device_->stream();
  const std::uint64_t most = device_->options().dispatches_per_submission;
  for (std::uint64_t first = 0, count = 0; first < call.count(); first += most, ++count) {
    Turn& turn = *turns.two[count % turns.two.size()];
    stream.wait(turn.last_use, waiting);
    turn.commands.begin();
    turn.commands.order(kDevice, kDevice);
    const std::uint64_t end = std::min(call.count(), first + most);
    std::unique_ptr<Timestamps> timestamps = device_->timing().begin_if_profiled(waiting.options());
    call.record(turn.commands, first, end, timestamps.get());
    if (end == call.count() && call.host_reads()) turn.commands.order(kDevice, kHost);
    turn.commands.end();
    const VkCommandBuffer commands = turn.commands.handle();
    turn.last_use = hand_in({&commands, 1}, use);
    if (timestamps) device_->timing().submitted(std::move(timestamps), turn.last_use);
  }
}

std::uint64_t Batch::hand_in(std::span<const VkCommandBuffer> commands, const Use& use, std::span<const VkCommandBuffer> when_done) {
  const auto then = [&](std::uint64_t moment) {
    for (std::size_t slot = 0; slot < use.views.size(); ++slot) {
      VulkanStorage& storage = storage_of(use.views[slot]);
      storage.used_until(moment);
      if (use.written[slot] && storage.contents() != nullptr) storage.contents()->written_by_device();
    }
  };
  const auto agree = use.agree ? std::function<bool()>(std::cref(use.agree)) : std::function<bool()>();
  const std::uint64_t moment = device_->stream().submit({commands, when_done, agree, std::cref(then)});
  // All hear of each submission at once: a later one may fail, and the device works with everything all the same.
  raise(last_use_, moment);
  for (Recording* call : different_) raise(call->last_use, moment);
  return moment;
}

// On a driver that ends loops early, what the calls wrote may be wrong: it is not let out before the status words say otherwise.
bool Batch::submit_checked(const Use& use, std::uint64_t times, const Waiting& waiting) {
  std::vector<std::unique_lock<std::mutex>> locks;
  for (Recording* call : checked_) {
    locks.emplace_back(call->checked);
    device_->stream().wait(call->last_use, waiting);
    std::memset(call->status().mapped(), 0, kMinBufferBytes);
  }
  if (!submit_recorded(use, times, waiting)) return false;
  device_->stream().wait(last_use_, waiting);
  for (Recording* call : checked_) check_status(*device_, call->status());
  return true;
}

}  // namespace vyre::run::vulkan
