// How it works: a Bound has descriptor sets and command buffers for one set of arrays, and memory for one set of words. If a submission
// comes with the arrays and words of a Bound, that Bound is submitted again, even while the device executes it. Otherwise the submission
// takes a Bound that the device is done with and rewrites its descriptor sets in place, or it makes a new Bound. If there is neither a free
// Bound nor room for a new one, it waits for the Bound that was used longest ago. Threads whose arrays are bound submit at the same time.
//
// On a device with Context::updates_after_bind, the commands of a Bound are recorded once, and there is more than one Bound only while the
// device uses the others. On other devices, and for calls that may run on specialised kernels, rewriting a Bound records its commands anew,
// so the last few arrays keep theirs. Arrays that lost their Bound to others are remembered: if they come again, the limit is higher, so
// that arrays that take turns keep theirs.
#include "vyre/run/vulkan/programs/recording.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/run/data_grid.hpp"
#include "vyre/run/deadline.hpp"
#include "vyre/run/vulkan/calls/call_checks.hpp"
#include "vyre/run/vulkan/calls/storage.hpp"

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
    make_batch(slots);
  }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;
  ~Bound() {
    if (memory_) recording_.device_->stream().retire(batch_ ? batch_->last_use() : 0, std::move(memory_));
  }

  bool has(std::span<const StorageView> slots) const {
    return std::ranges::equal(addresses_, slots, [](const SlotAddress& address, const StorageView& slot) {
      return address == SlotAddress{slot.storage->id(), slot.offset};
    });
  }
  const std::vector<SlotAddress>& addresses() const { return addresses_; }
  bool has(std::span<const std::byte> words) const { return std::ranges::equal(words_, words); }
  TimelineValue last_use() { return batch_->last_use(); }

  // Whether other arrays can be bound without recording the commands anew, if the device can bind them. Commands with copies name the
  // arrays (RecordedCall::rebind), and so do those of specialised kernels.
  bool keeps_commands() const {
    if (recording_.specializes_ || !recording_.device_->context().updates_after_bind()) return false;
    for (std::size_t call = 0; call < calls_.size(); ++call) {
      if (calls_[call]->copies() && uses(recording_.calls_.calls[call], RecordedArray::In::Slot)) return false;
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
    if (has(slots)) return false;
    addresses_ = addresses_of(slots);
    for (std::size_t call = 0; call < calls_.size(); ++call) {
      const CallToRecord& given = recording_.calls_.calls[call];
      if (!uses(given, RecordedArray::In::Slot)) continue;
      const Block* const words = memory_ ? &memory_->block() : nullptr;
      if (!calls_[call]->rebind(recording_.arrays_of(given, slots, words), recording_.counts_of(given, slots, words))) return std::nullopt;
    }
    // The commands are still right: see RecordedCall::rebind. Slots that a call writes overlap no other slot (check_slots), and nothing
    // else has the kept arrays, so the same arrays of calls overlap as when the barriers were recorded.
    if (recording_.specializes_) {
      make_batch(slots);
      return true;
    }
    if (recording_.device_->context().updates_after_bind()) return false;
    batch_->record_again();
    return true;
  }

  void submit(std::span<const StorageView> slots, std::uint64_t times, const RunOptions& options) {
    const bool only_slots = recording_.calls_.kept.empty();
    const std::vector<StorageView> all = only_slots ? std::vector<StorageView>() : recording_.all(slots);
    if (!memory_) return batch_->submit(only_slots ? slots : all, {}, times, options);
    batch_->submit(only_slots ? slots : all, words_are_new_ ? memory_->commands() : std::span<const VkCommandBuffer>(), times, options);
    words_are_new_ = false;
  }

 private:
  void make_batch(std::span<const StorageView> slots) {
    const std::vector<StorageView> all = recording_.all(slots);
    batch_.emplace(recording_.device_, recording_.ordered(calls_, slots), all, recording_.written_views_);
  }

  const VulkanRecording& recording_;
  std::vector<SlotAddress> addresses_;
  std::vector<std::byte> words_;
  std::unique_ptr<Words> memory_;  // null for a recording without words
  bool words_are_new_ = true;
  Calls calls_;
  std::optional<SpecializedBatch> batch_;
};

