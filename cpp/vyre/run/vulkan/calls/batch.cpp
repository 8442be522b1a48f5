// How it works: the constructor records the calls into command buffers of at most Options::dispatches_per_submission dispatches, with a
// barrier before each call that conflicts with one since the last barrier. submit() passes these command buffers to the stream. There are
// three exceptions. While a profile is open, the calls are recorded anew, with timestamps and a barrier before each call. A call with more
// dispatches than one submission may have is recorded in pieces, the next piece while the device executes the previous one. If a program
// reports a status, submit() waits for the calls, so that the caller learns of a failure before it uses the results.
#include "vyre/run/vulkan/calls/batch.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/emit/interface.hpp"
#include "vyre/run/gpu/hazards.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/vulkan/calls/call_checks.hpp"
#include "vyre/run/vulkan/calls/storage.hpp"

namespace vyre::run::vulkan {
namespace {

// The most calls of one submission with timestamps.
constexpr std::size_t kMaxTimedCalls = 64;
// The most command buffers of one submission; with more, the first ones would wait for the rest to be passed to the driver.
constexpr std::uint64_t kMaxRepeated = 64;
// The most dispatches of a batch that has a variant for an idle device.
constexpr std::uint64_t kMaxWhenIdle = 16;

using Calls = std::span<const std::shared_ptr<RecordedCall>>;

std::uint64_t dispatches(Calls calls) {
  std::uint64_t count = 0;
  for (const std::shared_ptr<RecordedCall>& call : calls) count += call->count();
  return count;
}

// Records the calls into one command buffer, which waits for the work of stage `before`.
void record_all(Commands& commands, const Stage& before, Calls calls) {
  HazardTracker since_barrier;
  // Whether a call since the last barrier has copies, so that the barrier must cover transfers too.
  bool copies = false;
  bool host_reads = false;
  commands.begin(true);
  commands.order(before, kDevice);
  for (const std::shared_ptr<RecordedCall>& call : calls) {
    if (since_barrier.conflicts_with(call->accesses())) {
      const Stage& stage = copies || call->copies() ? kDevice : kShader;
      commands.order(stage, stage);
      since_barrier.clear();
      copies = false;
    }
    since_barrier.add(call->accesses());
    copies = copies || call->copies();
    call->record(commands, 0, call->count());
    host_reads = host_reads || call->host_reads();
  }
  if (host_reads) commands.order(kDevice, kHost);
  commands.end();
}

}  // namespace

// The command buffers of a batch. They are retired when the batch is destroyed, because the device may still be executing them.
class Batch::CommandBuffers final : public Retired {
 public:
  // Reuses the command buffers of `old`, unless it is null, and makes new ones when these run out. The device must not be executing them.
  CommandBuffers(Device& device, Calls calls, std::unique_ptr<CommandBuffers> old = nullptr) {
    if (old) unused_.swap(old->buffers_);
    const std::uint64_t most = device.context().options().dispatches_per_submission;
    runs_.emplace_back();
    for (std::size_t first = 0; first < calls.size();) {
      if (calls[first]->count() > most) {
        runs_.back().then = calls[first].get();
        runs_.emplace_back();
        ++first;
        continue;
      }
      std::size_t end = first + 1;
      std::uint64_t count = calls[first]->count();
      while (end < calls.size() && count + calls[end]->count() <= most) count += calls[end++]->count();
      record_all(next(device), kDevice, calls.subspan(first, end - first));
      runs_.back().buffers.push_back(buffers_.back().handle());
      first = end;
    }
    // The last run is empty if the last call is submitted in pieces, or if there are no calls.
    if (runs_.back().buffers.empty()) runs_.pop_back();
  }

  // Command buffers, followed by a call that is submitted in pieces. `then` is null if there is no such call.
  struct Run {
    std::vector<VkCommandBuffer> buffers;
    RecordedCall* then = nullptr;
  };
  const std::vector<Run>& runs() const { return runs_; }
  // Whether no call is submitted in pieces, so that repeating the command buffers repeats the batch.
  bool is_one_run() const { return runs_.size() == 1 && runs_.front().then == nullptr; }
  // The number of command buffers of the only run.
  std::size_t size() const { return runs_.front().buffers.size(); }
  // Returns a variant of the batch that may be submitted only to an idle device, because its first barrier does not wait for earlier work.
  // Returns nothing unless the batch is small: the variant saves 0.3 us of a call that is waited for, and nothing when calls overlap. It is
  // recorded on first use.
  std::span<const VkCommandBuffer> when_idle(Device& device, Calls calls) {
    if (!is_one_run() || size() != 1 || dispatches(calls) > kMaxWhenIdle) return {};
    std::call_once(recorded_when_idle_, [&] {
      Commands& commands = next(device);
      try {
        record_all(commands, kDone, calls);
      } catch (...) {
        buffers_.pop_back();
        throw;
      }
      when_idle_ = commands.handle();
    });
    return {&when_idle_, 1};
  }

 private:
  Commands& next(Device& device) {
    if (unused_.empty()) return buffers_.emplace_back(device.context());
    buffers_.push_back(std::move(unused_.front()));
    unused_.pop_front();
    return buffers_.back();
  }

