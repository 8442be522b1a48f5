// Finds Vulkan at run time and keeps its functions in tables of our own: one an instance, one a device.
//
// Nothing links libvulkan, so that the package loads on a machine without it and can say why no device is there. The tables
// are values and no global pointer is called through, so that several devices, and the Vulkan of the tests that fails on
// command, live beside each other in one process.
#pragma once

#include <unistd.h>
#include <vulkan/vulkan_core.h>

#include <string>

namespace vyre::run::vulkan {

// Where Vulkan's functions come from. `find` is null when there is no Vulkan here; `reason` then says why.
struct Loader {
  PFN_vkGetInstanceProcAddr find = nullptr;
  std::string reason;
};

// The Vulkan of this machine, looked for once a process.
Loader system_loader();

// clang-format off
struct GlobalApi {
#define GLOBAL(name) PFN_##name name = nullptr;
#define INSTANCE(name)
#define DEVICE(name)
#include "vyre/run/vulkan/api/functions.def"
};

struct InstanceApi {
#define GLOBAL(name)
#define INSTANCE(name) PFN_##name name = nullptr;
#define DEVICE(name)
#include "vyre/run/vulkan/api/functions.def"
  VkInstance instance = VK_NULL_HANDLE;
};

struct DeviceApi {
#define GLOBAL(name)
#define INSTANCE(name)
#define DEVICE(name) PFN_##name name = nullptr;
#include "vyre/run/vulkan/api/functions.def"
  VkDevice device = VK_NULL_HANDLE;
  // The process that opened the device. A driver's threads do not survive a fork, so a child must not touch its handles.
  pid_t process = 0;
};
// clang-format on

// Throw DeviceError when a function is missing; those of extensions are null then.
GlobalApi load_global(PFN_vkGetInstanceProcAddr find);
InstanceApi load_instance(PFN_vkGetInstanceProcAddr find, VkInstance instance);
DeviceApi load_device(const InstanceApi& instance, VkDevice device);

}  // namespace vyre::run::vulkan
