// One call of a prepared shader: bytes in, dispatch, wait, bytes out.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "vyre/run/backend.hpp"
#include "vyre/run/vulkan/buffer.hpp"
#include "vyre/run/vulkan/pipeline.hpp"

namespace vyre::run::vulkan {

// What a call needs of the device. Calls of the same device use them one after the other, because making them costs more
// than a small program takes to run.
class Workspace {
 public:
  explicit Workspace(Device& device);

  // Makes the buffers fit and binds them for a shader of that many bindings.
  void fit(Device& device, std::span<const VkDeviceSize> bytes, bool staged);
  // Of all its memory.
  VkDeviceSize bytes() const;
  // Whether the device may still be working with it.
  bool in_flight = false;

  std::vector<Buffer> buffers;
  std::vector<Buffer> staging;  // beside `buffers`, or empty
  CommandPoolHandle command_pool;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  FenceHandle fence;
  VkDescriptorSet set = VK_NULL_HANDLE;
  Kernels kernels;  // kept while they may be in flight

 private:
  void bind(Device& device, std::span<const VkDeviceSize> bytes);

  DescriptorPoolHandle descriptor_pool_;
  std::uint32_t set_bindings_ = 0;
  std::vector<VkDeviceSize> bound_;
};

// Runs the kernels as Executable::run promises.
void run_call(Device& device, const Kernels& kernels, std::span<const BufferView> buffers, Grid grid, const RunOptions& options);

// Makes drivers compile that leave it to the first dispatch: dispatches no workgroup, and waits for the end of that.
void warm_up(Device& device, const std::shared_ptr<Pipeline>& pipeline);

}  // namespace vyre::run::vulkan
