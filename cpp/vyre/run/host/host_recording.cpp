// Implements recordings for the backends that run on the host. There are no device commands to record: a recording keeps the calls, and
// runs them one after the other when it is submitted.
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "vyre/run/checks/recorded_slots.hpp"
#include "vyre/run/data_grid.hpp"
#include "vyre/run/deadline.hpp"
#include "vyre/run/host/host_storage.hpp"
#include "vyre/run/recording.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run {
namespace {

class HostRecording final : public Recording, public std::enable_shared_from_this<HostRecording> {
 public:
  HostRecording(CallsToRecord calls, Awaited awaited)
      : calls_(std::move(calls)), awaited_(awaited), written_(written_slots(calls_)), words_(calls_.words_bytes) {}

  void submit(std::span<const StorageView> slots, std::span<const std::byte> words, const RunOptions& options) override {
    check_slots(calls_, written_, slots);
    RunOptions steps = options;
    steps.in_place = true;
    // One time limit covers all calls.
    if (!steps.start) steps.start = std::chrono::steady_clock::now();
    const auto alone = busy_.write(steps);
    const HostAccess access(slots, written_, steps);
    if (!words.empty()) words_.write(0, words, steps);
    const Deadline deadline = deadline_of(steps);
    try {
      for (const std::uint32_t index : calls_.order) {
        deadline.check(awaited_);
        run(calls_.calls[index], slots, steps);
      }
    } catch (...) {
      access.fail(std::current_exception());
      throw;
    }
  }

  Step step(std::span<const StorageView> slots, std::span<const std::byte> words) override {
    check_slots(calls_, written_, slots);
    return {std::make_shared<Bound>(shared_from_this(), words), {slots.begin(), slots.end()}};
  }

 private:
  // A step of a sequence.
  class Bound final : public Plan {
   public:
    Bound(std::shared_ptr<HostRecording> recording, std::span<const std::byte> words)
        : recording_(std::move(recording)), words_(words.begin(), words.end()) {}
    void submit(std::span<const StorageView> views, const RunOptions& options) override { recording_->submit(views, words_, options); }

   private:
    const std::shared_ptr<HostRecording> recording_;
    const std::vector<std::byte> words_;
  };

  std::byte* memory_of(const RecordedArray& array, std::span<const StorageView> slots) {
    switch (array.in) {
      case RecordedArray::In::Slot:
        return HostAccess::memory_of(slots[array.index]) + array.offset;
      case RecordedArray::In::Kept:
        return calls_.kept[array.index]->host_memory() + array.offset;
      case RecordedArray::In::Words:
        return words_.host_memory() + array.offset;
    }
    return nullptr;
  }

  void run(const CallToRecord& call, std::span<const StorageView> slots, const RunOptions& options) {
    std::vector<BufferView> buffers;
    buffers.reserve(call.arrays.size());
    Grid grid = call.grid;
    for (const RecordedArray& array : call.arrays) {
      std::byte* const memory = memory_of(array, slots);
      if (array.role == StorageView::Role::Buffer) {
        buffers.push_back({{memory, static_cast<std::size_t>(array.bytes)}, array.length});
      } else {
        grid = grid_of_counts(memory, counted_by(array.role, call.program->program().workgroup_size()), grid);
      }
    }
    call.executable->run(buffers, grid, options);
  }

  const CallsToRecord calls_;
  const Awaited awaited_;
  const std::vector<bool> written_;
  HostStorage words_;
  SharedAccess busy_;  // held by the submission that works with the kept storages and the words
};

}  // namespace

std::shared_ptr<Recording> record_on_host(CallsToRecord calls, Awaited awaited) {
  return std::make_shared<HostRecording>(std::move(calls), awaited);
}

}  // namespace vyre::run
