#include "vyre/run/vulkan/api/instance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "vyre/run/files/driver_files.hpp"
#include "vyre/run/vulkan/api/float_state.hpp"
#include "vyre/run/vulkan/api/handle.hpp"

namespace vyre::run::vulkan {
namespace {

// 1.2 is the first version with the memory model that barriers and atomics are written for.
constexpr std::uint32_t kVersion = VK_API_VERSION_1_2;

std::string version_text(std::uint32_t version) {
  return fmt::format("{}.{}.{}", VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version), VK_API_VERSION_PATCH(version));
}

// Vulkan lists things in two calls, first their number, then the things. The list may grow between the two.
template <class T, class Call>
std::vector<T> list_of(Call call, const char* name, std::string_view device) {
  for (;;) {
    std::uint32_t count = 0;
    check(call(&count, nullptr), name, device);
    if (count == 0) return {};
    std::vector<T> list(count);
    const VkResult result = call(&count, list.data());
    check(result, name, device);
    if (result != VK_INCOMPLETE) {
      list.resize(count);
      return list;
    }
  }
}

std::string kind_of(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return "discrete gpu";
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return "integrated gpu";
    default:
      return "software gpu";
  }
}

std::string hex(const std::uint8_t* bytes, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

std::vector<std::pair<std::string, std::uint64_t>> limits_of(const PhysicalDevice& device) {
  const VkPhysicalDeviceLimits& limits = device.limits;
  std::vector<std::pair<std::string, std::uint64_t>> list;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    list.emplace_back(fmt::format("maxComputeWorkGroupCount[{}]", axis), limits.maxComputeWorkGroupCount[axis]);
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    list.emplace_back(fmt::format("maxComputeWorkGroupSize[{}]", axis), limits.maxComputeWorkGroupSize[axis]);
  }
  list.emplace_back("maxComputeWorkGroupInvocations", limits.maxComputeWorkGroupInvocations);
  list.emplace_back("maxComputeSharedMemorySize", limits.maxComputeSharedMemorySize);
  list.emplace_back("maxPerStageDescriptorStorageBuffers", limits.maxPerStageDescriptorStorageBuffers);
  list.emplace_back("maxDescriptorSetStorageBuffers", limits.maxDescriptorSetStorageBuffers);
  list.emplace_back("maxPerStageResources", limits.maxPerStageResources);
  list.emplace_back("maxStorageBufferRange", limits.maxStorageBufferRange);
  list.emplace_back("maxPushConstantsSize", limits.maxPushConstantsSize);
  list.emplace_back("maxMemoryAllocationSize", device.max_memory_allocation);
  if (device.max_buffer != 0) list.emplace_back("maxBufferSize", device.max_buffer);
  return list;
}

struct Extensions {
  std::vector<VkExtensionProperties> list;
  bool has(const char* name) const {
    return std::ranges::any_of(list, [&](const VkExtensionProperties& it) { return std::strcmp(it.extensionName, name) == 0; });
  }
};

Extensions extensions_of(const InstanceApi& api, const PhysicalDevice& device) {
  return {list_of<VkExtensionProperties>(
      [&](std::uint32_t* count, VkExtensionProperties* list) {
        return api.vkEnumerateDeviceExtensionProperties(device.handle, nullptr, count, list);
      },
      "vkEnumerateDeviceExtensionProperties", device.info.name)};
}

// Whether a shader may have as many storage buffers that are updated after binding as it may have others. Vulkan demands it; check_limits
// (compile/pipeline.hpp) relies on it.
bool allows_as_many_after_bind(const VkPhysicalDeviceDescriptorIndexingProperties& indexing, const VkPhysicalDeviceLimits& limits) {
  return indexing.maxPerStageDescriptorUpdateAfterBindStorageBuffers >= limits.maxPerStageDescriptorStorageBuffers &&
         indexing.maxDescriptorSetUpdateAfterBindStorageBuffers >= limits.maxDescriptorSetStorageBuffers &&
         indexing.maxPerStageUpdateAfterBindResources >= limits.maxPerStageResources;
}

