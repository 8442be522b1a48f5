// One call of a prepared shader: bytes in, dispatch, wait, bytes out.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "vyre/run/backend.hpp"
#include "vyre/run/vulkan/compile/pipeline.hpp"
#include "vyre/run/vulkan/memory/buffer.hpp"
#include "vyre/run/vulkan/submit/commands.hpp"
#include "vyre/run/vulkan/submit/descriptor_set.hpp"
#include "vyre/run/vulkan/submit/grid_parts.hpp"
#include "vyre/run/vulkan/submit/timestamps.hpp"

namespace vyre::run::vulkan {

// What a storage buffer of the device takes for an array of so many bytes.
VkDeviceSize device_bytes(std::uint64_t host_bytes);
// Takes one size for each buffer of the program; throws CapabilityError for sizes that the device cannot give to the shader.
void check_sizes(const Device& device, const Shader& shader, std::span<const std::uint64_t> bytes);
void check_call(const Device& device, const Shader& shader, std::span<const BufferView> buffers);
// Throws CapabilityError when a program found that the driver ended one of its loops early, and wrote that here.
void check_status(const Device& device, const Buffer& status);

// What the shader of addressed arrays reads: see emit/interface.hpp.
void append_address(std::vector<std::uint32_t>& words, std::uint64_t address);

// The dispatches of parts `first` to `end` of a grid. `constants` are the shader's; the workgroup that a part begins with is put there.
void record_parts(Commands& commands, const Kernels& kernels, VkDescriptorSet set, std::span<std::uint32_t> constants, const Parts& parts,
                  std::uint64_t first, std::uint64_t end);

// What a call needs of the device. Calls of the same device use them one after the other, because making them costs more
// than a small program takes to run.
class Workspace {
 public:
  explicit Workspace(Device& device);

  // Makes the buffers fit and binds them from the one numbered `first_bound` on, each to the next binding.
  void fit(Device& device, std::span<const VkDeviceSize> bytes, std::size_t first_bound, bool staged);
  // Of all its memory.
  VkDeviceSize bytes() const;
  // Whether the device may still be working with it.
  bool in_flight = false;

  std::vector<Buffer> buffers;
  std::vector<Buffer> staging;  // beside `buffers`, or empty
  Commands commands;
  FenceHandle fence;
  std::optional<Bindings> bindings;
  Kernels kernels;                         // kept while they may be in flight
  std::unique_ptr<Timestamps> timestamps;  // likewise; of a profile

 private:
  void bind(Device& device, std::span<const VkDeviceSize> bytes, std::size_t first);

  std::vector<VkDeviceSize> bound_;
  std::size_t first_bound_ = 0;
};

// Runs the kernels as Executable::run promises.
void run_call(Device& device, const Kernels& kernels, std::span<const BufferView> buffers, Grid grid, const RunOptions& options);

// Makes drivers compile that leave it to the first dispatch: dispatches no workgroup, and waits for the end of that.
void warm_up(Device& device, const std::shared_ptr<Pipeline>& pipeline);

}  // namespace vyre::run::vulkan
