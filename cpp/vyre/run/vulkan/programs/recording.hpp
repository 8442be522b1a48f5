// Implements run::Recording. It keeps descriptor sets and command buffers for the arrays of the latest submissions.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "vyre/run/host/shared_access.hpp"
#include "vyre/run/recording.hpp"
#include "vyre/run/vulkan/calls/recorded_call.hpp"
#include "vyre/run/vulkan/programs/kernel_source.hpp"
#include "vyre/run/vulkan/programs/specialized_batch.hpp"

namespace vyre::run::vulkan {

// Where the array of a slot lies.
struct SlotAddress {
  std::uint64_t id, offset;
  bool operator==(const SlotAddress&) const = default;
};

class VulkanRecording final : public Recording {
 public:
  // The kernels of a call, and what gives kernels that are specialised for the words of its Uniform buffers.
  struct Prepared {
    KernelSource::Ready ready;
    std::shared_ptr<KernelSource> source;
  };
  // Throws CapabilityError for arrays that are too large for the device. `expected` is as for Backend::record.
  VulkanRecording(CallsToRecord calls, std::vector<Prepared> prepared, const RunOptions& waiting, std::span<const StorageView> expected);
  ~VulkanRecording() override;

  bool usable() const override { return !device_->context().unusable(); }
  std::uint64_t times_recorded() const override { return times_recorded_; }

 private:
  void submit_recorded(std::span<const StorageView> slots, std::span<const std::byte> words, const RunOptions& options,
                       std::uint64_t times) override;
  class Words;
  // The calls, bound to the arrays and the words of one or more submissions.
  class Bound;
  using Calls = std::vector<std::shared_ptr<RecordedCall>>;

  // The views of the slots, and then of the kept storages.
  std::vector<StorageView> all(std::span<const StorageView> slots) const;
  RecordedCall::Array array_of(const RecordedArray& array, std::span<const StorageView> slots, const Block* words) const;
  // The arrays that the call binds.
  std::vector<RecordedCall::Array> arrays_of(const CallToRecord& call, std::span<const StorageView> slots, const Block* words) const;
  // The array that holds the counts of a grid from data.
  std::optional<RecordedCall::Array> counts_of(const CallToRecord& call, std::span<const StorageView> slots, const Block* words) const;
  bool can_specialize(const CallToRecord& call, const KernelSource& source) const;
  std::shared_ptr<RecordedCall> made(std::size_t call, std::span<const StorageView> slots, const Block* words) const;
  // Makes all calls. Calls that use only kept storages are made once and shared.
  Calls made(std::span<const StorageView> slots, const Block* words) const;
  // The calls in the order in which they run, with repetitions.
  std::vector<SpecializedBatch::Call> ordered(const Calls& calls, std::span<const StorageView> slots) const;
  // The Bound that has these slots and words, or null.
  Bound* find(std::span<const StorageView> slots, std::span<const std::byte> words) const;
  // These are called with write access to busy_.
  Bound& bind(std::span<const StorageView> slots, std::span<const std::byte> words, const RunOptions& options);
  Bound& rebind(std::size_t index, std::span<const StorageView> slots, std::span<const std::byte> words);
  void check_usable(std::span<const StorageView> slots) const;

  // For each view of all(), whether the calls write it. Kept storages count as not written: a failed call need not mark them as failed,
  // because no later submission depends on what it left in them.
  std::vector<bool> written_views_;
  std::shared_ptr<Device> device_;
  std::vector<Kernels> kernels_;                        // of each call
  std::vector<std::shared_ptr<KernelSource>> sources_;  // of each call; null for one without specialised kernels
  bool specializes_ = false;                            // whether a call has them
  Calls fixed_;                                         // of each call; null for one that works with slots or words
  SharedAccess busy_;                                   // guards what follows: read access lets a thread submit a Bound
  std::vector<std::unique_ptr<Bound>> bound_;
  std::vector<std::vector<SlotAddress>> left_;  // arrays whose Bound was taken for others, the latest first
  std::atomic<std::uint64_t> times_recorded_ = 0;
};

}  // namespace vyre::run::vulkan
