// Declares the class of the Vulkan backend, for tests and tools that bring their own Vulkan or their own shaders. See backend.hpp for how
// it works.
#pragma once

#include "vyre/run/gpu/gpu_backend.hpp"
#include "vyre/run/vulkan/backend.hpp"
#include "vyre/run/vulkan/calls/storage.hpp"
#include "vyre/run/vulkan/compile/shader.hpp"
#include "vyre/run/vulkan/devices/devices.hpp"

namespace vyre::run::vulkan {

class VulkanBackend final : public GpuBackend<Devices, VulkanStorage, NoVulkanError> {
 public:
  explicit VulkanBackend(FindLoader find_loader = system_loader, Options options = {})
      : GpuBackend(std::move(find_loader), std::move(options)) {}

  std::string_view name() const override { return "vulkan"; }
  std::unique_ptr<Executable> prepare(const validate::ValidProgram& program, std::optional<std::size_t> device,
                                      const Optimize& options = {}, const RunOptions& waiting = {}) override;
  std::shared_ptr<Recording> record(CallsToRecord calls, const RunOptions& waiting = {},
                                    std::span<const StorageView> expected = {}) override;
  std::unique_ptr<Executable> prepare_shader(Shader shader, std::optional<std::size_t> device, const RunOptions& waiting = {});
};

}  // namespace vyre::run::vulkan
