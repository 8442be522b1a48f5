#include "vyre/run/vulkan/submit/descriptor_set.hpp"

#include <algorithm>
#include <vector>

#include "vyre/run/vulkan/device.hpp"

namespace vyre::run::vulkan {

Bindings::Bindings(Device& device, std::uint32_t count) : count_(count) {
  const DeviceApi& api = device.api();
  // A pool must have room for something, also when the program has no buffers.
  const VkDescriptorPoolSize room{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, std::max(count, 1u)};
  VkDescriptorPoolCreateInfo create{};
  create.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
  create.maxSets = 1;
  create.poolSizeCount = 1;
  create.pPoolSizes = &room;
  VkDescriptorPool pool = VK_NULL_HANDLE;
  device.check(api.vkCreateDescriptorPool(api.device, &create, nullptr, &pool), "vkCreateDescriptorPool");
  pool_ = DescriptorPoolHandle(api, pool);

  const VkDescriptorSetLayout layout = device.set_layout(count);
  VkDescriptorSetAllocateInfo allocate{};
  allocate.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
  allocate.descriptorPool = pool;
  allocate.descriptorSetCount = 1;
  allocate.pSetLayouts = &layout;
  device.check(api.vkAllocateDescriptorSets(api.device, &allocate, &set_), "vkAllocateDescriptorSets");
}

void Bindings::update(Device& device, std::span<const VkDescriptorBufferInfo> buffers) {
  if (buffers.empty()) return;
  std::vector<VkWriteDescriptorSet> writes(buffers.size());
  for (std::uint32_t binding = 0; binding < buffers.size(); ++binding) {
    writes[binding].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    writes[binding].dstSet = set_;
    writes[binding].dstBinding = binding;
    writes[binding].descriptorCount = 1;
    writes[binding].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    writes[binding].pBufferInfo = &buffers[binding];
  }
  device.api().vkUpdateDescriptorSets(device.api().device, static_cast<std::uint32_t>(writes.size()), writes.data(), 0, nullptr);
}

}  // namespace vyre::run::vulkan