VulkanRecording::VulkanRecording(CallsToRecord calls, std::vector<Prepared> prepared, const RunOptions& waiting,
                                 std::span<const StorageView> expected)
    : Recording(std::move(calls)), written_views_(written_), device_(prepared.front().ready.device) {
  written_views_.resize(written_.size() + calls_.kept.size(), false);
  for (Prepared& each : prepared) {
    check_same(*device_, *each.ready.device);
    kernels_.push_back(std::move(each.ready.kernels));
  }
  for (std::size_t index = 0; index < calls_.calls.size(); ++index) {
    const CallToRecord& call = calls_.calls[index];
    std::vector<std::uint64_t> sizes;
    for (const RecordedArray& array : call.arrays) {
      if (array.role == StorageView::Role::Buffer) sizes.push_back(array.bytes);
    }
    check_sizes(device_->context(), kernels_[index].plain->shader(), sizes);
    const bool can = can_specialize(call, *prepared[index].source);
    sources_.push_back(can ? std::move(prepared[index].source) : nullptr);
    specializes_ = specializes_ || can;
  }
  for (std::size_t index = 0; index < calls_.calls.size(); ++index) {
    const CallToRecord& call = calls_.calls[index];
    const bool varies = uses(call, RecordedArray::In::Slot) || uses(call, RecordedArray::In::Words);
    fixed_.push_back(varies ? nullptr : made(index, {}, nullptr));
  }
  check_usable(expected);
  if (!expected.empty() && !calls_.order.empty()) bind(expected, {}, waiting);
}

VulkanRecording::~VulkanRecording() = default;

std::vector<StorageView> VulkanRecording::all(std::span<const StorageView> slots) const {
  std::vector<StorageView> views(slots.begin(), slots.end());
  for (const std::shared_ptr<Storage>& kept : calls_.kept) views.push_back({kept.get(), 0, kept->bytes()});
  return views;
}

RecordedCall::Array VulkanRecording::array_of(const RecordedArray& array, std::span<const StorageView> slots, const Block* words) const {
  if (array.in == RecordedArray::In::Words) return {words->buffer(), words->offset() + array.offset, array.bytes, array.length};
  const bool in_slot = array.in == RecordedArray::In::Slot;
  Storage* const storage = in_slot ? slots[array.index].storage : calls_.kept[array.index].get();
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
  if (call.counts() == nullptr) return std::nullopt;
  return array_of(*call.counts(), slots, words);
}

bool VulkanRecording::can_specialize(const CallToRecord& call, const KernelSource& source) const {
  // The host knows the words of slots from their mirrors.
  const auto in_slot = [&](const Specialization::Part& part) { return call.arrays[part.slot].in == RecordedArray::In::Slot; };
  return calls_.words_bytes == 0 && !source.parts().empty() && std::ranges::all_of(source.parts(), in_slot);
}

std::shared_ptr<RecordedCall> VulkanRecording::made(std::size_t index, std::span<const StorageView> slots, const Block* words) const {
  const CallToRecord& call = calls_.calls[index];
  RecordedCall::Groups groups{call.grid, counts_of(call, slots, words)};
  if (groups.counts) groups.counted_by = counted_by(call.counts()->role, kernels_[index].plain->shader().workgroup_size);
  return RecordedCall::make(device_, kernels_[index], arrays_of(call, slots, words), groups);
}

VulkanRecording::Calls VulkanRecording::made(std::span<const StorageView> slots, const Block* words) const {
  Calls calls;
  for (std::size_t index = 0; index < fixed_.size(); ++index) calls.push_back(fixed_[index] ? fixed_[index] : made(index, slots, words));
  return calls;
}

std::vector<SpecializedBatch::Call> VulkanRecording::ordered(const Calls& calls, std::span<const StorageView> slots) const {
  std::vector<SpecializedBatch::Call> different;
  for (std::size_t index = 0; index < calls.size(); ++index) {
    SpecializedBatch::Call& call = different.emplace_back(SpecializedBatch::Call{calls[index], sources_[index], {}});
    if (!call.source) continue;
    for (const RecordedArray& array : calls_.calls[index].arrays) {
      const bool in_slot = array.in == RecordedArray::In::Slot;
      call.locations.push_back(
          {array.index + (in_slot ? 0 : slots.size()), array.offset + (in_slot ? slots[array.index].offset : 0), array.bytes});
    }
  }
  std::vector<SpecializedBatch::Call> result;
  result.reserve(calls_.order.size());
  for (const std::uint32_t index : calls_.order) result.push_back(different[index]);
  return result;
}

