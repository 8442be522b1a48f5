#include "vyre/run/vulkan/api/loader.hpp"

#include <fmt/format.h>
#include <volk.h>

#include "vyre/base/error.hpp"
#include "vyre/run/files/driver_files.hpp"

namespace vyre::run::vulkan {
namespace {

void require(PFN_vkVoidFunction function, const char* name) {
  if (function == nullptr) {
    throw DeviceError(fmt::format("Vulkan has no function `{}` here. Fix: install a Vulkan 1.2 loader and driver.", name));
  }
}

}  // namespace

Loader system_loader() {
  // volk opens the library, and of volk's global variables only the entry point is read, once. The Loader is never destroyed:
  // system_library() in run/cuda/api/library.cpp gives the reason.
  static const Loader& loader = *new Loader([] {
    if (volkInitialize() != VK_SUCCESS || vkGetInstanceProcAddr == nullptr) {
      return Loader{nullptr, "no Vulkan loader (libvulkan.so.1) was found. Fix: install it; `vyre doctor` names the command."};
    }
    if (const std::string damage = deadly_driver(); !damage.empty()) return Loader{nullptr, damage};
    return Loader{vkGetInstanceProcAddr, {}};
  }());
  return loader;
}

// clang-format off
GlobalApi load_global(PFN_vkGetInstanceProcAddr find) {
  GlobalApi api;
#define GLOBAL(name) api.name = reinterpret_cast<PFN_##name>(find(nullptr, #name)); require(reinterpret_cast<PFN_vkVoidFunction>(api.name), #name);
#define INSTANCE(name)
#define DEVICE(name)
#include "vyre/run/vulkan/api/functions.def"
  return api;
}

InstanceApi load_instance(PFN_vkGetInstanceProcAddr find, VkInstance instance) {
  InstanceApi api;
#define GLOBAL(name)
#define INSTANCE_EXTENSION(name) api.name = reinterpret_cast<PFN_##name>(find(instance, #name));
#define INSTANCE(name) INSTANCE_EXTENSION(name) require(reinterpret_cast<PFN_vkVoidFunction>(api.name), #name);
#define DEVICE(name)
#include "vyre/run/vulkan/api/functions.def"
  api.instance = instance;
  return api;
}

DeviceApi load_device(const InstanceApi& instance, VkDevice device) {
  DeviceApi api;
#define GLOBAL(name)
#define INSTANCE(name)
#define DEVICE_EXTENSION(name) api.name = reinterpret_cast<PFN_##name>(instance.vkGetDeviceProcAddr(device, #name));
#define DEVICE(name) DEVICE_EXTENSION(name) require(reinterpret_cast<PFN_vkVoidFunction>(api.name), #name);
#include "vyre/run/vulkan/api/functions.def"
  api.device = device;
  api.process = getpid();
  return api;
}
// clang-format on

}  // namespace vyre::run::vulkan
