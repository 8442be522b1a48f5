#include "vyre/run/vulkan/vulkan_backend.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "vyre/base/error.hpp"
#include "vyre/run/checks/checks.hpp"
#include "vyre/run/vulkan/backend.hpp"
#include "vyre/run/vulkan/calls/host_call.hpp"
#include "vyre/run/vulkan/calls/large_host_call.hpp"
#include "vyre/run/vulkan/calls/storage.hpp"
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
    if (is_large_call(*now.device, buffers, options)) {
      run_large_host_call(now.device, now.kernels, buffers, grid, options);
    } else {
      run_host_call(*now.device, now.kernels, buffers, grid, options);
    }
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

VulkanBackend::VulkanBackend(FindLoader find_loader, Options options)
    : devices_(std::make_shared<Devices>(std::move(find_loader), std::move(options))) {}

std::vector<std::string> VulkanBackend::reasons_unavailable() {
  try {
    devices_->choose();
    return {};
  } catch (const Error& error) {
    std::vector<std::string> reasons;
    try {
      for (const DeviceInfo& device : devices_->infos()) reasons.insert(reasons.end(), device.reasons.begin(), device.reasons.end());
    } catch (const Error&) {
      // Then the first error is reported as the reason.
    }
    if (reasons.empty()) reasons.emplace_back(error.what());
    return reasons;
  }
}

std::vector<DeviceInfo> VulkanBackend::devices() {
  try {
    return devices_->infos();
  } catch (const NoVulkanError&) {
    return {};  // reasons_unavailable() says why
  }
}

void VulkanBackend::try_devices() {
  if (reasons_unavailable().empty()) devices_->try_all();
}

std::unique_ptr<Executable> VulkanBackend::prepare(const validate::ValidProgram& program, std::optional<std::size_t> device,
                                                   const Optimize& options, const RunOptions& waiting) {
  const auto proven = [&](std::uint32_t loop_budget) { return proven_within(loop_budget, program, options); };
  return std::make_unique<VulkanExecutable>(devices_, device ? *device : devices_->choose(proven), program, options, waiting);
}

std::unique_ptr<Storage> VulkanBackend::allocate(std::optional<std::size_t> device, std::uint64_t bytes, bool zeroed) {
  return std::make_unique<VulkanStorage>(devices_->open(device ? *device : devices_->choose()), bytes, zeroed);
}

std::shared_ptr<Recording> VulkanBackend::record(CallsToRecord calls, const RunOptions& waiting, std::span<const StorageView> expected) {
  std::vector<VulkanRecording::Prepared> prepared;
  for (const CallToRecord& call : calls.calls) prepared.push_back(static_cast<VulkanExecutable&>(*call.executable).prepared(call, waiting));
  return std::make_shared<VulkanRecording>(std::move(calls), std::move(prepared), waiting, expected);
}

std::unique_ptr<Executable> VulkanBackend::prepare_shader(Shader shader, std::optional<std::size_t> device, const RunOptions& waiting) {
  return std::make_unique<VulkanExecutable>(devices_, device ? *device : devices_->choose(), std::move(shader), waiting);
}

void VulkanBackend::check_nothing_is_abandoned(std::size_t device) { devices_->open(device)->stream().check_nothing_is_abandoned(); }

void VulkanBackend::abandon(std::size_t device) { devices_->open(device)->stream().abandon_all(); }

bool VulkanBackend::wait_until_idle(std::size_t device, double seconds) {
  return devices_->open(device)->stream().wait_for_abandoned_work(std::chrono::duration<double>(seconds));
}

}  // namespace vulkan

std::unique_ptr<Backend> make_vulkan_backend() { return std::make_unique<vulkan::VulkanBackend>(); }

}  // namespace vyre::run
