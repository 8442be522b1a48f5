// How it works: a Bound has descriptor sets and command buffers for one set of arrays, and memory for one set of words. If a submission
// comes with the arrays and words of a Bound, that Bound is submitted again, even while the device executes it. Otherwise the submission
// takes a Bound that the device is done with and rewrites its descriptor sets in place, or it makes a new Bound. If
// there is neither a free Bound nor room for a new one, it waits for the Bound that was used longest ago.
//
// On a device with Context::updates_after_bind, the commands of a Bound are recorded once, and there is more than one Bound only while the
// device uses the others. On other devices, rewriting a Bound records its commands anew, so the last few arrays keep theirs. Arrays that
// lost their Bound to others are remembered: if they come again, the limit is higher, so that arrays that take turns keep theirs.
#include "vyre/run/vulkan/programs/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/checks/recorded_slots.hpp"
#include "vyre/run/data_grid.hpp"
#include "vyre/run/vulkan/calls/call_checks.hpp"
#include "vyre/run/vulkan/calls/storage.hpp"
#include "vyre/run/vulkan/programs/plan.hpp"

namespace vyre::run::vulkan {
namespace {

// Where other arrays have the commands recorded anew, a Bound that is not in use is reused for arrays that are new only if there are kKept
// of them already. While the device uses them, there are at most kMost, and for arrays that come again kMostAgain.
constexpr std::size_t kKept = 4;
constexpr std::size_t kMost = 8;
constexpr std::size_t kMostAgain = 64;
// The most calls in all Bounds of arrays that come again, unless these are kMost Bounds or fewer. A recording with more calls than this has
// at most two Bounds.
constexpr std::size_t kManyCalls = 1024;

std::vector<SlotAddress> addresses_of(std::span<const StorageView> slots) {
  std::vector<SlotAddress> addresses;
  addresses.reserve(slots.size());
  for (const StorageView& slot : slots) addresses.push_back({slot.storage->id(), slot.offset});
  return addresses;
}

bool uses(const CallToRecord& call, RecordedArray::In in) {
  return std::ranges::any_of(call.arrays, [&](const RecordedArray& array) { return array.in == in; });
}

std::vector<bool> written_views(const CallsToRecord& calls) {
  std::vector<bool> written = written_slots(calls);
  written.resize(written.size() + calls.kept.size(), false);
  return written;
}

}  // namespace

// Device memory for words. The host writes it while the device does not use it. If the host cannot reach device memory, it writes staging
// memory, and commands() copies the words from there.
class VulkanRecording::Words final : public Retired {
 public:
  Words(Device& device, std::span<const std::byte> words) : device_(device.heap().allocate(std::max<std::size_t>(words.size(), 4))) {
    if (device_.mapped() == nullptr) {
      staged_ = device.heap().allocate(device_bytes(words.size()), BufferUse::Host);
      copy_.emplace(device.context());
      copy_->begin(true);
      copy_->order(kDevice, kTransfer);
      copy_->copy(staged_.buffer(), staged_.offset(), device_.buffer(), device_.offset(), device_bytes(words.size()));
      copy_->order(kTransfer, kShader);
      copy_->end();
      commands_ = copy_->handle();
    }
    write(words);
  }

  const Block& block() const { return device_; }
  void write(std::span<const std::byte> words) {
    std::byte* const to = staged_ ? staged_.mapped() : device_.mapped();
    if (!words.empty()) std::memcpy(to, words.data(), words.size());
  }
  // The commands that must be submitted before the device reads the new words.
  std::span<const VkCommandBuffer> commands() const { return {&commands_, copy_ ? std::size_t{1} : std::size_t{0}}; }

 private:
  Block device_;
  Block staged_;
  std::optional<Commands> copy_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
};

class VulkanRecording::Bound {
 public:
  Bound(const VulkanRecording& recording, std::span<const StorageView> slots, std::span<const std::byte> words)
      : recording_(recording), addresses_(addresses_of(slots)), words_(words.begin(), words.end()) {
    if (!words.empty()) memory_ = std::make_unique<Words>(*recording.device_, words);
    calls_ = recording.made(slots, memory_ ? &memory_->block() : nullptr);
    batch_.emplace(recording.device_, recording.ordered(calls_));
  }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;
  ~Bound() {
    if (memory_) recording_.device_->stream().retire(batch_ ? batch_->last_use() : 0, std::move(memory_));
  }

