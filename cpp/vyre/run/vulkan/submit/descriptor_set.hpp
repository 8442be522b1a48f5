// A descriptor set: which parts of which buffers a shader's bindings are.
#pragma once

#include <span>

#include "vyre/run/vulkan/api/handle.hpp"

namespace vyre::run::vulkan {

class Device;

class Bindings {
 public:
  // Of a shader with that many bindings; none is bound yet.
  Bindings(Device& device, std::uint32_t count);

  VkDescriptorSet handle() const { return set_; }
  std::uint32_t count() const { return count_; }
  // One a binding, whole words. No submission that uses the set may be at work.
  void update(Device& device, std::span<const VkDescriptorBufferInfo> buffers);

 private:
  DescriptorPoolHandle pool_;
  VkDescriptorSet set_ = VK_NULL_HANDLE;
  std::uint32_t count_;
};

}  // namespace vyre::run::vulkan
