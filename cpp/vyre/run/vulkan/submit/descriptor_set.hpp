// Owns a descriptor set with a pool of its own: it tells a shader which part of which buffer is behind each binding.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vyre/run/vulkan/api/context.hpp"

namespace vyre::run::vulkan {

class DescriptorSet {
 public:
  // Allocates a set for a layout of `count` storage buffers. No buffer is bound yet.
  DescriptorSet(Context& context, VkDescriptorSetLayout layout, std::uint32_t count);

  VkDescriptorSet handle() const { return set_; }
  VkDescriptorSetLayout layout() const { return layout_; }
  // Binds one part of a buffer to each binding, in whole words, and leaves alone what is bound already. The device must not be executing a
  // submission that uses the set. Commands that were recorded with the set are invalid afterwards, unless Context::updates_after_bind.
  void bind(Context& context, std::span<const VkDescriptorBufferInfo> parts);

 private:
  DescriptorPoolHandle pool_;
  VkDescriptorSet set_ = VK_NULL_HANDLE;
  VkDescriptorSetLayout layout_;
  std::vector<VkDescriptorBufferInfo> bound_;
  // Context::buffers_destroyed when bound_ was made. A buffer that was made since may have a handle of bound_ and still be another one.
  std::uint64_t buffers_destroyed_ = 0;
};

}  // namespace vyre::run::vulkan
