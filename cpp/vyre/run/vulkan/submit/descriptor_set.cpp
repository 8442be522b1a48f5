#include "vyre/run/vulkan/submit/descriptor_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "vyre/base/error.hpp"

namespace vyre::run::vulkan {
namespace {

bool is_same(const VkDescriptorBufferInfo& a, const VkDescriptorBufferInfo& b) {
  return a.buffer == b.buffer && a.offset == b.offset && a.range == b.range;
}

// The descriptors of all pools that updates_after_bind needs are limited together, by maxUpdateAfterBindDescriptorsInAllPools: at least
// 500,000, NVIDIA has 2^20.
void check_room(Context& context, VkResult result, const char* call) {
  const VkResult none[] = {VK_ERROR_FRAGMENTATION, VK_ERROR_FRAGMENTED_POOL, VK_ERROR_OUT_OF_POOL_MEMORY};
  if (std::ranges::find(none, result) != std::end(none)) {
    throw DeviceMemoryError(
        fmt::format("device `{}` has no room for more recorded calls. Fix: drop graphs, or record fewer calls.", context.name()));
  }
  context.check(result, call);
}

}  // namespace

DescriptorSet::DescriptorSet(Context& context, VkDescriptorSetLayout layout, std::uint32_t count) : layout_(layout) {
  const DeviceApi& api = context.api();
  // Vulkan does not allow an empty pool, so a program without buffers gets a pool for one descriptor.
  const VkDescriptorPoolSize room{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, std::max(count, 1u)};
  VkDescriptorPoolCreateInfo create{};
  create.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
  if (context.updates_after_bind()) create.flags = VK_DESCRIPTOR_POOL_CREATE_UPDATE_AFTER_BIND_BIT;
  create.maxSets = 1;
  create.poolSizeCount = 1;
  create.pPoolSizes = &room;
  VkDescriptorPool pool = VK_NULL_HANDLE;
  check_room(context, api.vkCreateDescriptorPool(api.device, &create, nullptr, &pool), "vkCreateDescriptorPool");
  pool_ = DescriptorPoolHandle(api, pool);

  VkDescriptorSetAllocateInfo allocate{};
  allocate.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
  allocate.descriptorPool = pool;
  allocate.descriptorSetCount = 1;
  allocate.pSetLayouts = &layout;
  check_room(context, api.vkAllocateDescriptorSets(api.device, &allocate, &set_), "vkAllocateDescriptorSets");
}

void DescriptorSet::bind(Context& context, std::span<const VkDescriptorBufferInfo> parts) {
  if (const std::uint64_t destroyed = context.buffers_destroyed(); destroyed != buffers_destroyed_) {
    bound_.clear();
    buffers_destroyed_ = destroyed;
  }
  std::vector<VkWriteDescriptorSet> writes;
  writes.reserve(parts.size());
  for (std::uint32_t binding = 0; binding < parts.size(); ++binding) {
    if (binding < bound_.size() && is_same(parts[binding], bound_[binding])) continue;
    VkWriteDescriptorSet& write = writes.emplace_back();
    write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    write.dstSet = set_;
    write.dstBinding = binding;
    write.descriptorCount = 1;
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    write.pBufferInfo = &parts[binding];
  }
  if (writes.empty()) return;
  context.api().vkUpdateDescriptorSets(context.api().device, static_cast<std::uint32_t>(writes.size()), writes.data(), 0, nullptr);
  bound_.assign(parts.begin(), parts.end());
}

}  // namespace vyre::run::vulkan