  bool has(const std::vector<SlotAddress>& addresses) const { return addresses_ == addresses; }
  const std::vector<SlotAddress>& addresses() const { return addresses_; }
  bool has(std::span<const std::byte> words) const { return std::ranges::equal(words_, words); }
  TimelineValue last_use() const { return batch_->last_use(); }

  // Whether other arrays can be bound without recording the commands anew, if the device can bind them. Commands with copies name the
  // arrays: see RecordedCall::rebind.
  bool keeps_commands() const {
    if (!recording_.device_->context().updates_after_bind()) return false;
    for (std::size_t call = 0; call < calls_.size(); ++call) {
      if (calls_[call]->copies() && uses(recording_.calls_->calls[call], RecordedArray::In::Slot)) return false;
    }
    return true;
  }

  void set_words(std::span<const std::byte> words) {
    if (has(words)) return;
    words_.assign(words.begin(), words.end());
    memory_->write(words);
    words_are_new_ = true;
  }
  // Returns whether the commands had to be recorded anew. Returns nothing if the arrays need new calls; this Bound must then not be used
  // any more.
  std::optional<bool> set_slots(std::span<const StorageView> slots) {
    std::vector<SlotAddress> addresses = addresses_of(slots);
    if (addresses_ == addresses) return false;
    addresses_ = std::move(addresses);
    for (std::size_t call = 0; call < calls_.size(); ++call) {
      const CallToRecord& given = recording_.calls_->calls[call];
      if (!uses(given, RecordedArray::In::Slot)) continue;
      const Block* const words = memory_ ? &memory_->block() : nullptr;
      if (!calls_[call]->rebind(recording_.arrays_of(given, slots, words), recording_.counts_of(given, slots, words))) return std::nullopt;
    }
    // The commands are still right: see RecordedCall::rebind. Slots that a call writes overlap no other slot (check_slots), and nothing
    // else has the kept arrays, so the same arrays of calls overlap as when the barriers were recorded.
    if (recording_.device_->context().updates_after_bind()) return false;
    batch_->record_again();
    return true;
  }

  void submit(std::span<const StorageView> views, const RunOptions& options) {
    const std::span<const VkCommandBuffer> first = words_are_new_ && memory_ ? memory_->commands() : std::span<const VkCommandBuffer>();
    batch_->submit({views, recording_.written_, kAlwaysValid, first}, 1, options);
    words_are_new_ = false;
  }

