#include "vyre/run/vulkan/calls/large_host_call.hpp"

#include <chrono>
#include <vector>

#include "vyre/run/vulkan/calls/batch.hpp"
#include "vyre/run/vulkan/calls/call_checks.hpp"
#include "vyre/run/vulkan/calls/recorded_call.hpp"
#include "vyre/run/vulkan/calls/storage.hpp"

namespace vyre::run::vulkan {
namespace {

// A call is large if its arrays have at least this many bytes in all. For smaller calls, recording and submitting several copies costs more
// than copying on one thread.
constexpr std::uint64_t kLargeBytes = std::uint64_t{4} << 20;

}  // namespace

bool is_large_call(const Device& device, std::span<const BufferView> buffers, const RunOptions& options) {
  // Results are copied back in chunks. If the device is lost between two chunks, a part of the host's arrays has changed already, and only
  // a call in place allows that.
  if (!options.in_place || device.context().unified()) return false;
  std::uint64_t bytes = 0;
  for (const BufferView& buffer : buffers) bytes += buffer.bytes.size();
  return bytes >= kLargeBytes;
}

void run_large_host_call(const std::shared_ptr<Device>& device, const Kernels& kernels, std::span<const BufferView> buffers, Grid grid,
                         const RunOptions& options) {
  const Shader& shader = kernels.plain->shader();
  check_host_call(device->context(), shader, buffers);
  if (is_empty(grid)) return;
  // One time limit covers the copies and the run.
  RunOptions steps = options;
  steps.start = std::chrono::steady_clock::now();

  std::vector<std::unique_ptr<VulkanStorage>> storages;
  std::vector<StorageView> views;
  for (const BufferView& buffer : buffers) {
    storages.push_back(std::make_unique<VulkanStorage>(device, buffer.bytes.size(), buffer.zeros));
    if (!buffer.zeros) storages.back()->write(0, buffer.bytes, steps);
    views.push_back({storages.back().get(), 0, buffer.bytes.size(), buffer.length});
  }
  const auto call = RecordedCall::make(device, kernels, RecordedCall::arrays_of(views), {grid});
  Batch(device, {call}).submit({views, shader.writable, kAlwaysValid}, 1, steps);
  for (std::size_t slot = 0; slot < buffers.size(); ++slot) {
    if (shader.writable[slot]) storages[slot]->read(0, buffers[slot].bytes, steps);
  }
}

}  // namespace vyre::run::vulkan
