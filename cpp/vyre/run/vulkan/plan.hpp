// Calls, and sequences of them, that are made ready once for their arrays and submitted as often as wanted.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "vyre/run/storage.hpp"
#include "vyre/run/vulkan/batch.hpp"
#include "vyre/run/vulkan/pipeline.hpp"

namespace vyre::run::vulkan {

class VulkanPlan final : public Plan {
 public:
  // Throws CapabilityError for arrays that the device cannot bind.
  VulkanPlan(std::shared_ptr<Device> device, Kernels kernels, std::span<const StorageView> views, Grid grid);

  void submit(std::span<const StorageView> views, const RunOptions& options) override { batch_.submit(views, written_, 1, options); }
  const Batch& batch() const { return batch_; }
  const std::vector<bool>& written() const { return written_; }

 private:
  const std::vector<bool> written_;
  Batch batch_;
};

class VulkanSequence final : public Sequence {
 public:
  explicit VulkanSequence(std::span<const Step> steps);

  void submit(std::uint64_t times, const RunOptions& options) override { batch_.submit(views_, written_, times, options); }

 private:
  // One a storage, written if any step writes it.
  std::vector<StorageView> views_;
  std::vector<bool> written_;
  Batch batch_;
};

}  // namespace vyre::run::vulkan
