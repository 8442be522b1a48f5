// A command buffer with a pool of its own, and the commands that calls consist of.
#pragma once

#include <array>
#include <span>

#include "vyre/run/vulkan/api/handle.hpp"

namespace vyre::run::vulkan {

class Device;

// Which work a barrier stands between. Each stage makes what it wrote available, and sees what was.
struct Stage {
  VkPipelineStageFlags stage;
  VkAccessFlags writes;
  VkAccessFlags uses;
};
inline constexpr Stage kShader = {VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
                                  VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
inline constexpr Stage kTransfer = {VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                                    VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT};
inline constexpr Stage kHost = {VK_PIPELINE_STAGE_HOST_BIT, 0, VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT};
// Work that is known to be done, and whose writes are available: what comes next need only see them.
inline constexpr Stage kDone = {VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, 0, 0};
inline constexpr Stage kDevice = {kShader.stage | kTransfer.stage, kShader.writes | kTransfer.writes, kShader.uses | kTransfer.uses};

class Commands {
 public:
  explicit Commands(Device& device);

  VkCommandBuffer handle() const { return commands_; }

  // Forgets what was recorded. `again`: it is submitted more than once, also while it is still at work.
  void begin(bool again = false);
  void end();
  void order(const Stage& from, const Stage& to);
  void copy(VkBuffer from, VkDeviceSize from_offset, VkBuffer to, VkDeviceSize to_offset, VkDeviceSize bytes);
  // Of whole words.
  void zero(VkBuffer buffer, VkDeviceSize offset, VkDeviceSize bytes);
  // Whole words, at most 64 KiB.
  void update(VkBuffer buffer, VkDeviceSize offset, std::span<const std::uint32_t> words);
  void bind(VkPipeline pipeline, VkPipelineLayout layout, VkDescriptorSet set);
  void push(VkPipelineLayout layout, std::span<const std::uint32_t> constants);
  void dispatch(const std::array<std::uint32_t, 3>& groups);
  void reset(VkQueryPool pool, std::uint32_t queries);
  // The time at which all that was submitted before is done.
  void timestamp(VkQueryPool pool, std::uint32_t query);

 private:
  Device& device_;
  CommandPoolHandle pool_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
};

}  // namespace vyre::run::vulkan
