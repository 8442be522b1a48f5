// For a grid from data (run/data_grid.hpp): computes, on the device, how many workgroups each dispatch of a call runs.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "vyre/run/gpu/grid_parts.hpp"
#include "vyre/run/vulkan/compile/pipeline.hpp"
#include "vyre/run/vulkan/device.hpp"
#include "vyre/run/vulkan/memory/heap.hpp"
#include "vyre/run/vulkan/submit/commands.hpp"
#include "vyre/run/vulkan/submit/descriptor_set.hpp"

namespace vyre::run::vulkan {

// Each part of the largest grid becomes one dispatch, which runs the workgroups of the part that lie in the grid: perhaps none. The ids of
// workgroups begin where they begin in the largest grid.
class DispatchCounts {
 public:
  // The most parts. A grid of one axis as long as it can be has half as many where a device takes 65,535 workgroups at once.
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 17;

  // `given` has the three counts. Every `counted_by` of them are one workgroup, and the last one may be for fewer.
  DispatchCounts(Device& device, const VkDescriptorBufferInfo& given, const std::array<std::uint32_t, 3>& counted_by,
                 const GridParts& parts);

  // Reads the array; dispatches that are recorded later use what it holds at that moment.
  void record(Commands& commands) const;
  // The counts of a part.
  VkBuffer buffer() const { return counts_.buffer(); }
  VkDeviceSize offset(std::uint64_t part) const { return counts_.offset() + kPartBytes * part; }
  // Where the counts of all parts lie.
  VkDescriptorBufferInfo range() const;

 private:
  static constexpr VkDeviceSize kPartBytes = 12;

  const std::uint32_t words_;  // three for each part
  std::shared_ptr<Pipeline> pipeline_;
  Block parts_;   // what the shader must know of the parts
  Block counts_;  // what it writes
  DescriptorSet set_;
};

}  // namespace vyre::run::vulkan
