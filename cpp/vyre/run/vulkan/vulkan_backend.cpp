#include "vyre/run/vulkan/vulkan_backend.hpp"

#include <algorithm>
#include <utility>

#include "vyre/base/error.hpp"
#include "vyre/run/checks/checks.hpp"
#include "vyre/run/vulkan/calls/host_call.hpp"
#include "vyre/run/vulkan/compile/translate.hpp"
#include "vyre/run/vulkan/programs/kernel_source.hpp"
#include "vyre/run/vulkan/programs/recording.hpp"

namespace vyre::run {
namespace vulkan {
namespace {

VkDeviceSize largest_array(std::span<const BufferView> views) {
  VkDeviceSize largest = 0;
  for (const BufferView& view : views) largest = std::max(largest, device_bytes(view.bytes.size()));
  return largest;
}

class VulkanExecutable final : public Executable {
 public:
  // `source` are the arguments of KernelSource's constructor that follow `devices` and `device`.
  template <class... Source>
  explicit VulkanExecutable(std::shared_ptr<Devices> devices, std::size_t index, Source&&... source)
      : devices_(devices), source_(std::make_shared<KernelSource>(std::move(devices), index, std::forward<Source>(source)...)) {}

  void run(std::span<const BufferView> buffers, Grid grid, const RunOptions& options) override {
    devices_->check_process();
    check_in_order(options, "vulkan");
    const KernelSource::Ready now = source_->ready(grid, largest_array(buffers), source_->choose(buffers, grid), options);
    run_host_call(*now.device, now.kernels, buffers, grid, options);
  }

  // The kernels of a call that is to be recorded, and their source.
  VulkanRecording::Prepared prepared(const CallToRecord& call, const RunOptions& waiting) {
    devices_->check_process();
    VkDeviceSize largest = 0;
    for (const RecordedArray& array : call.arrays) {
      if (array.role == StorageView::Role::Buffer) largest = std::max(largest, device_bytes(array.bytes));
    }
    // A grid from data gets no coarsened kernel: see RecordedCall::Groups::for_kernels.
    const Grid for_kernels = call.counts() == nullptr ? call.grid : Grid{0, 0, 0};
    return {source_->ready(for_kernels, largest, std::nullopt, waiting), source_};
  }

  std::vector<DriverFact> driver_facts(const RunOptions& waiting) override {
    devices_->check_process();
    const KernelSource::Ready now = source_->ready({1, 1, 1}, 0, std::nullopt, waiting);
    return now.device->statistics(now.kernels.plain->shader());
  }

 private:
  const std::shared_ptr<Devices> devices_;
  const std::shared_ptr<KernelSource> source_;
};

}  // namespace

std::unique_ptr<Executable> VulkanBackend::prepare(const validate::ValidProgram& program, std::optional<std::size_t> device,
                                                   const Optimize& options, const RunOptions& waiting) {
  const auto proven = [&](std::uint32_t loop_budget) { return proven_within(loop_budget, program, options); };
  return std::make_unique<VulkanExecutable>(devices_, device ? *device : devices_->choose(proven), program, options, waiting);
}

std::shared_ptr<Recording> VulkanBackend::record(CallsToRecord calls, const RunOptions& waiting, std::span<const StorageView> expected) {
  std::vector<VulkanRecording::Prepared> prepared;
  for (const CallToRecord& call : calls.calls) prepared.push_back(static_cast<VulkanExecutable&>(*call.executable).prepared(call, waiting));
  return std::make_shared<VulkanRecording>(std::move(calls), std::move(prepared), waiting, expected);
}

std::unique_ptr<Executable> VulkanBackend::prepare_shader(Shader shader, std::optional<std::size_t> device, const RunOptions& waiting) {
  return std::make_unique<VulkanExecutable>(devices_, device ? *device : devices_->choose(), std::move(shader), waiting);
}

}  // namespace vulkan

std::unique_ptr<Backend> make_vulkan_backend() { return std::make_unique<vulkan::VulkanBackend>(); }

}  // namespace vyre::run
