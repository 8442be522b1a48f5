#include "vyre/run/vulkan/memory/buffer.hpp"

#include <fmt/format.h>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"

namespace vyre::run::vulkan {
namespace {

constexpr VkMemoryPropertyFlags kReachable = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;

// Returns a memory type with the first of several sets of properties that the device offers. Sets with cached memory come first, because
// the host reads uncached memory very slowly.
std::uint32_t choose_memory_type(const Context& context, std::uint32_t allowed, BufferUse use) {
  const bool reachable = use != BufferUse::Device || context.unified();
  const VkMemoryPropertyFlags wishes[] = {
      reachable ? kReachable | VK_MEMORY_PROPERTY_HOST_CACHED_BIT | (context.unified() ? VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT : 0)
                : VkMemoryPropertyFlags{VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT},
      reachable ? kReachable | VK_MEMORY_PROPERTY_HOST_CACHED_BIT : VkMemoryPropertyFlags{0},
      reachable ? kReachable : VkMemoryPropertyFlags{0},
  };
  for (VkMemoryPropertyFlags wish : wishes) {
    if (auto type = context.memory_type(allowed, wish)) return *type;
  }
  throw DeviceError(
      fmt::format("device `{}` offers no memory for a storage buffer. Fix: update its driver, or use another device.", context.name()));
}

}  // namespace

Buffer::Buffer(Context& context, VkDeviceSize bytes, BufferUse use, const std::function<bool()>& free_memory) : context_(context) {
  const DeviceApi& api = context.api();

  VkBufferCreateInfo create{};
  create.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  create.size = bytes;
  create.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                 VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT;
  const bool addressed = use == BufferUse::Device && context.has_addresses();
  if (addressed) create.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  create.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  VkBuffer buffer = VK_NULL_HANDLE;
  context.check(api.vkCreateBuffer(api.device, &create, nullptr, &buffer), "vkCreateBuffer");
  buffer_ = BufferHandle(api, buffer);

  VkMemoryRequirements requirements;
  api.vkGetBufferMemoryRequirements(api.device, buffer, &requirements);
  VkMemoryAllocateInfo allocate{};
  allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  VkMemoryAllocateFlagsInfo flags{};
  flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  if (addressed) allocate.pNext = &flags;
  allocate.allocationSize = requirements.size;
  allocate.memoryTypeIndex = choose_memory_type(context, requirements.memoryTypeBits, use);
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkResult result = api.vkAllocateMemory(api.device, &allocate, nullptr, &memory);
  if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY && free_memory()) result = api.vkAllocateMemory(api.device, &allocate, nullptr, &memory);
  context.check(result, "vkAllocateMemory");
  memory_ = MemoryHandle(api, memory);
  context.check(api.vkBindBufferMemory(api.device, buffer, memory, 0), "vkBindBufferMemory");

  if (use != BufferUse::Device || context.unified()) {
    void* mapped = nullptr;
    context.check(api.vkMapMemory(api.device, memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
    mapped_ = static_cast<std::byte*>(mapped);
  }
}

std::uint64_t address_of(const Context& context, VkBuffer buffer) {
  VkBufferDeviceAddressInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
  info.buffer = buffer;
  const std::uint64_t address = context.api().vkGetBufferDeviceAddress(context.api().device, &info);
  VYRE_ASSERT(address % kMinBufferBytes == 0);  // the bytes of the largest element
  return address;
}

}  // namespace vyre::run::vulkan
