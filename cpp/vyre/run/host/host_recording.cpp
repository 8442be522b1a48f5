// Implements recordings for the backends that run on the host. There are no device commands to record: a recording keeps the calls, and
// runs them one after the other when it is submitted.
#include <chrono>
#include <memory>
#include <utility>

#include "vyre/base/few.hpp"
#include "vyre/run/data_grid.hpp"
#include "vyre/run/deadline.hpp"
#include "vyre/run/host/host_storage.hpp"
#include "vyre/run/loops.hpp"
#include "vyre/run/recording.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run {
namespace {

class HostRecording final : public Recording {
 public:
  HostRecording(CallsToRecord calls, Awaited awaited)
      : Recording(std::move(calls)),
        awaited_(awaited),
        single_(calls_.order.size() == 1 && calls_.turns.empty() ? &calls_.calls[calls_.order.front()] : nullptr),
        words_(calls_.words_bytes) {}

  bool submit_at_once(std::span<const StorageView> slots) override {
    if (single_ == nullptr || profiling() || single_->counts() != nullptr || !single_->executable->is_short(single_->grid)) return false;
    const HostAccess access(slots, written_);
    if (!access.holds()) return false;
    RunOptions in_place;
    in_place.in_place = true;
    run_calls(access, slots, in_place, nullptr);
    return true;
  }

 private:
  void submit_recorded(std::span<const StorageView> slots, std::span<const std::byte> words, const RunOptions& options,
                       std::uint64_t times) override {
    if (calls_.order.empty()) return;
    RunOptions steps = options;
    steps.in_place = true;
    // The executable looks at the deadline of a single call.
    if (single_ != nullptr && times == 1) return run_calls({slots, written_, steps}, slots, steps, nullptr);
    // One time limit covers all calls.
    if (steps.timeout && !steps.start) steps.start = std::chrono::steady_clock::now();
    const Turns turns(calls_, steps);
    if (!words.empty()) words_.write(0, words, steps);
    const Deadline deadline = deadline_of(steps);
    for (; times > 0; --times) {
      deadline.check(awaited_);
      run_calls({slots, written_, steps}, slots, steps, &deadline);
    }
  }

  // Looks at the deadline between two calls, unless it is null.
  void run_calls(const HostAccess& access, std::span<const StorageView> slots, const RunOptions& options, const Deadline* deadline) {
    try {
      if (single_ != nullptr) return run(*single_, slots, options);
      for (std::size_t at = 0; at < calls_.order.size(); ++at) {
        if (at > 0 && deadline != nullptr) deadline->check(awaited_);
        run(calls_.calls[calls_.order[at]], slots, options);
      }
    } catch (...) {
      access.fail(std::current_exception());
      throw;
    }
  }

  std::byte* memory_of(const RecordedArray& array, std::span<const StorageView> slots) {
    if (array.in == RecordedArray::In::Slot) return HostAccess::memory_of(slots[array.index]) + array.offset;
    return (array.in == RecordedArray::In::Kept ? *calls_.kept[array.index] : words_).host_memory() + array.offset;
  }

  void run(const CallToRecord& call, std::span<const StorageView> slots, const RunOptions& options) {
    Few<BufferView> buffers(call.arrays.size());
    BufferView* next = buffers.begin();
    Grid grid = call.grid;
    for (const RecordedArray& array : call.arrays) {
      std::byte* const memory = memory_of(array, slots);
      if (array.role == StorageView::Role::Buffer) {
        *next++ = {{memory, static_cast<std::size_t>(array.bytes)}, array.length};
      } else {
        grid = grid_of_counts(memory, counted_by(array.role, call.program->program().workgroup_size()), grid);
      }
    }
    naming_loops(call.program->program(), [&] { call.executable->run({buffers.begin(), next}, grid, options); });
  }

  const Awaited awaited_;
  const CallToRecord* const single_;  // the only call, if it works with slots alone; else null
  HostStorage words_;
};

}  // namespace

std::shared_ptr<Recording> record_on_host(CallsToRecord calls, Awaited awaited) {
  return std::make_shared<HostRecording>(std::move(calls), awaited);
}

}  // namespace vyre::run