  std::deque<Commands> buffers_;
  std::deque<Commands> unused_;
  std::vector<Run> runs_;
  std::once_flag recorded_when_idle_;
  VkCommandBuffer when_idle_ = VK_NULL_HANDLE;
};

Batch::Batch(std::shared_ptr<Device> device, std::vector<std::shared_ptr<RecordedCall>> calls)
    : device_(std::move(device)), calls_(std::move(calls)) {
  // The graph of a loop has the same few calls again and again.
  for (const std::shared_ptr<RecordedCall>& call : calls_) different_.push_back(call.get());
  std::sort(different_.begin(), different_.end());
  different_.erase(std::unique(different_.begin(), different_.end()), different_.end());
  for (RecordedCall* call : different_) {
    if (call->shader().has_status) checked_.push_back(call);
  }
  recorded_ = std::make_unique<CommandBuffers>(*device_, calls_);
}

Batch::~Batch() { device_->stream().retire(last_use_, std::move(recorded_)); }

void Batch::record_again() {
  VYRE_ASSERT(device_->stream().is_past(last_use_));
  recorded_ = std::make_unique<CommandBuffers>(*device_, calls_, std::move(recorded_));
}

bool Batch::is_one_submission() const { return recorded_->is_one_run(); }

bool Batch::is_one_timed_submission() const { return is_one_submission() && calls_.size() <= kMaxTimedCalls; }

std::uint64_t Batch::submit(const BatchUse& use, std::uint64_t times, const RunOptions& options) {
  for (const StorageView& view : use.views) storage_of(view).check_usable();
  // A batch without dispatches has nothing to submit.
  if (recorded_->runs().empty()) return times;
  const Waiting waiting(options);
  std::uint64_t done = 0;
  while (done < times) {
    // An interruption here ends the call between two repetitions.
    device_->stream().make_room(waiting);
    // While a profile is open, one repetition may take several submissions, and only the first of them calls still_valid. So repetitions
    // are submitted one at a time, and still_valid is called for each.
    const bool one = !recorded_->is_one_run() || (use.still_valid && profiling());
    const std::uint64_t now = one ? 1 : std::clamp<std::uint64_t>(kMaxRepeated / recorded_->size(), 1, times - done);
    try {
      const bool submitted = checked_.empty() ? submit_recorded(use, now, waiting) : submit_checked(use, now, waiting);
      if (!submitted) return done;
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

bool Batch::submit_recorded(const BatchUse& use, std::uint64_t times, const Waiting& waiting) {
  const bool timed = profiling();
  if (!use.first.empty() && (timed || times > 1 || recorded_->runs().front().buffers.empty())) {
    if (submit_once(use.first, use) == 0) return false;
    return submit_recorded({use.views, use.written, kAlwaysValid}, times, waiting);
  }
  if (timed) return submit_timed(use, times, waiting);
  for (const CommandBuffers::Run& run : recorded_->runs()) {
    if (!use.first.empty() && &run == &recorded_->runs().front()) {
      std::vector<VkCommandBuffer> all(use.first.begin(), use.first.end());
      all.insert(all.end(), run.buffers.begin(), run.buffers.end());
      if (submit_once(all, use) == 0) return false;
    } else if (times == 1) {
      std::span<const VkCommandBuffer> when_idle;
      if (last_use_ != 0) when_idle = recorded_->when_idle(*device_, calls_);
      if (!run.buffers.empty() && submit_once(run.buffers, use, when_idle) == 0) return false;
    } else {
      std::vector<VkCommandBuffer> repeated;
      for (std::uint64_t k = 0; k < times; ++k) repeated.insert(repeated.end(), run.buffers.begin(), run.buffers.end());
      if (submit_once(repeated, use) == 0) return false;
    }
    if (run.then != nullptr) submit_in_pieces(*run.then, use, waiting);
  }
  return true;
}

// Records command buffers with timestamps, each for one submission. Each call waits for the call before it, so that their times do not
// overlap.
class Batch::TimedSubmissions {
 public:
  TimedSubmissions(Batch& batch, const BatchUse& use, const Waiting& waiting) : batch_(batch), use_(use), waiting_(waiting) {}

  // Whether the call must go into the next command buffer.
  bool is_full(const RecordedCall& next) const {
    return calls_ == kMaxTimedCalls || dispatches_ + next.count() > batch_.device_->context().options().dispatches_per_submission;
  }

  void record(const RecordedCall& call) {
    if (!timestamps_) {
      timestamps_ = batch_.device_->timing().begin(waiting_.options());
      timestamps_->commands().begin();
    }
    timestamps_->commands().order(kDevice, kDevice);
    call.record(timestamps_->commands(), 0, call.count(), timestamps_.get());
    dispatches_ += call.count();
    ++calls_;
    host_reads_ = host_reads_ || call.host_reads();
  }

  // Submits the calls that were recorded, if there are any. Returns false if still_valid cancelled the submission.
  bool submit() {
    if (!timestamps_) return true;
    Commands& commands = timestamps_->commands();
    if (host_reads_) commands.order(kDevice, kHost);
    commands.end();
    VkCommandBuffer handle = commands.handle();
    // Once the first submission was made, the rest of the batch must follow, so still_valid is not called again.
    const TimelineValue value = batch_.submit_once({&handle, 1}, begun_ ? BatchUse{use_.views, use_.written, kAlwaysValid} : use_);
    if (value == 0) return false;
    begun_ = true;
    batch_.device_->timing().submitted(std::move(timestamps_), value);
    dispatches_ = calls_ = 0;
    host_reads_ = false;
    return true;
  }

 private:
  Batch& batch_;
  const BatchUse& use_;
  const Waiting& waiting_;
  std::unique_ptr<Timestamps> timestamps_;
  std::uint64_t dispatches_ = 0;
  std::size_t calls_ = 0;
  bool host_reads_ = false;
  bool begun_ = false;
};

bool Batch::submit_timed(const BatchUse& use, std::uint64_t times, const Waiting& waiting) {
  TimedSubmissions timed(*this, use, waiting);
  for (std::uint64_t turn = 0; turn < times; ++turn) {
    for (const std::shared_ptr<RecordedCall>& call : calls_) {
      if (timed.is_full(*call) && !timed.submit()) return false;
      if (call->count() > device_->context().options().dispatches_per_submission) {
        submit_in_pieces(*call, use, waiting);
      } else {
        timed.record(*call);
      }
    }
  }
  return timed.submit();
}

void Batch::submit_in_pieces(RecordedCall& call, const BatchUse& use, const Waiting& waiting) {
  VYRE_ASSERT(!use.still_valid);
  struct Piece final : Retired {
    explicit Piece(Context& context) : commands(context) {}
    Commands commands;
    TimelineValue last_use = 0;
  };
  // Two command buffers: the device executes one while the host records the other.
  struct Pieces {
    explicit Pieces(Device& of) : device(of), two{std::make_unique<Piece>(of.context()), std::make_unique<Piece>(of.context())} {}
    Pieces(const Pieces&) = delete;
    Pieces& operator=(const Pieces&) = delete;
    ~Pieces() {
      for (std::unique_ptr<Piece>& piece : two) {
        const TimelineValue until = piece->last_use;
        device.stream().retire(until, std::move(piece));
      }
    }
    Device& device;
    std::array<std::unique_ptr<Piece>, 2> two;
  } pieces(*device_);
  const std::uint64_t most = device_->context().options().dispatches_per_submission;
  for (std::uint64_t first = 0, count = 0; first < call.count(); first += most, ++count) {
    Piece& piece = *pieces.two[count % pieces.two.size()];
    device_->stream().wait(piece.last_use, waiting);
    piece.commands.begin();
    piece.commands.order(kDevice, kDevice);
    const std::uint64_t end = std::min(call.count(), first + most);
    std::unique_ptr<Timestamps> timestamps = device_->timing().begin_if_profiled(waiting.options());
    call.record(piece.commands, first, end, timestamps.get());
    if (end == call.count() && call.host_reads()) piece.commands.order(kDevice, kHost);
    piece.commands.end();
    VkCommandBuffer commands = piece.commands.handle();
    piece.last_use = submit_once({&commands, 1}, use);
    if (timestamps) device_->timing().submitted(std::move(timestamps), piece.last_use);
  }
}

TimelineValue Batch::submit_once(std::span<const VkCommandBuffer> commands, const BatchUse& use,
                                 std::span<const VkCommandBuffer> when_idle) {
  const auto on_submit = [&](TimelineValue value) {
    for (std::size_t slot = 0; slot < use.views.size(); ++slot) {
      VulkanStorage& storage = storage_of(use.views[slot]);
      storage.used_until(value);
      if (use.written[slot] && storage.mirror() != nullptr) storage.mirror()->written_by_device();
    }
  };
  const auto still_valid = use.still_valid ? std::function<bool()>(std::cref(use.still_valid)) : std::function<bool()>();
  const TimelineValue value = device_->stream().submit({commands, when_idle, still_valid, std::cref(on_submit)});
  // last_use is raised after each submission, because this submission stays in flight if a later one fails.
  raise(last_use_, value);
  for (RecordedCall* call : different_) raise(call->last_use, value);
  return value;
}

// A driver that ends loops early may have made the results wrong. So this waits for the calls, and throws if a status word reports that.
bool Batch::submit_checked(const BatchUse& use, std::uint64_t times, const Waiting& waiting) {
  std::vector<std::unique_lock<std::mutex>> locks;
  for (RecordedCall* call : checked_) {
    locks.emplace_back(call->status_in_use);
    device_->stream().wait(call->last_use, waiting);
    std::memset(call->status(), 0, kMinBufferBytes);
  }
  if (!submit_recorded(use, times, waiting)) return false;
  device_->stream().wait(last_use_, waiting);
  for (RecordedCall* call : checked_) check_status(device_->context(), call->status());
  return true;
}

}  // namespace vyre::run::vulkan
