// Implements run::Plan and run::Sequence: calls of resident arrays, prepared once and submitted as often as wanted.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "vyre/run/storage.hpp"
#include "vyre/run/vulkan/compile/pipeline.hpp"
#include "vyre/run/vulkan/programs/kernel_source.hpp"
#include "vyre/run/vulkan/programs/specialized_batch.hpp"

namespace vyre::run::vulkan {

class VulkanPlan final : public Plan {
 public:
  // The call runs on the kernels of `ready`, or, when the same words in Uniform buffers come often, on kernels of `source` that are
  // specialised for these words. If the last of `views` is that of a grid from data, `ready` must have no coarsened kernel. Throws
  // CapabilityError for arrays that are too large for the device.
  VulkanPlan(KernelSource::Ready ready, std::shared_ptr<KernelSource> source, std::span<const StorageView> views, Grid grid);

  // A plan of several calls on these views. The plan keeps `held`, which owns the objects that the calls use, alive.
  VulkanPlan(std::shared_ptr<Device> device, std::vector<SpecializedBatch::Call> calls, std::span<const StorageView> views,
             std::vector<bool> written, std::shared_ptr<void> held);

  void submit(std::span<const StorageView> views, const RunOptions& options) override { batch_.submit(views, 1, options); }
  const SpecializedBatch& batch() const { return batch_; }

 private:
  const std::shared_ptr<void> held_;
  SpecializedBatch batch_;
};

class VulkanSequence final : public Sequence {
 public:
  explicit VulkanSequence(std::span<const Step> steps);

  void submit(std::uint64_t times, const RunOptions& options) override { batch_.submit(arrays_.views, times, options); }

 private:
  // A view for each storage, and whether any step writes it.
  struct Arrays {
    std::vector<StorageView> views;
    std::vector<bool> written;
  };
  // Returns the arrays of all steps, and appends the calls of all steps to `calls`.
  static Arrays joined(std::span<const Step> steps, std::vector<SpecializedBatch::Call>& calls);
  VulkanSequence(std::span<const Step> steps, std::vector<SpecializedBatch::Call> calls);

  std::vector<std::shared_ptr<Plan>> plans_;
  Arrays arrays_;
  SpecializedBatch batch_;
};

}  // namespace vyre::run::vulkan
