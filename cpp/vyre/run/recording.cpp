#include "vyre/run/recording.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

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

// The calls of steps. Equal steps share their calls.
class Joiner {
 public:
  explicit Joiner(std::span<const Step> steps) {
    // The storage of the words of all steps, if there are any, is the first one that is kept.
    if (std::ranges::any_of(steps, [](const Step& step) { return !step.words.empty(); })) calls.kept.emplace_back();
    for (const Step& step : steps) add(step);
    std::ranges::sort(calls.turns);
    calls.turns.erase(std::unique(calls.turns.begin(), calls.turns.end()), calls.turns.end());
  }

  CallsToRecord calls;
  std::vector<StorageView> slots;
  std::vector<std::byte> words;

 private:
  using Key = std::tuple<const Recording*, std::vector<std::uint64_t>, std::vector<std::byte>>;

  void add(const Step& step) {
    const CallsToRecord& given = step.recording->calls();
    std::vector<std::uint64_t> places;
    places.reserve(2 * step.slots.size());
    for (const StorageView& slot : step.slots) places.insert(places.end(), {slot_of(slot.storage), slot.offset});
    const auto [known, added] = known_.emplace(Key(step.recording.get(), std::move(places), step.words), calls.calls.size());
    if (added) add_calls(step);
    for (const std::uint32_t index : given.order) calls.order.push_back(static_cast<std::uint32_t>(known->second) + index);
  }

  void add_calls(const Step& step) {
    const CallsToRecord& given = step.recording->calls();
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
    calls.turns.insert(calls.turns.end(), given.turns.begin(), given.turns.end());
    words.insert(words.end(), step.words.begin(), step.words.end());
    constexpr std::uint64_t kAlignment = CallsToRecord::kWordsAlignment;
    words.resize((words.size() + kAlignment - 1) / kAlignment * kAlignment);
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

  std::map<Key, std::size_t> known_;  // where the calls of a step begin
  std::unordered_map<const Storage*, std::uint32_t> slot_of_, kept_at_;
};

}  // namespace

Recording::Recording(CallsToRecord calls) : calls_(with_turn(std::move(calls))), written_(written_slots(calls_)) {}

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
  Joiner joiner(steps);
  if (!joiner.words.empty()) {
    joiner.calls.kept.front() = backend.allocate(device, joiner.words.size(), false);
    joiner.calls.kept.front()->write(0, joiner.words, waiting);
  }
  return {backend.record(std::move(joiner.calls), waiting, joiner.slots), std::move(joiner.slots)};
}

}  // namespace vyre::run
