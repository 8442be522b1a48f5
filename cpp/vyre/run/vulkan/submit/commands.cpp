#include "vyre/run/vulkan/submit/commands.hpp"

namespace vyre::run::vulkan {

Commands::Commands(Context& context) : context_(context) {
  const DeviceApi& api = context.api();
  VkCommandPoolCreateInfo pool_create{};
  pool_create.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool_create.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
  pool_create.queueFamilyIndex = context.physical().queue_family;
  VkCommandPool pool = VK_NULL_HANDLE;
  context.check(api.vkCreateCommandPool(api.device, &pool_create, nullptr, &pool), "vkCreateCommandPool");
  pool_ = CommandPoolHandle(api, pool);

  VkCommandBufferAllocateInfo allocate{};
  allocate.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  allocate.commandPool = pool;
  allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  allocate.commandBufferCount = 1;
  context.check(api.vkAllocateCommandBuffers(api.device, &allocate, &commands_), "vkAllocateCommandBuffers");
}

void Commands::begin(bool reusable) {
  const DeviceApi& api = context_.api();
  context_.check(api.vkResetCommandPool(api.device, *pool_, 0), "vkResetCommandPool");
  VkCommandBufferBeginInfo begin{};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  begin.flags = reusable ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT : VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  context_.check(api.vkBeginCommandBuffer(commands_, &begin), "vkBeginCommandBuffer");
}

void Commands::end() { context_.check(context_.api().vkEndCommandBuffer(commands_), "vkEndCommandBuffer"); }

void Commands::order(const Stage& from, const Stage& to) {
  VkMemoryBarrier memory{};
  memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  memory.srcAccessMask = from.writes;
  memory.dstAccessMask = to.uses;
  context_.api().vkCmdPipelineBarrier(commands_, from.stage, to.stage, 0, 1, &memory, 0, nullptr, 0, nullptr);
}

void Commands::copy(VkBuffer from, VkDeviceSize from_offset, VkBuffer to, VkDeviceSize to_offset, VkDeviceSize bytes) {
  const VkBufferCopy region{from_offset, to_offset, bytes};
  context_.api().vkCmdCopyBuffer(commands_, from, to, 1, &region);
}

void Commands::zero(VkBuffer buffer, VkDeviceSize offset, VkDeviceSize bytes) {
  context_.api().vkCmdFillBuffer(commands_, buffer, offset, bytes, 0);
}

void Commands::update(VkBuffer buffer, VkDeviceSize offset, std::span<const std::uint32_t> words) {
  context_.api().vkCmdUpdateBuffer(commands_, buffer, offset, words.size_bytes(), words.data());
}

void Commands::bind(VkPipeline pipeline, VkPipelineLayout layout, VkDescriptorSet set) {
  const DeviceApi& api = context_.api();
  api.vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  api.vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, nullptr);
}

void Commands::push(VkPipelineLayout layout, std::span<const std::uint32_t> constants) {
  context_.api().vkCmdPushConstants(commands_, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, static_cast<std::uint32_t>(constants.size_bytes()),
                                    constants.data());
}

void Commands::dispatch(const std::array<std::uint32_t, 3>& groups) {
  context_.api().vkCmdDispatch(commands_, groups[0], groups[1], groups[2]);
}

void Commands::dispatch(VkBuffer counts, VkDeviceSize offset) { context_.api().vkCmdDispatchIndirect(commands_, counts, offset); }

void Commands::reset(VkQueryPool pool, std::uint32_t queries) { context_.api().vkCmdResetQueryPool(commands_, pool, 0, queries); }

void Commands::timestamp(VkQueryPool pool, std::uint32_t query) {
  context_.api().vkCmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, query);
}

}  // namespace vyre::run::vulkan
