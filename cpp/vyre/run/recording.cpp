#include "vyre/run/recording.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "vyre/run/ends.hpp"
#include "vyre/run/loops.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run {
namespace {

CallsToRecord with_turn(CallsToRecord calls) {
  const bool shares = !calls.kept.empty() || calls.words_bytes > 0;
  if (shares && calls.turns.empty()) calls.turns.push_back(std::make_shared<SharedAccess>());
  return calls;
}

std::vector<bool> written_slots(const CallsToRecord& calls) {
  std::vector<bool> result(calls.slots.size(), false);
  for (const CallToRecord& call : calls.calls) {
    const validate::ValidProgram& program = *call.program;
    for (std::size_t slot = 0; slot < program.bound().size(); ++slot) {
      const RecordedArray& array = call.arrays[slot];
      const bool written = program.program().buffers()[program.bound()[slot].index].access == ir::BufferAccess::ReadWrite;
      if (written && array.in == RecordedArray::In::Slot) result[array.index] = true;
    }
  }
  return result;
}

std::shared_ptr<const std::string> loops_of(const CallsToRecord& calls) {
  std::vector<const ir::Program*> programs;
  for (const CallToRecord& call : calls.calls) programs.push_back(&call.program->program());
  std::string loops = long_loops(programs);
  return loops.empty() ? nullptr : std::make_shared<const std::string>(std::move(loops));
}

// The calls of steps. Equal steps share their calls.
class Joiner {
 public:
  // `counting` is made from counts_program(), for steps that may do nothing.
  Joiner(std::span<const Step> steps, std::shared_ptr<Executable> counting) : counting_(std::move(counting)) {
    // The storage of the words of all steps, if there are any, is the first one that is kept.
    if (std::ranges::any_of(steps, [](const Step& step) { return !step.words.empty(); })) calls.kept.emplace_back();
    for (const Step& step : steps) add(step);
    std::ranges::sort(calls.turns);
    calls.turns.erase(std::unique(calls.turns.begin(), calls.turns.end()), calls.turns.end());
  }

  CallsToRecord calls;
  std::vector<StorageView> slots;
  std::vector<std::byte> words;
  // The storage of the counts of calls that have counts of their own in steps that may do nothing, by its place among those that are kept.
  std::optional<std::uint32_t> counts;

 private:
  using Key = std::tuple<const Recording*, std::vector<std::uint64_t>, std::vector<std::byte>>;
  // Where the calls of a step begin, and for each one of a step that may do nothing the call, if any, that computes its counts before it.
  struct Known {
    std::uint32_t first = 0;
    std::vector<std::optional<std::uint32_t>> counting{};
  };

  void add(const Step& step) {
    const CallsToRecord& given = step.recording->calls();
    std::vector<std::uint64_t> places;
    places.reserve(2 * step.slots.size() + 2);
    for (const StorageView& slot : step.slots) places.insert(places.end(), {slot_of(slot.storage), slot.offset});
    if (step.live) places.insert(places.end(), {slot_of(step.live->storage), step.live->offset});
    const auto [known, added] = known_.try_emplace(Key(step.recording.get(), std::move(places), step.words));
    if (added) known->second = add_calls(step);
    const Known& made = known->second;
    for (const std::uint32_t index : given.order) {
      if (step.live && made.counting[index]) calls.order.push_back(*made.counting[index]);
      calls.order.push_back(made.first + index);
    }
  }

  Known add_calls(const Step& step) {
    const CallsToRecord& given = step.recording->calls();
    Known made{static_cast<std::uint32_t>(calls.calls.size())};
    for (CallToRecord call : given.calls) {
      for (RecordedArray& array : call.arrays) {
        if (array.in == RecordedArray::In::Slot) {
          array.offset += step.slots[array.index].offset;
          array.index = slot_of(step.slots[array.index].storage);
        } else if (array.in == RecordedArray::In::Kept) {
          array.index = kept_at(given.kept[array.index]);
        } else {
          array.in = RecordedArray::In::Kept;
          array.index = 0;
          array.offset += words.size();
        }
      }
      calls.calls.push_back(std::move(call));
    }
    if (step.live) made.counting = add_counts(step, made.first);
    calls.turns.insert(calls.turns.end(), given.turns.begin(), given.turns.end());
    words.insert(words.end(), step.words.begin(), step.words.end());
    constexpr std::uint64_t kAlignment = CallsToRecord::kWordsAlignment;
    words.resize((words.size() + kAlignment - 1) / kAlignment * kAlignment);
    return made;
  }

