// Records the dispatches of a call, and builds the table of addresses that its shader may read.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vyre/run/gpu/grid_parts.hpp"
#include "vyre/run/vulkan/compile/pipeline.hpp"
#include "vyre/run/vulkan/device.hpp"
#include "vyre/run/vulkan/memory/heap.hpp"
#include "vyre/run/vulkan/submit/commands.hpp"
#include "vyre/run/vulkan/submit/descriptor_set.hpp"

namespace vyre::run::vulkan {

// Computes on the device how many workgroups each dispatch of a call runs, for a grid from data (run/data_grid.hpp).
// Each part of the largest grid becomes one dispatch. The dispatch runs those workgroups of its part that lie in the actual grid, perhaps
// none. A workgroup has the same id as in the largest grid.
class DispatchCounts {
 public:
  // The largest number of parts. A grid of 2^32 - 1 workgroups along one axis has about half as many on a device that allows 65,535
  // workgroups along an axis of a dispatch.
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 17;

  // `given` holds the three counts. Along each axis, the number of workgroups is the count divided by `counted_by`, rounded up.
  DispatchCounts(Device& device, const VkDescriptorBufferInfo& given, const std::array<std::uint32_t, 3>& counted_by,
                 const GridParts& parts);

  // Reads the counts from elsewhere. The device must not be executing the call.
  void rebind(Context& context, const VkDescriptorBufferInfo& given);
  // Records commands that compute the counts from the contents that the array has when the device executes them. Dispatches that are
  // recorded afterwards can use these counts.
  void record(Commands& commands) const;
  // Where the counts of a part lie, for an indirect dispatch.
  VkBuffer buffer() const { return counts_.buffer(); }
  VkDeviceSize offset(std::uint64_t part) const { return counts_.offset() + kPartBytes * part; }
  // Where the counts of all parts lie.
  VkDescriptorBufferInfo range() const;

 private:
  static constexpr VkDeviceSize kPartBytes = 12;

  const std::uint32_t words_;  // the number of words in counts_, three for each part
  std::shared_ptr<Pipeline> pipeline_;
  Block parts_;   // input of the shader: counted_by, and where each part begins and how large it is
  Block counts_;  // output of the shader: the counts of each part
  DescriptorSet set_;
};

// Records a dispatch for each part of a grid from `first` up to, but not including, `end`. `constants` are the shader's push constants; the
// first three are set to the workgroup at which a part begins. If `counts` is not null, it says how many workgroups of each part run.
void record_parts(Commands& commands, const Kernels& kernels, VkDescriptorSet set, std::span<std::uint32_t> constants,
                  const GridParts& parts, std::uint64_t first, std::uint64_t end, const DispatchCounts* counts = nullptr);

// Appends an address to the table that a shader with Shader::addressed reads: see emit/interface.hpp.
void append_address(std::vector<std::uint32_t>& words, std::uint64_t address);

}  // namespace vyre::run::vulkan
