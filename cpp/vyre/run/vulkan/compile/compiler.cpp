#include "vyre/run/vulkan/compile/compiler.hpp"

#include <utility>
#include <vector>

#include "vyre/run/gpu/waiting.hpp"
#include "vyre/run/vulkan/submit/commands.hpp"
#include "vyre/run/vulkan/submit/descriptor_set.hpp"

namespace vyre::run::vulkan {
namespace {

// The objects of a pipeline's first use, which live until the device is done with them.
struct FirstUse final : Retired {
  FirstUse(Context& context, Heap& heap, std::shared_ptr<Pipeline> used)
      : pipeline(std::move(used)),
        commands(context),
        set(context, pipeline->set_layout(), pipeline->shader().binding_count()),
        memory(heap.allocate(kMinBufferBytes)) {}
  const std::shared_ptr<Pipeline> pipeline;
  Commands commands;
  DescriptorSet set;
  const Block memory;
};

}  // namespace

Compiler::Compiler(Context& context, Stream& stream, Heap& heap) : context_(context), stream_(stream), heap_(heap) {}

std::shared_ptr<Pipeline> Compiler::pipeline(const Shader& shader, bool warm, const RunOptions& options,
                                             const std::shared_ptr<void>& owner) {
  return pipelines_.made(
      shader, [this, warm](const Shader& of) { return compile(of, warm); }, options, context_.name(), owner);
}

std::vector<DriverFact> Compiler::statistics(const Shader& shader) {
  const DeviceApi& api = context_.api();
  const bool has_functions = api.vkGetPipelineExecutablePropertiesKHR != nullptr && api.vkGetPipelineExecutableStatisticsKHR != nullptr;
  if (!context_.physical().pipeline_statistics || !has_functions) return {};
  return Pipeline(context_, set_layout(shader.binding_count()), shader, Pipeline::Use::Statistics).statistics(context_);
}

std::shared_ptr<Pipeline> Compiler::compile(const Shader& shader, bool warm) {
  check_limits(context_, shader);
  auto compiled = std::make_shared<Pipeline>(context_, set_layout(shader.binding_count()), shader);
  if (warm) warm_up(compiled);
  return compiled;
}

void Compiler::warm_up(const std::shared_ptr<Pipeline>& pipeline) {
  stream_.check_nothing_is_abandoned();
  auto use = std::make_unique<FirstUse>(context_, heap_, pipeline);
  const Shader& shader = pipeline->shader();
  use->set.bind(context_,
                std::vector<VkDescriptorBufferInfo>(shader.binding_count(), {use->memory.buffer(), use->memory.offset(), kMinBufferBytes}));
  const std::vector<std::uint32_t> constants(3 + shader.buffer_count, 0);
  use->commands.begin();
  use->commands.bind(pipeline->handle(), pipeline->layout(), use->set.handle());
  use->commands.push(pipeline->layout(), constants);
  // A dispatch of zero workgroups is enough to make a driver compile the pipeline.
  use->commands.dispatch({0, 0, 0});
  use->commands.end();
  const VkCommandBuffer commands = use->commands.handle();
  const TimelineValue value = stream_.submit({.commands = {&commands, 1}});
  // The objects are retired before the wait, because the device may still use them if the wait fails.
  stream_.retire(value, std::move(use));
  stream_.wait(value, Waiting({}));
}

VkDescriptorSetLayout Compiler::set_layout(std::uint32_t binding_count) {
  const std::lock_guard lock(mutex_);
  if (const auto known = set_layouts_.find(binding_count); known != set_layouts_.end()) return *known->second;

  std::vector<VkDescriptorSetLayoutBinding> bindings(binding_count);
  for (std::uint32_t binding = 0; binding < binding_count; ++binding) {
    bindings[binding].binding = binding;
    bindings[binding].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    bindings[binding].descriptorCount = 1;
    bindings[binding].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
  }
  const std::vector<VkDescriptorBindingFlags> flags(binding_count, VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT);
  VkDescriptorSetLayoutBindingFlagsCreateInfo binding_flags{};
  binding_flags.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO;
  binding_flags.bindingCount = binding_count;
  binding_flags.pBindingFlags = flags.data();
  VkDescriptorSetLayoutCreateInfo create{};
  create.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
  if (context_.updates_after_bind()) {
    create.pNext = &binding_flags;
    create.flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT;
  }
  create.bindingCount = binding_count;
  create.pBindings = bindings.data();
  VkDescriptorSetLayout layout = VK_NULL_HANDLE;
  context_.check(context_.api().vkCreateDescriptorSetLayout(context_.api().device, &create, nullptr, &layout),
                 "vkCreateDescriptorSetLayout");
  set_layouts_.emplace(binding_count, SetLayoutHandle(context_.api(), layout));
  return layout;
}

}  // namespace vyre::run::vulkan