void VulkanRecording::check_usable(std::span<const StorageView> slots) const {
  for (const std::shared_ptr<Storage>& kept : calls_.kept) static_cast<const VulkanStorage&>(*kept).check_usable();
  for (const StorageView& slot : slots) {
    storage_of(slot).check_usable();
    VYRE_ASSERT(&storage_of(slot).device() == device_.get());
  }
}

VulkanRecording::Bound* VulkanRecording::find(std::span<const StorageView> slots, std::span<const std::byte> words) const {
  for (const std::unique_ptr<Bound>& bound : bound_) {
    if (bound->has(slots) && bound->has(words)) return bound.get();
  }
  return nullptr;
}

VulkanRecording::Bound& VulkanRecording::bind(std::span<const StorageView> slots, std::span<const std::byte> words,
                                              const RunOptions& options) {
  std::optional<std::size_t> oldest;  // used longest ago
  for (std::size_t index = 0; index < bound_.size(); ++index) {
    const TimelineValue last = bound_[index]->last_use();
    // Only the words are others, and the commands need not be recorded anew.
    if (bound_[index]->has(slots) && device_->stream().done(last)) return rebind(index, slots, words);
    if (!oldest || last < bound_[*oldest]->last_use()) oldest = index;
  }
  const bool free = oldest && device_->stream().done(bound_[*oldest]->last_use());
  const std::size_t calls = calls_.order.size();
  const bool many = calls > kManyCalls;
  const std::size_t most_again = std::clamp(kManyCalls / calls, kMost, kMostAgain);
  const bool again = !many && std::erase(left_, addresses_of(slots)) > 0;
  const std::size_t kept = many || (free && bound_[*oldest]->keeps_commands()) ? 1 : again ? most_again : kKept;
  if (free && bound_.size() >= kept) return rebind(*oldest, slots, words);
  if (bound_.size() < (many ? 2 : again ? most_again : kMost)) {
    bound_.push_back(std::make_unique<Bound>(*this, slots, words));
    ++times_recorded_;
    return *bound_.back();
  }
  device_->stream().wait(bound_[*oldest]->last_use(), Waiting(options));
  return rebind(*oldest, slots, words);
}

VulkanRecording::Bound& VulkanRecording::rebind(std::size_t index, std::span<const StorageView> slots, std::span<const std::byte> words) {
  // If this throws, the Bound is dropped.
  std::unique_ptr<Bound> bound = std::move(bound_[index]);
  bound_.erase(bound_.begin() + static_cast<std::ptrdiff_t>(index));
  if (left_.size() == kMostAgain) left_.pop_back();
  left_.insert(left_.begin(), bound->addresses());
  std::erase(left_, addresses_of(slots));
  bound->set_words(words);
  const std::optional<bool> recorded = bound->set_slots(slots);
  if (!recorded) bound = std::make_unique<Bound>(*this, slots, words);
  if (recorded.value_or(true)) ++times_recorded_;
  bound_.push_back(std::move(bound));
  return *bound_.back();
}

void VulkanRecording::submit_recorded(std::span<const StorageView> slots, std::span<const std::byte> words, const RunOptions& options,
                                      std::uint64_t times) {
  check_usable(slots);
  if (calls_.order.empty()) return;
  std::optional<RunOptions> made;
  const RunOptions& steps = counting_from_now(options, made);
  // One submission may be several to the stream, so one that shares kept storages begins only after all of these were made.
  const Turns turns(calls_, steps);
  {
    const SharedAccess::Reading others_submit = busy_.read(steps);
    if (Bound* const bound = find(slots, words)) return bound->submit(slots, times, steps);
  }
  const SharedAccess::Writing alone = busy_.write(steps);
  // Another thread may have bound them meanwhile.
  Bound* const bound = find(slots, words);
  (bound != nullptr ? *bound : bind(slots, words, steps)).submit(slots, times, steps);
}

}  // namespace vyre::run::vulkan
