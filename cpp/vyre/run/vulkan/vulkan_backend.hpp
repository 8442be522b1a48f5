// Declares the class of the Vulkan backend, for tests and tools that bring their own Vulkan or their own shaders. See backend.hpp for how
// it works.
#pragma once

#include "vyre/run/vulkan/backend.hpp"
#include "vyre/run/vulkan/compile/shader.hpp"
#include "vyre/run/vulkan/devices/devices.hpp"

namespace vyre::run::vulkan {

class VulkanBackend final : public Backend {
 public:
  explicit VulkanBackend(FindLoader find_loader = system_loader, Options options = {});

  std::string_view name() const override { return "vulkan"; }
  std::vector<std::string> reasons_unavailable() override;
  std::vector<DeviceInfo> devices() override;
  void try_devices() override;
  std::size_t default_device() override { return devices_->choose(); }
  std::unique_ptr<Executable> prepare(const validate::ValidProgram& program, std::optional<std::size_t> device,
                                      const Optimize& options = {}, const RunOptions& waiting = {}) override;

  std::unique_ptr<Storage> allocate(std::optional<std::size_t> device, std::uint64_t bytes, bool zeroed) override;
  std::shared_ptr<Recording> record(CallsToRecord calls, const RunOptions& waiting = {},
                                    std::span<const StorageView> expected = {}) override;
  void check_nothing_is_abandoned(std::size_t device) override;
  void abandon(std::size_t device) override;
  std::unique_ptr<Executable> prepare_shader(Shader shader, std::optional<std::size_t> device, const RunOptions& waiting = {});
  // Waits until the device has done the work of calls that timed out or were interrupted. Returns false if that takes longer than
  // `seconds`.
  bool wait_until_idle(std::size_t device, double seconds);

 private:
  std::shared_ptr<Devices> devices_;
};

}  // namespace vyre::run::vulkan
