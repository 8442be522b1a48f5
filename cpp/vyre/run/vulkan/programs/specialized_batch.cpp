// How it works: the constructor finds the locations whose words select kernels. It leaves out calls whose words lie in storages that the
// batch writes. Each submission gathers these words from the storages' mirrors, in the order of the stream. Once the same words have come
// often enough, a second batch is recorded with specialised kernels. It is submitted only if the words have not changed, which is checked
// under the stream's lock.
#include "vyre/run/vulkan/programs/specialized_batch.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "vyre/run/profile.hpp"
#include "vyre/run/vulkan/calls/storage.hpp"

namespace vyre::run::vulkan {
namespace {

// Once this many locations are watched, the locations of further groups are not, because every submission reads all watched locations.
constexpr std::size_t kMaxWatched = 256;

std::vector<std::shared_ptr<RecordedCall>> recorded_calls(std::span<const SpecializedBatch::Call> calls) {
  std::vector<std::shared_ptr<RecordedCall>> result;
  for (const SpecializedBatch::Call& call : calls) result.push_back(call.recorded);
  return result;
}

std::uint64_t largest_recorded(const RecordedCall& call) {
  std::uint64_t largest = 0;
  for (const RecordedCall::Array& array : call.arrays()) largest = std::max<std::uint64_t>(largest, device_bytes(array.bytes));
  return largest;
}

}  // namespace

SpecializedBatch::SpecializedBatch(std::shared_ptr<Device> device, std::vector<Call> calls, std::span<const StorageView> views,
                                   std::vector<bool> written)
    : calls_(std::move(calls)), written_(std::move(written)), plain_(std::move(device), recorded_calls(calls_)) {
  // If a batch were several submissions, another thread could write the words between them.
  if (plain_.is_one_submission()) watch(views);
}

void SpecializedBatch::watch(std::span<const StorageView> views) {
  const auto is_plain = [](const Call& call) { return !call.source || call.source->parts().empty(); };
  if (std::ranges::all_of(calls_, is_plain)) return;
  std::set<const Storage*> changing;
  for (std::size_t view = 0; view < views.size(); ++view) {
    if (written_[view]) changing.insert(views[view].storage);
  }
  std::map<const RecordedCall*, std::size_t> known;
  for (const Call& call : calls_) {
    group_of_.push_back(kNoGroup);
    if (is_plain(call)) continue;
    const auto [found, added] = known.emplace(call.recorded.get(), kNoGroup);
    std::size_t& group = found->second;
    if (added) {
      const auto stays = [&](const Specialization::Part& part) {
        const VulkanStorage& storage = storage_of(views[call.locations[part.slot].view]);
        return storage.mirror() != nullptr && !changing.contains(&storage);
      };
      if (watched_.size() >= kMaxWatched || !std::ranges::all_of(call.source->parts(), stays)) continue;
      group = groups_.size();
      Group& made = groups_.emplace_back(Group{call.recorded, call.source, 0, {}});
      for (const Specialization::Part& part : call.source->parts()) made.watched.push_back(watch(call.locations[part.slot], part));
    }
    group_of_.back() = group;
    if (group != kNoGroup) ++groups_[group].calls;
  }
}

std::size_t SpecializedBatch::watch(const Location& location, const Specialization::Part& part) {
  const auto is_same = [&](const Watched& other) {
    return other.location == location && other.part.offset == part.offset && other.part.lanes == part.lanes &&
           other.part.truth == part.truth;
  };
  const auto found = std::ranges::find_if(watched_, is_same);
  if (found != watched_.end()) return static_cast<std::size_t>(found - watched_.begin());
  watched_.push_back({location, part, word_count_});
  word_count_ += part.lanes;
  return watched_.size() - 1;
}

TimelineValue SpecializedBatch::last_use() {
  TimelineValue last = plain_.last_use();
  const std::lock_guard lock(mutex_);
  for (const Variant& variant : variants_) {
    if (variant.batch) last = std::max(last, variant.batch->last_use());
  }
  return last;
}

void SpecializedBatch::submit(std::span<const StorageView> views, std::span<const VkCommandBuffer> first, std::uint64_t times,
                              const RunOptions& options) {
  while (times > 0) {
    Words words;
    words.reserve(word_count_);
    std::shared_ptr<Batch> variant;
    if (!watched_.empty() && device()->stream().in_order([&] { return gather(views, words); }))
      variant = variant_for(words, times, options);
    if (!variant || (profiling() && !variant->is_one_timed_submission())) {
      plain_.submit({views, written_, kAlwaysValid, first}, times, options);
      return;
    }
    Words now;
    now.reserve(words.size());
    const std::function<bool()> still_valid = [&] {
      now.clear();
      return gather(views, now) && now == words;
    };
    // If another thread changed the words in the meantime, the next turn of this loop runs the remaining calls with the new words.
    times -= variant->submit({views, written_, still_valid, first}, times, options);
  }
}

bool SpecializedBatch::gather(std::span<const StorageView> views, Words& words) const {
  for (const Watched& watched : watched_) {
    const HostMirror* mirror = storage_of(views[watched.location.view]).mirror();
    if (mirror == nullptr) return false;
    const auto bytes = mirror->bytes();
    if (!bytes) return false;
    Specialization::append(words, watched.part, bytes->subspan(watched.location.offset, watched.location.bytes));
  }
  return true;
}

std::shared_ptr<Batch> SpecializedBatch::variant_for(const Words& words, std::uint64_t times, const RunOptions& options) {
  // While another thread compiles, this call uses the kernels for any words.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || device()->context().unusable()) return nullptr;
  auto known = std::ranges::find(variants_, words, &Variant::words);
  std::vector<Choice> choices(groups_.size());
  if (known != variants_.end()) {
    choices = known->choices;
  } else if (variants_.size() == Specialization::kMost) {
    return nullptr;
  }
  if (choose(words, times, choices)) {
    std::shared_ptr<Batch> batch = made_for(choices, options);
    if (known == variants_.end()) known = variants_.insert(known, {words, {}, nullptr});
    known->choices = std::move(choices);
    known->batch = std::move(batch);
  }
  return known == variants_.end() ? nullptr : known->batch;
}

bool SpecializedBatch::choose(const Words& words, std::uint64_t times, std::vector<Choice>& choices) const {
  bool changed = false;
  for (std::size_t index = 0; index < groups_.size(); ++index) {
    if (choices[index]) continue;
    const Group& group = groups_[index];
    Words own;
    for (const std::size_t watched : group.watched) {
      const auto first = words.begin() + static_cast<std::ptrdiff_t>(watched_[watched].first);
      own.insert(own.end(), first, first + watched_[watched].part.lanes);
    }
    // A graph has at most 2^20 calls, so the product does not overflow.
    const std::uint64_t calls = group.calls * std::min<std::uint64_t>(times, std::uint64_t{1} << 40);
    choices[index] = group.source->choose(own, group.recorded->groups().grid, calls);
    changed = changed || choices[index];
  }
  return changed;
}

std::shared_ptr<Batch> SpecializedBatch::made_for(const std::vector<Choice>& choices, const RunOptions& options) const {
  std::vector<std::shared_ptr<RecordedCall>> special;
  for (std::size_t index = 0; index < groups_.size(); ++index) {
    const RecordedCall& plain = *groups_[index].recorded;
    special.push_back(groups_[index].recorded);
    if (!choices[index]) continue;
    KernelSource::Ready ready =
        groups_[index].source->ready(plain.groups().for_kernels(), largest_recorded(plain), choices[index], options);
    // The device was lost meanwhile, and its arrays with it. Submitting the plain calls reports that.
    if (ready.device != device()) return nullptr;
    special.back() = RecordedCall::make(std::move(ready.device), std::move(ready.kernels), plain.arrays(), plain.groups());
  }
  std::vector<std::shared_ptr<RecordedCall>> made;
  for (std::size_t call = 0; call < calls_.size(); ++call) {
    made.push_back(group_of_[call] == kNoGroup ? calls_[call].recorded : special[group_of_[call]]);
  }
  auto batch = std::make_shared<Batch>(device(), std::move(made));
  return batch->is_one_submission() ? batch : nullptr;
}

}  // namespace vyre::run::vulkan