// Reads the driver's name and limits, and makes the key of compiled pipelines.
void read_properties(const InstanceApi& api, const Extensions& extensions, PhysicalDevice& device) {
  VkPhysicalDeviceDriverProperties driver{};
  driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
  VkPhysicalDeviceIDProperties id{};
  id.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
  id.pNext = &driver;
  VkPhysicalDeviceDescriptorIndexingProperties indexing{};
  indexing.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_PROPERTIES;
  driver.pNext = &indexing;
  VkPhysicalDeviceMaintenance4PropertiesKHR maintenance4{};
  maintenance4.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES_KHR;
  maintenance4.pNext = &id;
  VkPhysicalDeviceMaintenance3Properties maintenance{};
  maintenance.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES;
  maintenance.pNext = &id;
  if (extensions.has(VK_KHR_MAINTENANCE_4_EXTENSION_NAME)) maintenance.pNext = &maintenance4;
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &maintenance;
  api.vkGetPhysicalDeviceProperties2(device.handle, &properties);
  device.info.driver = fmt::format("{}{}{} (Vulkan {})", driver.driverName, driver.driverInfo[0] == '\0' ? "" : " ", driver.driverInfo,
                                   version_text(properties.properties.apiVersion));
  device.driver = driver.driverID;
  device.max_memory_allocation = maintenance.maxMemoryAllocationSize;
  device.max_buffer = maintenance4.maxBufferSize;
  device.robust_update_after_bind = indexing.robustBufferAccessUpdateAfterBind == VK_TRUE;
  device.update_after_bind = allows_as_many_after_bind(indexing, device.limits);
  device.info.limits = limits_of(device);
  device.key = hex(id.driverUUID, VK_UUID_SIZE) + hex(id.deviceUUID, VK_UUID_SIZE) +
               hex(properties.properties.pipelineCacheUUID, VK_UUID_SIZE) + fmt::format("{:08x}", properties.properties.driverVersion);
}

void read_features(const InstanceApi& api, const Extensions& extensions, PhysicalDevice& device) {
  VkPhysicalDeviceRobustness2FeaturesEXT robustness2{};
  robustness2.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT;
  VkPhysicalDeviceVulkan12Features features12{};
  features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  VkPhysicalDeviceVulkan11Features features11{};
  features11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  features12.pNext = &features11;
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables{};
  executables.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR;
  if (extensions.has(VK_EXT_ROBUSTNESS_2_EXTENSION_NAME)) features11.pNext = &robustness2;
  if (extensions.has(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME)) {
    executables.pNext = features11.pNext;
    features11.pNext = &executables;
  }
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &features12;
  api.vkGetPhysicalDeviceFeatures2(device.handle, &features);
  device.robust_buffer_access = features.features.robustBufferAccess == VK_TRUE;
  device.robust_buffer_access2 =
      extensions.has(VK_EXT_ROBUSTNESS_2_EXTENSION_NAME) && device.robust_buffer_access && robustness2.robustBufferAccess2 == VK_TRUE;
  device.update_after_bind = device.update_after_bind && features12.descriptorBindingStorageBufferUpdateAfterBind == VK_TRUE;
  device.buffer_addresses = features12.bufferDeviceAddress == VK_TRUE;
  device.pipeline_statistics = executables.pipelineExecutableInfo == VK_TRUE;
  device.storage_8_bits = features12.storageBuffer8BitAccess == VK_TRUE;
  device.storage_16_bits = features11.storageBuffer16BitAccess == VK_TRUE;
  device.integers_64_bits = features.features.shaderInt64 == VK_TRUE;
  if (features12.vulkanMemoryModel != VK_TRUE) {
    device.info.reasons.push_back(
        fmt::format("device `{}` has no vulkanMemoryModel. Fix: update its driver, or use another device.", device.info.name));
  }
}

