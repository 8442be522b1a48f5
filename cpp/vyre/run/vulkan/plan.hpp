// A call recorded once for its arrays, and submitted as often as wanted.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "vyre/run/storage.hpp"
#include "vyre/run/vulkan/pipeline.hpp"
#include "vyre/run/vulkan/storage.hpp"

namespace vyre::run::vulkan {

class VulkanPlan final : public Plan {
 public:
  // Throws CapabilityError for arrays that the device cannot bind.
  VulkanPlan(std::shared_ptr<Device> device, Kernels kernels, std::span<const StorageView> views, Grid grid);
  ~VulkanPlan() override;

  void submit(std::span<const StorageView> views, const RunOptions& options) override;

 private:
  class Recording;
  void submit_recorded(std::span<const StorageView> views, const Waiting& waiting);
  void submit_checked(std::span<const StorageView> views, const Waiting& waiting);

  const std::shared_ptr<Device> device_;
  std::unique_ptr<Recording> recording_;
  std::atomic<std::uint64_t> last_use_ = 0;
  std::mutex checked_;  // held while the status word is in use
};

}  // namespace vyre::run::vulkan
