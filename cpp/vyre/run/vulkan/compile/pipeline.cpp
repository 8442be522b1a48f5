#include "vyre/run/vulkan/compile/pipeline.hpp"

#include <fmt/format.h>

#include <array>

#include "vyre/base/error.hpp"
#include "vyre/run/gpu/limits.hpp"
#include "vyre/run/vulkan/api/float_state.hpp"

namespace vyre::run::vulkan {
namespace {

// The contents of the driver's pipeline cache, from which the driver can make the pipeline again without compiling. Empty if the driver
// caches nothing, or if the query fails. A driver that compiles at the first use of a pipeline may return less before that use.
std::vector<std::byte> cache_data(const DeviceApi& api, VkPipelineCache cache) {
  std::size_t size = 0;
  if (api.vkGetPipelineCacheData(api.device, cache, &size, nullptr) != VK_SUCCESS) return {};
  std::vector<std::byte> data(size);
  if (api.vkGetPipelineCacheData(api.device, cache, &size, data.data()) != VK_SUCCESS) return {};
  data.resize(size);
  // If there is only Vulkan's own header, the driver caches nothing, or has a cache elsewhere.
  if (data.size() <= sizeof(VkPipelineCacheHeaderVersionOne)) return {};
  return data;
}

std::string value_of(const VkPipelineExecutableStatisticKHR& statistic) {
  switch (statistic.format) {
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR:
      return statistic.value.b32 == VK_TRUE ? "true" : "false";
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR:
      return std::to_string(statistic.value.i64);
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR:
      return std::to_string(statistic.value.u64);
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR:
      return fmt::format("{}", statistic.value.f64);
    default:
      return "?";
  }
}

// Whether the driver failed to compile the shader, and neither a lack of memory nor a lost device is the reason.
bool is_refusal(VkResult result) {
  return result != VK_SUCCESS && result != VK_ERROR_OUT_OF_HOST_MEMORY && result != VK_ERROR_OUT_OF_DEVICE_MEMORY &&
         result != VK_ERROR_DEVICE_LOST;
}

// Throws CapabilityError if the shader's private memory may exceed the driver's limit. Drivers limit private memory without reporting the
// limit: NVIDIA's driver compiles a shader with 12,288 bytes and refuses one with 16,384.
void check_private_memory(const Context& context, const Shader& shader) {
  constexpr std::uint64_t kEveryDriverHas = 4096;
  if (shader.private_memory_bytes <= kEveryDriverHas) return;
  throw CapabilityError(fmt::format(
      "the driver of device `{}` does not compile a program with {} bytes of private memory an invocation; it does not tell how many it "
      "allows. Fix: declare smaller private buffers, or use another device.",
      context.name(), shader.private_memory_bytes));
}

}  // namespace

void check_limits(const Context& context, const Shader& shader) {
  const VkPhysicalDeviceLimits& allowed = context.physical().limits;
  const Limits limits(context.name());
  limits.workgroup_size(shader.workgroup_size, std::to_array(allowed.maxComputeWorkGroupSize), allowed.maxComputeWorkGroupInvocations);
  limits.workgroup_memory(shader.workgroup_memory_bytes, allowed.maxComputeSharedMemorySize);
  limits.at_most(shader.binding_count(), allowed.maxPerStageDescriptorStorageBuffers, "maxPerStageDescriptorStorageBuffers", "buffers",
                 "use fewer buffers");
  limits.at_most(shader.binding_count(), allowed.maxDescriptorSetStorageBuffers, "maxDescriptorSetStorageBuffers", "buffers",
                 "use fewer buffers");
  limits.at_most(shader.binding_count(), allowed.maxPerStageResources, "maxPerStageResources", "buffers", "use fewer buffers");
  limits.at_most(shader.push_constant_bytes(), allowed.maxPushConstantsSize, "maxPushConstantsSize",
                 "bytes of buffer lengths and workgroup ids", "use fewer buffers");
}

Pipeline::Pipeline(Context& context, VkDescriptorSetLayout set_layout, const Shader& shader, Use use)
    : use_(use), shader_(shader), set_layout_(set_layout) {
  make_layout(context);
  compile(context);
}

void Pipeline::make_layout(Context& context) {
  const DeviceApi& api = context.api();
  VkPushConstantRange constants{};
  constants.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
  constants.size = shader_.push_constant_bytes();
  VkPipelineLayoutCreateInfo layout_create{};
  layout_create.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  layout_create.setLayoutCount = 1;
  layout_create.pSetLayouts = &set_layout_;
  layout_create.pushConstantRangeCount = 1;
  layout_create.pPushConstantRanges = &constants;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  context.check(api.vkCreatePipelineLayout(api.device, &layout_create, nullptr, &layout), "vkCreatePipelineLayout");
  layout_ = PipelineLayoutHandle(api, layout);
}

void Pipeline::compile(Context& context) {
  const DeviceApi& api = context.api();
  VkShaderModuleCreateInfo module_create{};
  module_create.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  module_create.codeSize = shader_.words.size() * sizeof(std::uint32_t);
  module_create.pCode = shader_.words.data();
  VkShaderModule module_value = VK_NULL_HANDLE;
  context.check(api.vkCreateShaderModule(api.device, &module_create, nullptr, &module_value), "vkCreateShaderModule");
  const ShaderModuleHandle module(api, module_value);

  const KeptFile file = pipeline_file(context.options(), context.physical().key, shader_);
  // A driver has no statistics of a pipeline that it took from the cache, so a pipeline for statistics is always compiled.
  const std::vector<std::byte> known = use_ == Use::Calls ? file.read() : std::vector<std::byte>();
  VkPipelineCacheCreateInfo cache_create{};
  cache_create.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
  cache_create.initialDataSize = known.size();
  cache_create.pInitialData = known.data();
  VkPipelineCache cache_value = VK_NULL_HANDLE;
  context.check(api.vkCreatePipelineCache(api.device, &cache_create, nullptr, &cache_value), "vkCreatePipelineCache");
  const PipelineCacheHandle cache(api, cache_value);

  VkComputePipelineCreateInfo create{};
  create.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  create.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  create.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  create.stage.module = *module;
  create.stage.pName = "main";
  create.layout = layout();
  if (use_ == Use::Statistics) create.flags = VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
  VkPipeline pipeline = VK_NULL_HANDLE;
  {
    const PlainFloats plain_floats;
    const VkResult result = api.vkCreateComputePipelines(api.device, *cache, 1, &create, nullptr, &pipeline);
    if (is_refusal(result)) check_private_memory(context, shader_);
    context.check(result, "vkCreateComputePipelines");
  }
  pipeline_ = PipelineHandle(api, pipeline);

  if (use_ == Use::Statistics) return;
  if (const auto data = cache_data(api, *cache); !data.empty() && data != known) file.write(data);
}

std::vector<DriverFact> Pipeline::statistics(Context& context) const {
  const DeviceApi& api = context.api();
  VkPipelineInfoKHR of_pipeline{};
  of_pipeline.sType = VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR;
  of_pipeline.pipeline = handle();
  std::uint32_t parts = 0;
  context.check(api.vkGetPipelineExecutablePropertiesKHR(api.device, &of_pipeline, &parts, nullptr),
                "vkGetPipelineExecutablePropertiesKHR");
  VkPipelineExecutablePropertiesKHR empty_part{};
  empty_part.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR;
  std::vector<VkPipelineExecutablePropertiesKHR> properties(parts, empty_part);
  context.check(api.vkGetPipelineExecutablePropertiesKHR(api.device, &of_pipeline, &parts, properties.data()),
                "vkGetPipelineExecutablePropertiesKHR");
  std::vector<DriverFact> facts;
  for (std::uint32_t part = 0; part < parts; ++part) {
    VkPipelineExecutableInfoKHR of_part{};
    of_part.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR;
    of_part.pipeline = handle();
    of_part.executableIndex = part;
    const auto read = [&](std::uint32_t* count, VkPipelineExecutableStatisticKHR* list) {
      context.check(api.vkGetPipelineExecutableStatisticsKHR(api.device, &of_part, count, list), "vkGetPipelineExecutableStatisticsKHR");
    };
    std::uint32_t count = 0;
    read(&count, nullptr);
    VkPipelineExecutableStatisticKHR empty{};
    empty.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
    std::vector<VkPipelineExecutableStatisticKHR> statistics(count, empty);
    read(&count, statistics.data());
    for (const VkPipelineExecutableStatisticKHR& each : statistics) {
      facts.push_back({properties[part].name, each.name, each.description, value_of(each)});
    }
  }
  return facts;
}

KeptFile pipeline_file(const Options& options, const std::string& device_key, const Shader& shader) {
  const std::uint32_t interface[] = {shader.buffer_count, shader.has_status ? 1u : 0u};
  std::string bytes(reinterpret_cast<const char*>(shader.words.data()), shader.words.size() * sizeof(std::uint32_t));
  bytes.append(reinterpret_cast<const char*>(interface), sizeof(interface));
  return {options.cache_directory, device_key, KeptFile::hash_of(bytes)};
}

}  // namespace vyre::run::vulkan
