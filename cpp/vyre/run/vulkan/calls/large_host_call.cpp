#include "vyre/run/vulkan/calls/large_host_call.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "vyre/run/vulkan/calls/host_call.hpp"
#include "vyre/run/vulkan/calls/storage.hpp"
#include "vyre/run/vulkan/programs/plan.hpp"

namespace vyre::run::vulkan {
namespace {

// Of all arrays. Below, recording and submitting several copies costs more than one thread's copying does.
constexpr std::uint64_t kLargeBytes = std::uint64_t{4} << 20;

}  // namespace

bool is_large_call(const Device& device, std::span<const BufferView> buffers, const RunOptions& options) {
  // Results come back in chunks: should the device be lost meanwhile, some would have changed.
  if (!options.in_place || device.unified()) return false;
  std::uint64_t bytes = 0;
  for (const BufferView& buffer : buffers) bytes += buffer.bytes.size();
  return bytes >= kLargeBytes;
}

void run_large_call(const std::shared_ptr<Device>& device, const Kernels& kernels, std::span<const BufferView> buffers, Grid grid,
                    const RunOptions& options) {
  const Shader& shader = kernels.plain->shader();
  check_call(*device, shader, buffers);
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  RunOptions steps = options;
  steps.start = std::chrono::steady_clock::now();

  std::vector<std::unique_ptr<VulkanStorage>> storages;
  std::vector<StorageView> views;
  for (const BufferView& buffer : buffers) {
    storages.push_back(std::make_unique<VulkanStorage>(device, buffer.bytes.size(), buffer.zeros));
    if (!buffer.zeros) storages.back()->write(0, buffer.bytes, steps);
    views.push_back({storages.back().get(), 0, buffer.bytes.size(), buffer.length});
  }
  VulkanPlan({device, kernels}, nullptr, views, grid).submit(views, steps);
  for (std::size_t slot = 0; slot < buffers.size(); ++slot) {
    if (shader.writable[slot]) storages[slot]->read(0, buffers[slot].bytes, steps);
  }
}

}  // namespace vyre::run::vulkan
