// Finds Vulkan at run time and keeps its functions in tables: one for an instance, one for each device.
//
// Nothing links libvulkan, so the package loads on a machine without it and can say why there is no device. The tables are values, and no
// function is called through a global pointer. So one process can have several devices, and tests can use a Vulkan that fails on command.
#pragma once

#include <unistd.h>
#include <vulkan/vulkan_core.h>

#include <string>

namespace vyre::run::vulkan {

// The entry point to Vulkan's functions. `find` is null on a machine without Vulkan; `reason` then says why.
struct Loader {
  PFN_vkGetInstanceProcAddr find = nullptr;
  std::string reason;
};

// The Vulkan of this machine, which is searched for once in a process.
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
  // The process that opened the device. A driver's threads do not survive a fork, so a forked process must not use its handles.
  pid_t process = 0;
};
// clang-format on

// Throw DeviceError when a function is missing; a missing function of an extension is null instead.
GlobalApi load_global(PFN_vkGetInstanceProcAddr find);
InstanceApi load_instance(PFN_vkGetInstanceProcAddr find, VkInstance instance);
DeviceApi load_device(const InstanceApi& instance, VkDevice device);

}  // namespace vyre::run::vulkan
