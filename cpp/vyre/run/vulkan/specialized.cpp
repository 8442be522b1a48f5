#include "vyre/run/vulkan/specialized.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "vyre/run/vulkan/call.hpp"
#include "vyre/run/vulkan/device.hpp"

namespace vyre::run::vulkan {
namespace {

const std::function<bool()> kAlways;

std::vector<std::shared_ptr<Recording>> recordings(std::span<const SpecializedBatch::Call> calls) {
  std::vector<std::shared_ptr<Recording>> result;
  for (const SpecializedBatch::Call& call : calls) result.push_back(call.recording);
  return result;
}

std::uint64_t largest_array(const Recording& recording) {
  std::uint64_t largest = 0;
  for (const Recording::Array& array : recording.arrays()) largest = std::max<std::uint64_t>(largest, device_bytes(array.bytes));
  return largest;
}

}  // namespace

SpecializedBatch::SpecializedBatch(std::shared_ptr<Device> device, std::vector<Call> calls, std::span<const StorageView> views,
                                   std::vector<bool> written)
    : calls_(std::move(calls)), written_(std::move(written)), plain_(std::move(device), recordings(calls_)) {
  // Between two submissions of one batch, another thread might write the words.
  if (!plain_.whole()) return;
  const auto is_written = [&](const Storage* storage) {
    for (std::size_t view = 0; view < views.size(); ++view) {
      if (written_[view] && views[view].storage == storage) return true;
    }
    return false;
  };
  std::map<const Storage*, bool> still;  // whether the host alone writes it
  for (std::size_t call = 0; call < calls_.size(); ++call) {
    if (!calls_[call].source) continue;
    const std::size_t before = watched_.size();
    for (const Specialization::Part& part : calls_[call].source->parts()) {
      const Place& place = calls_[call].places[part.slot];
      const VulkanStorage& storage = storage_of(views[place.view]);
      const auto known = still.find(&storage);
      const bool stays = known != still.end() ? known->second : storage.contents() != nullptr && !is_written(&storage);
      still[&storage] = stays;
      if (!stays) {
        watched_.resize(before);
        break;
      }
      watched_.push_back({call, place, part});
    }
  }
}

void SpecializedBatch::submit(std::span<const StorageView> views, std::uint64_t times, const RunOptions& options) {
  while (times > 0) {
    Words words;
    std::shared_ptr<Batch> special;
    if (!watched_.empty() && device()->stream().in_order([&] { return gather(views, words); })) special = special_for(words, times);
    if (!special) {
      plain_.submit({views, written_, kAlways}, times, options);
      return;
    }
    Words now;
    now.reserve(words.size());
    const std::function<bool()> still = [&] {
      now.clear();
      return gather(views, now) && now == words;
    };
    // What is left when another thread wrote other words is done with these.
    times -= special->submit({views, written_, still}, times, options);
  }
}

bool SpecializedBatch::gather(std::span<const StorageView> views, Words& words) const {
  for (const Watched& watched : watched_) {
    const Contents* contents = storage_of(views[watched.place.view]).contents();
    if (contents == nullptr) return false;
    const auto bytes = contents->bytes();
    if (!bytes) return false;
    Specialization::append(words, watched.part, bytes->subspan(watched.place.offset, watched.place.bytes));
  }
  return true;
}

std::shared_ptr<Batch> SpecializedBatch::special_for(const Words& words, std::uint64_t times) {
  const std::lock_guard lock(mutex_);
  const auto known = std::ranges::find(specials_, words, &Special::words);
  if (known != specials_.end()) {
    if (choose(words, times, known->choices)) known->batch = made_for(known->choices);
    return known->batch;
  }
  if (specials_.size() == Specialization::kMost) return nullptr;
  std::vector<Choice> choices(calls_.size());
  if (!choose(words, times, choices)) return nullptr;
  std::shared_ptr<Batch> batch = made_for(choices);
  specials_.push_back({words, std::move(choices), batch});
  return batch;
}

bool SpecializedBatch::choose(const Words& words, std::uint64_t times, std::vector<Choice>& choices) const {
  bool changed = false;
  auto from = words.begin();
  for (auto watched = watched_.begin(); watched != watched_.end();) {
    const std::size_t call = watched->call;
    Words own;
    for (; watched != watched_.end() && watched->call == call; ++watched) {
      own.insert(own.end(), from, from + watched->part.lanes);
      from += watched->part.lanes;
    }
    if (choices[call]) continue;
    choices[call] = calls_[call].source->choose(own, calls_[call].recording->grid(), times);
    changed = changed || choices[call];
  }
  return changed;
}

std::shared_ptr<Batch> SpecializedBatch::made_for(const std::vector<Choice>& choices) const {
  std::vector<std::shared_ptr<Recording>> made;
  std::map<std::pair<const Recording*, Choice>, std::shared_ptr<Recording>> known;
  for (std::size_t call = 0; call < calls_.size(); ++call) {
    std::shared_ptr<Recording>& recording = made.emplace_back(calls_[call].recording);
    if (!choices[call]) continue;
    std::shared_ptr<Recording>& special = known[{recording.get(), choices[call]}];
    if (!special) {
      KernelSource::Ready ready = calls_[call].source->ready(recording->grid(), largest_array(*recording), choices[call]);
      // It was lost, and with it the arrays: the plain calls tell.
      if (ready.device != device()) return nullptr;
      special = Recording::make(std::move(ready.device), std::move(ready.kernels), recording->arrays(), recording->grid());
    }
    recording = special;
  }
  auto batch = std::make_shared<Batch>(device(), std::move(made));
  return batch->whole() ? batch : nullptr;
}

}  // namespace vyre::run::vulkan