  // Gives the calls of a step, those from `first` on, the counts of its repetition.
  std::vector<std::optional<std::uint32_t>> add_counts(const Step& step, std::size_t first) {
    const std::uint32_t slot = slot_of(step.live->storage);
    const std::size_t end = calls.calls.size();
    std::vector<std::optional<std::uint32_t>> counting(end - first);
    for (std::size_t index = first; index < end; ++index) {
      RecordedArray live{RecordedArray::In::Slot, slot, step.live->offset, kCountsBytes, 3, StorageView::Role::Workgroups};
      CallToRecord& call = calls.calls[index];
      if (call.counts() == nullptr) {
        call.arrays.push_back(live);
        continue;
      }
      if (!counts) {
        counts = static_cast<std::uint32_t>(calls.kept.size());
        calls.kept.emplace_back();
      }
      RecordedArray given = call.arrays.back();
      RecordedArray made{RecordedArray::In::Kept, *counts, 0, kCountsBytes, 3, given.role};
      call.arrays.back() = made;
      live.role = given.role = made.role = StorageView::Role::Buffer;
      counting[index - first] = static_cast<std::uint32_t>(calls.calls.size());
      calls.calls.push_back({counts_program(), counting_, {1, 1, 1}, {live, given, made}});
    }
    return counting;
  }

  std::uint32_t slot_of(Storage* storage) {
    const auto [known, added] = slot_of_.emplace(storage, static_cast<std::uint32_t>(slots.size()));
    if (added) {
      slots.push_back({storage, 0, storage->bytes()});
      calls.slots.push_back({{}, storage->bytes()});
    }
    return known->second;
  }
  std::uint32_t kept_at(const std::shared_ptr<Storage>& storage) {
    const auto [known, added] = kept_at_.emplace(storage.get(), static_cast<std::uint32_t>(calls.kept.size()));
    if (added) calls.kept.push_back(storage);
    return known->second;
  }

  std::map<Key, Known> known_;
  std::unordered_map<const Storage*, std::uint32_t> slot_of_, kept_at_;
  const std::shared_ptr<Executable> counting_;
};

}  // namespace

Recording::Recording(CallsToRecord calls)
    : calls_(with_turn(std::move(calls))), written_(written_slots(calls_)), loops_(loops_of(calls_)) {}

void Recording::submit(std::span<const StorageView> slots, std::span<const std::byte> words, const RunOptions& options,
                       std::uint64_t times) {
  if (!loops_) return submit_recorded(slots, words, options, times);
  for (const StorageView& slot : slots) slot.storage->used_in(loops_);
  try {
    submit_recorded(slots, words, options, times);
  } catch (const DispatchTimeoutError& error) {
    throw in_loops(error, *loops_);
  }
}

std::shared_ptr<Recording> record_call(Backend& backend, CallToRecord call, std::span<const StorageView> views, const RunOptions& waiting) {
  CallsToRecord calls;
  for (const StorageView& view : views) {
    const auto slot = static_cast<std::uint32_t>(calls.slots.size());
    call.arrays.push_back({RecordedArray::In::Slot, slot, 0, view.bytes, view.length, view.role});
    calls.slots.push_back({{}, view.bytes});
  }
  if (call.grid.x != 0 && call.grid.y != 0 && call.grid.z != 0) calls.order.push_back(0);
  calls.calls.push_back(std::move(call));
  return backend.record(std::move(calls), waiting, views);
}

JoinedSteps join(Backend& backend, std::optional<std::size_t> device, std::span<const Step> steps, const RunOptions& waiting) {
  std::shared_ptr<Executable> counting;
  if (std::ranges::any_of(steps, [](const Step& step) { return step.live.has_value(); })) {
    counting = backend.prepare(*counts_program(), device, {}, waiting);
  }
  Joiner joiner(steps, std::move(counting));
  if (joiner.counts) joiner.calls.kept[*joiner.counts] = backend.allocate(device, kCountsBytes, false);
  if (!joiner.words.empty()) {
    joiner.calls.kept.front() = backend.allocate(device, joiner.words.size(), false);
    joiner.calls.kept.front()->write(0, joiner.words, waiting);
  }
  return {backend.record(std::move(joiner.calls), waiting, joiner.slots), std::move(joiner.slots)};
}

}  // namespace vyre::run
