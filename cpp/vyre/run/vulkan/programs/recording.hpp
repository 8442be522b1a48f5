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
#include "vyre/run/vulkan/calls/batch.hpp"
#include "vyre/run/vulkan/calls/recorded_call.hpp"
#include "vyre/run/vulkan/programs/kernel_source.hpp"

namespace vyre::run::vulkan {

// Where the array of a slot lies.
struct SlotAddress {
  std::uint64_t id, offset;
  bool operator==(const SlotAddress&) const = default;
};

class VulkanRecording final : public Recording {
 public:
  // `ready` has the kernels of each call, and the device. Throws CapabilityError for arrays that are too large for the device.
  VulkanRecording(CallsToRecord calls, std::vector<KernelSource::Ready> ready);
  ~VulkanRecording() override;

  void submit(std::span<const StorageView> slots, std::span<const std::byte> words, const RunOptions& options) override;
  Step step(std::span<const StorageView> slots, std::span<const std::byte> words) override;
  bool usable() const override { return !device_->context().unusable(); }
  std::uint64_t times_recorded() const override { return times_recorded_; }

 private:
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
  std::shared_ptr<RecordedCall> made(std::size_t call, std::span<const StorageView> slots, const Block* words) const;
  // Makes all calls. Calls that use only kept storages are made once and shared.
  Calls made(std::span<const StorageView> slots, const Block* words) const;
  // The calls in the order in which they run, with repetitions.
  Calls ordered(const Calls& calls) const;
  // Called with write access to busy_.
  Bound& bound_for(std::span<const StorageView> slots, std::span<const std::byte> words, const Waiting& waiting);
  Bound& rebind(std::unique_ptr<Bound>& bound, std::span<const StorageView> slots, std::span<const std::byte> words);
  void check_usable(std::span<const StorageView> slots) const;

  const std::shared_ptr<const CallsToRecord> calls_;
  // For each view of all(), whether the calls write it. Kept storages count as not written: a failed call need not mark them as failed,
  // because no later submission depends on what it left in them.
  const std::vector<bool> written_;
  std::shared_ptr<Device> device_;
  std::vector<Kernels> kernels_;                // of each call
  Calls fixed_;                                 // of each call; null for one that works with slots or words
  SharedAccess busy_;                           // guards what follows
  std::vector<std::unique_ptr<Bound>> bound_;   // the one used last first
  std::vector<std::vector<SlotAddress>> left_;  // arrays whose Bound was taken for others, the latest first
  std::atomic<std::uint64_t> times_recorded_ = 0;
};

}  // namespace vyre::run::vulkan
