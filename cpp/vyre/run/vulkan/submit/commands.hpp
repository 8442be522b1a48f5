// Records the backend's commands into a command buffer that has a pool of its own.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "vyre/run/vulkan/api/context.hpp"

namespace vyre::run::vulkan {

// One side of a barrier: a pipeline stage, the accesses by which it writes memory, and all of its accesses.
struct Stage {
  VkPipelineStageFlags stage;
  VkAccessFlags writes;
  VkAccessFlags uses;
};
inline constexpr Stage kShader = {VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
                                  VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
// The stage in which an indirect dispatch reads its counts from a buffer.
inline constexpr Stage kCounts = {VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT, 0, VK_ACCESS_INDIRECT_COMMAND_READ_BIT};
inline constexpr Stage kTransfer = {VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                                    VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT};
inline constexpr Stage kHost = {VK_PIPELINE_STAGE_HOST_BIT, 0, VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT};
// Earlier work that is known to be done and whose writes are available, so that later work need not wait for it.
inline constexpr Stage kDone = {VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, 0, 0};
inline constexpr Stage kDevice = {kShader.stage | kTransfer.stage, kShader.writes | kTransfer.writes, kShader.uses | kTransfer.uses};

// Offsets and sizes are in bytes. Except in copy(), they must be multiples of 4.
class Commands {
 public:
  explicit Commands(Context& context);

  VkCommandBuffer handle() const { return commands_; }

  // Starts recording, and drops what was recorded before. With `reusable`, the commands can be submitted again, also while the device still
  // executes them.
  void begin(bool reusable = false);
  void end();
  // A memory barrier: the accesses of `to` see the writes of `from`.
  void order(const Stage& from, const Stage& to);
  void copy(VkBuffer from, VkDeviceSize from_offset, VkBuffer to, VkDeviceSize to_offset, VkDeviceSize bytes);
  void zero(VkBuffer buffer, VkDeviceSize offset, VkDeviceSize bytes);
  // Writes at most 64 KiB.
  void update(VkBuffer buffer, VkDeviceSize offset, std::span<const std::uint32_t> words);
  void bind(VkPipeline pipeline, VkPipelineLayout layout, VkDescriptorSet set);
  void push(VkPipelineLayout layout, std::span<const std::uint32_t> constants);
  void dispatch(const std::array<std::uint32_t, 3>& groups);
  // An indirect dispatch: the three words at `offset` are the counts of workgroups when the device executes it.
  void dispatch(VkBuffer counts, VkDeviceSize offset);
  void reset(VkQueryPool pool, std::uint32_t queries);
  // Writes the time at which all earlier commands are done.
  void timestamp(VkQueryPool pool, std::uint32_t query);

 private:
  Context& context_;
  CommandPoolHandle pool_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
};

}  // namespace vyre::run::vulkan
