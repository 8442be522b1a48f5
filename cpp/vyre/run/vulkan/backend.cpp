#include "vyre/run/vulkan/backend.hpp"

#include <mutex>

#include "vyre/base/error.hpp"
#include "vyre/run/checks.hpp"
#include "vyre/run/vulkan/call.hpp"
#include "vyre/run/vulkan/translate.hpp"
#include "vyre/run/vulkan/vulkan_backend.hpp"

namespace vyre::run {
namespace vulkan {
namespace {

class VulkanExecutable final : public Executable {
 public:
  VulkanExecutable(std::shared_ptr<Devices> devices, std::size_t index, Shader shader)
      : devices_(std::move(devices)), index_(index), shader_(std::move(shader)) {
    ready();
  }

  void run(std::span<const BufferView> buffers, Grid grid, const RunOptions& options) override {
    devices_->check_process();
    check_in_order(options, "vulkan");
    const Ready now = ready();
    run_call(*now.device, now.pipeline, buffers, grid, options);
  }

 private:
  struct Ready {
    std::shared_ptr<Device> device;
    std::shared_ptr<Pipeline> pipeline;  // destroyed before its device
  };

  // On a new device when the old one was lost.
  Ready ready() {
    const std::lock_guard lock(mutex_);
    if (!ready_.pipeline || ready_.device->condemned()) {
      ready_.pipeline.reset();
      ready_.device = devices_->open(index_);
      ready_.pipeline = ready_.device->pipeline(shader_);
    }
    return ready_;
  }

  const std::shared_ptr<Devices> devices_;
  const std::size_t index_;
  const Shader shader_;
  std::mutex mutex_;
  Ready ready_;
};

}  // namespace

VulkanBackend::VulkanBackend(FindLoader find_loader, Options options)
    : devices_(std::make_shared<Devices>(std::move(find_loader), std::move(options))) {}

std::vector<std::string> VulkanBackend::unavailable() {
  try {
    devices_->choose();
    return {};
  } catch (const Error& error) {
    std::vector<std::string> reasons;
    try {
      for (const DeviceInfo& device : devices_->infos()) reasons.insert(reasons.end(), device.reasons.begin(), device.reasons.end());
    } catch (const Error&) {
      // The first error says it.
    }
    if (reasons.empty()) reasons.emplace_back(error.what());
    return reasons;
  }
}

std::vector<DeviceInfo> VulkanBackend::devices() {
  try {
    return devices_->infos();
  } catch (const NoVulkanError&) {
    return {};  // unavailable() says why
  }
}

std::unique_ptr<Executable> VulkanBackend::prepare(const validate::ValidProgram& program, std::optional<std::size_t> device,
                                                   const PrepareOptions& options) {
  const std::size_t index = device ? *device : devices_->choose();
  // Opened first: what the driver really does decides what is emitted for it.
  const auto opened = devices_->open(index);
  return std::make_unique<VulkanExecutable>(devices_, index, translate(program, opened->loop_budget.has_value(), options.optimize));
}

std::unique_ptr<Executable> VulkanBackend::prepare_shader(Shader shader, std::optional<std::size_t> device) {
  return std::make_unique<VulkanExecutable>(devices_, device ? *device : devices_->choose(), std::move(shader));
}

bool VulkanBackend::wait_until_idle(std::size_t device, double seconds) { return devices_->open(device)->wait_for_abandoned(seconds); }

}  // namespace vulkan

std::unique_ptr<Backend> make_vulkan_backend() { return std::make_unique<vulkan::VulkanBackend>(); }

}  // namespace vyre::run