void find_queue(const InstanceApi& api, PhysicalDevice& device) {
  std::uint32_t family_count = 0;
  api.vkGetPhysicalDeviceQueueFamilyProperties(device.handle, &family_count, nullptr);
  std::vector<VkQueueFamilyProperties> families(family_count);
  api.vkGetPhysicalDeviceQueueFamilyProperties(device.handle, &family_count, families.data());
  // Takes the first family that supports compute. On GPUs this is the graphics family, which can use the whole GPU.
  bool computes = false;
  for (std::uint32_t family = 0; family < family_count && !computes; ++family) {
    if ((families[family].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0) {
      device.queue_family = family;
      device.timestamp_bits = families[family].timestampValidBits;
      computes = true;
    }
  }
  if (!computes) {
    device.info.reasons.push_back(fmt::format("device `{}` has no compute queue. Fix: use another device.", device.info.name));
  }
}

PhysicalDevice describe(const InstanceApi& api, VkPhysicalDevice handle) {
  PhysicalDevice device;
  device.handle = handle;

  VkPhysicalDeviceProperties basic;
  api.vkGetPhysicalDeviceProperties(handle, &basic);
  device.info.name = basic.deviceName;
  device.type = basic.deviceType;
  device.info.kind = kind_of(basic.deviceType);
  device.limits = basic.limits;
  api.vkGetPhysicalDeviceMemoryProperties(handle, &device.memory);
  if (basic.apiVersion < kVersion) {
    // The queries below need Vulkan 1.1 and 1.2.
    device.info.reasons.push_back(fmt::format("device `{}` supports Vulkan {}, but 1.2 is needed. Fix: update its driver.",
                                              device.info.name, version_text(basic.apiVersion)));
    return device;
  }

  const Extensions extensions = extensions_of(api, device);
  device.calibrated_timestamps = extensions.has(VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME);
  read_properties(api, extensions, device);
  read_features(api, extensions, device);
  find_queue(api, device);
  device.info.usable = device.info.reasons.empty();
  return device;
}

NoVulkanError too_old(std::uint32_t version) {
  return NoVulkanError(fmt::format(
      "the Vulkan loader supports Vulkan {}, but 1.2 is needed. Fix: update the Vulkan loader (libvulkan.so.1).", version_text(version)));
}

}  // namespace

Instance::Instance(const Loader& loader) : process_(getpid()) {
  if (loader.find == nullptr) throw NoVulkanError(loader.reason);
  if (loader.find(nullptr, "vkEnumerateInstanceVersion") == nullptr) {
    throw too_old(VK_API_VERSION_1_0);
  }
  const GlobalApi global = load_global(loader.find);
  std::uint32_t version = 0;
  check(global.vkEnumerateInstanceVersion(&version), "vkEnumerateInstanceVersion", {});
  if (version < kVersion) {
    throw too_old(version);
  }

  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pApplicationName = "vyre";
  application.pEngineName = "vyre";
  application.apiVersion = kVersion;
  VkInstanceCreateInfo create{};
  create.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  create.pApplicationInfo = &application;
  const PlainFloats plain_floats;
  VkInstance instance = VK_NULL_HANDLE;
  const VkResult result = global.vkCreateInstance(&create, nullptr, &instance);
  // If a driver's file is damaged, the loader may report that it is out of memory or that there is no driver.
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER || result == VK_ERROR_OUT_OF_HOST_MEMORY) {
    if (const std::string damage = damaged_driver(); !damage.empty()) throw NoVulkanError(damage);
  }
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER) {
    throw NoVulkanError(kNoDriver);
  }
  check(result, "vkCreateInstance", {});

  // Without the table of functions, only the loader knows how to destroy the instance.
  try {
    api_ = load_instance(loader.find, instance);
    enumerate();
  } catch (...) {
    if (auto destroy = reinterpret_cast<PFN_vkDestroyInstance>(loader.find(instance, "vkDestroyInstance"))) destroy(instance, nullptr);
    throw;
  }
}

Instance::~Instance() {
  if (process_ == getpid()) api_.vkDestroyInstance(api_.instance, nullptr);
}

void Instance::enumerate() {
  const auto handles = list_of<VkPhysicalDevice>(
      [&](std::uint32_t* count, VkPhysicalDevice* list) { return api_.vkEnumeratePhysicalDevices(api_.instance, count, list); },
      "vkEnumeratePhysicalDevices", {});
  for (VkPhysicalDevice handle : handles) devices_.push_back(describe(api_, handle));
}

}  // namespace vyre::run::vulkan
