#include "vyre/run/vulkan/api/context.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "vyre/run/vulkan/api/float_state.hpp"

namespace vyre::run::vulkan {
namespace {

// By default, sets are updated after binding only where robust access holds for them too; it is the second defence behind the checks of the
// shaders.
bool wants_update_after_bind(const PhysicalDevice& physical, const Options& options) {
  const bool keeps_robust_access = physical.robust_buffer_access && physical.robust_update_after_bind;
  return physical.update_after_bind && options.update_after_bind.value_or(keeps_robust_access);
}

constexpr VkMemoryPropertyFlags kUnified = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                           VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;

}  // namespace

Context::Context(std::shared_ptr<Instance> instance, const PhysicalDevice& physical, const Options& options)
    : instance_(std::move(instance)),
      physical_(physical),
      options_(options),
      updates_after_bind_(wants_update_after_bind(physical, options)) {
  open();
  unified_ = !options.always_stage && physical.type != VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU &&
             physical.type != VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU && memory_type(~0u, kUnified).has_value();
}

void Context::open() {
  const float priority = 1.0f;
  VkDeviceQueueCreateInfo queue{};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueFamilyIndex = physical_.queue_family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;

  // The shaders check bounds themselves. Robust access is a second defence, used where the device offers it and never required.
  const bool robust = physical_.robust_buffer_access && (!updates_after_bind_ || physical_.robust_update_after_bind);
  const bool robust_access2 = robust && physical_.robust_buffer_access2;
  VkPhysicalDeviceRobustness2FeaturesEXT robustness2{};
  robustness2.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT;
  robustness2.robustBufferAccess2 = VK_TRUE;
  VkPhysicalDeviceVulkan12Features features12{};
  features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  features12.vulkanMemoryModel = VK_TRUE;
  features12.timelineSemaphore = VK_TRUE;  // every device of Vulkan 1.2 has it
  features12.descriptorBindingStorageBufferUpdateAfterBind = updates_after_bind_ ? VK_TRUE : VK_FALSE;
  features12.bufferDeviceAddress = physical_.buffer_addresses ? VK_TRUE : VK_FALSE;
  features12.storageBuffer8BitAccess = physical_.storage_8_bits ? VK_TRUE : VK_FALSE;
  VkPhysicalDeviceVulkan11Features features11{};
  features11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  features11.storageBuffer16BitAccess = physical_.storage_16_bits ? VK_TRUE : VK_FALSE;
  features12.pNext = &features11;
  if (robust_access2) features11.pNext = &robustness2;
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables{};
  executables.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR;
  executables.pipelineExecutableInfo = VK_TRUE;
  if (physical_.pipeline_statistics) {
    executables.pNext = features11.pNext;
    features11.pNext = &executables;
  }
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &features12;
  features.features.robustBufferAccess = robust ? VK_TRUE : VK_FALSE;
  features.features.shaderInt64 = physical_.integers_64_bits ? VK_TRUE : VK_FALSE;
  std::vector<const char*> extensions;
  if (robust_access2) extensions.push_back(VK_EXT_ROBUSTNESS_2_EXTENSION_NAME);
  if (physical_.calibrated_timestamps) extensions.push_back(VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME);
  if (physical_.pipeline_statistics) extensions.push_back(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);

  VkDeviceCreateInfo create{};
  create.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  create.pNext = &features;
  create.queueCreateInfoCount = 1;
  create.pQueueCreateInfos = &queue;
  create.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
  create.ppEnabledExtensionNames = extensions.data();
  const InstanceApi& api = instance_->api();
  VkDevice device = VK_NULL_HANDLE;
  {
    const PlainFloats plain_floats;
    vulkan::check(api.vkCreateDevice(physical_.handle, &create, nullptr, &device), "vkCreateDevice", name());
  }
  // If the table of functions cannot be loaded, vkDestroyDevice is looked up by itself, so that the device can still be closed.
  try {
    api_ = load_device(api, device);
  } catch (...) {
    if (auto destroy = reinterpret_cast<PFN_vkDestroyDevice>(api.vkGetDeviceProcAddr(device, "vkDestroyDevice"))) destroy(device, nullptr);
    throw;
  }
  api_.vkGetDeviceQueue(device, physical_.queue_family, 0, &queue_);
}

Context::~Context() { api_.vkDestroyDevice(api_.device, nullptr); }

void Context::check(VkResult result, const char* call) {
  if (result == VK_ERROR_DEVICE_LOST) mark_unusable();
  vulkan::check(result, call, name());
}

void Context::submit(const VkSubmitInfo& submit) {
  const PlainFloats plain_floats;
  const std::lock_guard lock(queue_mutex_);
  check(api_.vkQueueSubmit(queue_, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
}

std::array<std::uint32_t, 3> Context::max_group_count() const {
  std::array<std::uint32_t, 3> counts;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    counts[axis] = physical_.limits.maxComputeWorkGroupCount[axis];
    if (options_.max_group_count) counts[axis] = std::min(counts[axis], (*options_.max_group_count)[axis]);
  }
  return counts;
}

std::uint64_t Context::max_storage_range() const {
  const std::uint64_t range = physical_.limits.maxStorageBufferRange;
  return options_.max_storage_range ? std::min(range, *options_.max_storage_range) : range;
}

Context::Limit Context::max_array() const {
  // Arrays lie in device-local memory, and Vulkan promises at least one such heap.
  Limit limit{0, "the largest memory heap"};
  for (std::uint32_t heap = 0; heap < physical_.memory.memoryHeapCount; ++heap) {
    const VkMemoryHeap& one = physical_.memory.memoryHeaps[heap];
    if ((one.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0) limit.bytes = std::max<std::uint64_t>(limit.bytes, one.size);
  }
  if (physical_.max_buffer != 0 && physical_.max_buffer < limit.bytes) limit = {physical_.max_buffer, "maxBufferSize"};
  return limit;
}

std::optional<std::uint32_t> Context::memory_type(std::uint32_t allowed, VkMemoryPropertyFlags wanted) const {
  for (std::uint32_t type = 0; type < physical_.memory.memoryTypeCount; ++type) {
    if ((allowed >> type & 1) != 0 && (physical_.memory.memoryTypes[type].propertyFlags & wanted) == wanted) return type;
  }
  return std::nullopt;
}

}  // namespace vyre::run::vulkan
