#include "vyre/run/cuda/programs/recording.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/run/cuda/calls/storage.hpp"
#include "vyre/run/deadline.hpp"
#include "vyre/run/profile.hpp"

namespace vyre::run::cuda {
namespace {

// The most sets of arrays whose graphs a recording keeps. It keeps fewer if they have many calls in all, but never fewer than kFewKept.
constexpr std::size_t kMostKept = 64;
constexpr std::size_t kFewKept = 8;
constexpr std::size_t kManyCalls = 1024;

// Returns the device of the kernels of all calls.
std::shared_ptr<Device> device_of(const std::vector<KernelSource::Ready>& ready) {
  for (const KernelSource::Ready& each : ready) check_same(*ready.front().device, *each.device);
  return ready.front().device;
}

}  // namespace

CudaRecording::CudaRecording(CallsToRecord calls, std::vector<KernelSource::Ready> ready, std::span<const StorageView> expected)
    : Recording(std::move(calls)), device_(device_of(ready)) {
  for (std::size_t index = 0; index < calls_.calls.size(); ++index) {
    std::vector<std::uint32_t> lengths;
    for (const RecordedArray& array : calls_.calls[index].arrays) {
      if (array.role == StorageView::Role::Buffer) lengths.push_back(array.length);
    }
    launches_.push_back(
        std::make_unique<const Launch>(device_->context(), std::move(ready[index].kernels), calls_.calls[index].grid, lengths));
  }
  if (calls_.words_bytes > 0) words_memory_ = device_->pool().allocate(calls_.words_bytes);
  check_usable(expected);
  if (!expected.empty() && calls_.order.size() > 1) graph_for(expected, true);
}

CudaRecording::~CudaRecording() {
  for (Kept& kept : kept_) retire(*device_, std::move(kept.graph));
}

Arrays CudaRecording::arrays_of(const CallToRecord& call, std::span<const StorageView> slots, CUdeviceptr words) const {
  Arrays arrays;
  arrays.addresses.reserve(call.arrays.size());
  for (const RecordedArray& array : call.arrays) {
    CUdeviceptr address = array.offset;
    switch (array.in) {
      case RecordedArray::In::Slot:
        address += storage_of(slots[array.index]).address() + slots[array.index].offset;
        break;
      case RecordedArray::In::Kept:
        address += static_cast<const CudaStorage&>(*calls_.kept[array.index]).address();
        break;
      case RecordedArray::In::Words:
        address += words;
        break;
    }
    if (array.role == StorageView::Role::Buffer) {
      arrays.add(address, array.bytes);
    } else {
      arrays.counts = address;
    }
  }
  return arrays;
}

std::vector<Bound> CudaRecording::bound(std::span<const StorageView> slots, CUdeviceptr words) const {
  std::vector<Arrays> arrays;
  arrays.reserve(calls_.calls.size());
  for (const CallToRecord& call : calls_.calls) arrays.push_back(arrays_of(call, slots, words));
  std::vector<Bound> all;
  all.reserve(calls_.order.size());
  for (const std::uint32_t index : calls_.order) all.push_back({launches_[index].get(), arrays[index]});
  return all;
}

void CudaRecording::set_words(std::span<const std::byte> words, const RunOptions& options) {
  if (words.empty() || (has_words_ && std::ranges::equal(words_, words))) return;
  has_words_ = false;
  // The device reads the words of the last submission before it writes these: both are in the order of the stream.
  device_->transfers().upload(
      words, words_memory_.address(), [](TimelineValue) {}, options);
  words_.assign(words.begin(), words.end());
  has_words_ = true;
}

Graph* CudaRecording::graph_for(std::span<const StorageView> slots, bool at_once) {
  std::vector<CUdeviceptr> addresses;
  for (const StorageView& slot : slots) addresses.push_back(storage_of(slot).address() + slot.offset);
  auto found = std::ranges::find(kept_, addresses, &Kept::slots);
  if (found == kept_.end()) {
    if (kept_.size() == std::clamp(kManyCalls / calls_.order.size(), kFewKept, kMostKept)) {
      retire(*device_, std::move(kept_.back().graph));
      kept_.pop_back();
    }
    found = kept_.insert(kept_.begin(), {std::move(addresses)});
    if (!at_once) return nullptr;
  }
  std::rotate(kept_.begin(), found, found + 1);
  Kept& kept = kept_.front();
  if (kept.may_pay) {
    const std::vector<Bound> calls = bound(slots, words_memory_.address());
    if (Graph::pays(calls)) {
      kept.graph = std::make_unique<Graph>(*device_, calls);
      ++times_recorded_;
    }
    kept.may_pay = false;
  }
  return kept.graph.get();
}

void CudaRecording::submit_calls(std::span<const StorageView> slots, std::span<const std::byte> words, const Transfers::Used& used,
                                 const RunOptions& options) {
  set_words(words, options);
  // A graph is made only when the same arrays come for the second time. A profile shows each call separately, so the calls are submitted
  // one by one.
  if (Graph* const graph = profiling() ? nullptr : graph_for(slots)) {
    graph->submit(used, options);
    return;
  }
  for (const Bound& call : bound(slots, words_memory_.address())) submit_call(*device_, *call.launch, call.arrays, used, options);
}

void CudaRecording::check_usable(std::span<const StorageView> slots) const {
  for (const std::shared_ptr<Storage>& kept : calls_.kept) static_cast<const CudaStorage&>(*kept).check_usable();
  for (const StorageView& slot : slots) {
    storage_of(slot).check_usable();
    VYRE_ASSERT(&storage_of(slot).device() == device_.get());
  }
}

void CudaRecording::submit_recorded(std::span<const StorageView> slots, std::span<const std::byte> words, const RunOptions& options,
                                    std::uint64_t times) {
  check_usable(slots);
  if (calls_.order.empty()) return;
  std::optional<RunOptions> made;
  const RunOptions& steps = counting_from_now(options, made);
  const Turns turns(calls_, steps);
  // A graph would make a single call no faster, so the call needs nothing of what `busy_` guards, unless there are words.
  const bool single = calls_.order.size() == 1 && words.empty();
  const auto used = [&](TimelineValue value) {
    use(slots, value);
    for (const std::shared_ptr<Storage>& kept : calls_.kept) static_cast<CudaStorage&>(*kept).used_until(value);
  };
  SharedAccess::Writing alone;
  if (!single) alone = busy_.write(steps);
  try {
    for (std::uint64_t turn = 0; turn < times; ++turn) {
      if (single) {
        const std::uint32_t call = calls_.order.front();
        submit_call(*device_, *launches_[call], arrays_of(calls_.calls[call], slots, 0), used, steps);
      } else {
        submit_calls(slots, words, used, steps);
      }
    }
  } catch (...) {
    fail_written(slots, written_);
    throw;
  }
}

}  // namespace vyre::run::cuda