 private:
  const VulkanRecording& recording_;
  std::vector<SlotAddress> addresses_;
  std::vector<std::byte> words_;
  std::unique_ptr<Words> memory_;  // null for a recording without words
  bool words_are_new_ = true;
  Calls calls_;
  std::optional<Batch> batch_;
};

VulkanRecording::VulkanRecording(CallsToRecord calls, std::vector<KernelSource::Ready> ready)
    : calls_(std::make_shared<const CallsToRecord>(std::move(calls))), written_(written_views(*calls_)), device_(ready.front().device) {
  for (KernelSource::Ready& each : ready) {
    if (each.device != device_) {
      throw DeviceLostError(
          fmt::format("device `{}` was lost while calls were recorded. Fix: make its arrays anew, and call again.", device_->name()));
    }
    kernels_.push_back(std::move(each.kernels));
  }
  for (std::size_t index = 0; index < calls_->calls.size(); ++index) {
    const CallToRecord& call = calls_->calls[index];
    std::vector<std::uint64_t> sizes;
    for (const RecordedArray& array : call.arrays) {
      if (array.role == StorageView::Role::Buffer) sizes.push_back(array.bytes);
    }
    check_sizes(device_->context(), kernels_[index].plain->shader(), sizes);
    VYRE_ASSERT(!is_empty(call.grid));
  }
  for (std::size_t index = 0; index < calls_->calls.size(); ++index) {
    const CallToRecord& call = calls_->calls[index];
    const bool varies = uses(call, RecordedArray::In::Slot) || uses(call, RecordedArray::In::Words);
    fixed_.push_back(varies ? nullptr : made(index, {}, nullptr));
  }
}

VulkanRecording::~VulkanRecording() = default;

std::vector<StorageView> VulkanRecording::all(std::span<const StorageView> slots) const {
  std::vector<StorageView> views(slots.begin(), slots.end());
  for (const std::shared_ptr<Storage>& kept : calls_->kept) views.push_back({kept.get(), 0, kept->bytes()});
  return views;
}

RecordedCall::Array VulkanRecording::array_of(const RecordedArray& array, std::span<const StorageView> slots, const Block* words) const {
  if (array.in == RecordedArray::In::Words) return {words->buffer(), words->offset() + array.offset, array.bytes, array.length};
  const bool in_slot = array.in == RecordedArray::In::Slot;
  Storage* const storage = in_slot ? slots[array.index].storage : calls_->kept[array.index].get();
  const std::uint64_t begin = in_slot ? slots[array.index].offset : 0;
  return RecordedCall::array_of({storage, begin + array.offset, array.bytes, array.length, array.role});
}

std::vector<RecordedCall::Array> VulkanRecording::arrays_of(const CallToRecord& call, std::span<const StorageView> slots,
                                                            const Block* words) const {
  std::vector<RecordedCall::Array> arrays;
  arrays.reserve(call.arrays.size());
  for (const RecordedArray& array : call.arrays) {
    if (array.role == StorageView::Role::Buffer) arrays.push_back(array_of(array, slots, words));
  }
  return arrays;
}

std::optional<RecordedCall::Array> VulkanRecording::counts_of(const CallToRecord& call, std::span<const StorageView> slots,
                                                              const Block* words) const {
  if (call.arrays.empty() || call.arrays.back().role == StorageView::Role::Buffer) return std::nullopt;
  return array_of(call.arrays.back(), slots, words);
}

std::shared_ptr<RecordedCall> VulkanRecording::made(std::size_t index, std::span<const StorageView> slots, const Block* words) const {
  const CallToRecord& call = calls_->calls[index];
  RecordedCall::Groups groups{call.grid, counts_of(call, slots, words)};
  if (groups.counts) groups.counted_by = counted_by(call.arrays.back().role, kernels_[index].plain->shader().workgroup_size);
  return RecordedCall::make(device_, kernels_[index], arrays_of(call, slots, words), groups);
}

VulkanRecording::Calls VulkanRecording::made(std::span<const StorageView> slots, const Block* words) const {
  Calls calls;
  for (std::size_t index = 0; index < fixed_.size(); ++index) calls.push_back(fixed_[index] ? fixed_[index] : made(index, slots, words));
  return calls;
}

VulkanRecording::Calls VulkanRecording::ordered(const Calls& calls) const {
  Calls result;
  result.reserve(calls_->order.size());
  for (const std::uint32_t index : calls_->order) result.push_back(calls[index]);
  return result;
}

void VulkanRecording::check_usable(std::span<const StorageView> slots) const {
  for (const std::shared_ptr<Storage>& kept : calls_->kept) static_cast<const VulkanStorage&>(*kept).check_usable();
  for (const StorageView& slot : slots) {
    storage_of(slot).check_usable();
    VYRE_ASSERT(&storage_of(slot).device() == device_.get());
  }
}

VulkanRecording::Bound& VulkanRecording::bound_for(std::span<const StorageView> slots, std::span<const std::byte> words,
                                                   const Waiting& waiting) {
  const std::vector<SlotAddress> addresses = addresses_of(slots);
  const auto use = [&](std::size_t index) -> std::unique_ptr<Bound>& {
    std::rotate(bound_.begin(), bound_.begin() + static_cast<std::ptrdiff_t>(index),
                bound_.begin() + static_cast<std::ptrdiff_t>(index) + 1);
    return bound_.front();
  };
  for (std::size_t index = 0; index < bound_.size(); ++index) {
    if (bound_[index]->has(addresses) && bound_[index]->has(words)) return *use(index);
  }
  // Finds the free Bound that was used longest ago, and the same among the Bounds that have these arrays. The latter is preferred, because
  // its commands need not be recorded anew.
  std::optional<std::size_t> free, free_with_arrays;
  for (std::size_t index = bound_.size(); index-- > 0;) {
    if (!device_->stream().done(bound_[index]->last_use())) continue;
    if (!free) free = index;
    if (!free_with_arrays && bound_[index]->has(addresses)) free_with_arrays = index;
  }
  if (free_with_arrays) return rebind(use(*free_with_arrays), slots, words);
  const std::size_t calls = calls_->order.size();
  const bool many = calls > kManyCalls;
  const std::size_t most_again = std::clamp(kManyCalls / calls, kMost, kMostAgain);
  const bool again = !many && std::erase(left_, addresses) > 0;
  const std::size_t kept = many || (free && bound_[*free]->keeps_commands()) ? 1 : again ? most_again : kKept;
  if (free && bound_.size() >= kept) return rebind(use(*free), slots, words);
  if (bound_.size() < (many ? 2 : again ? most_again : kMost)) {
    auto made = std::make_unique<Bound>(*this, slots, words);
    ++times_recorded_;
    bound_.insert(bound_.begin(), std::move(made));
    return *bound_.front();
  }
  device_->stream().wait(bound_.back()->last_use(), waiting);
  return rebind(use(bound_.size() - 1), slots, words);
}

VulkanRecording::Bound& VulkanRecording::rebind(std::unique_ptr<Bound>& bound, std::span<const StorageView> slots,
                                                std::span<const std::byte> words) {
  struct DropOnThrow {
    std::vector<std::unique_ptr<Bound>>& list;
    bool keep = false;
    ~DropOnThrow() {
      if (!keep) list.erase(list.begin());
    }
  } guard{bound_};
  if (left_.size() == kMostAgain) left_.pop_back();
  left_.insert(left_.begin(), bound->addresses());
  std::erase(left_, addresses_of(slots));
  bound->set_words(words);
  const std::optional<bool> recorded = bound->set_slots(slots);
  if (!recorded) bound = std::make_unique<Bound>(*this, slots, words);
  if (recorded.value_or(true)) ++times_recorded_;
  guard.keep = true;
  return *bound;
}

void VulkanRecording::submit(std::span<const StorageView> slots, std::span<const std::byte> words, const RunOptions& options) {
  check_slots(*calls_, written_, slots);
  check_usable(slots);
  RunOptions steps = options;
  if (!steps.start) steps.start = std::chrono::steady_clock::now();
  const Waiting waiting(steps);
  // All submissions share the kept storages. One of them may be several submissions to the stream, so the next one begins only after all of
  // these were made.
  const auto alone = busy_.write(steps);
  bound_for(slots, words, waiting).submit(all(slots), steps);
}

Step VulkanRecording::step(std::span<const StorageView> slots, std::span<const std::byte> words) {
  check_slots(*calls_, written_, slots);
  check_usable(slots);
  // Keeps what the calls of the step use, until the device is done with them.
  struct Held {
    Held(std::shared_ptr<Device> of, std::shared_ptr<const CallsToRecord> given) : device(std::move(of)), recorded(std::move(given)) {}
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() {
      for (const std::shared_ptr<RecordedCall>& call : calls) raise(last_use, call->last_use);
      device->stream().retire(last_use, std::move(memory));
    }
    const std::shared_ptr<Device> device;
    const std::shared_ptr<const CallsToRecord> recorded;
    std::unique_ptr<Words> memory;
    Calls calls;
    std::atomic<TimelineValue> last_use = 0;
  };
  const auto held = std::make_shared<Held>(device_, calls_);
  if (!words.empty()) {
    held->memory = std::make_unique<Words>(*device_, words);
    if (!held->memory->commands().empty()) held->last_use = device_->stream().submit({.commands = held->memory->commands()});
  }
  held->calls = made(slots, held->memory ? &held->memory->block() : nullptr);
  std::vector<SpecializedBatch::Call> calls;
  for (const std::shared_ptr<RecordedCall>& call : ordered(held->calls)) calls.push_back({call, nullptr, {}});
  const std::vector<StorageView> views = all(slots);
  return {std::make_shared<VulkanPlan>(device_, std::move(calls), views, written_, held), views};
}

}  // namespace vyre::run::vulkan
