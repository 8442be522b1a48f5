#include "vyre/run/vulkan/devices/devices.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "vyre/base/error.hpp"
#include "vyre/run/vulkan/devices/probes.hpp"

namespace vyre::run::vulkan {
namespace {

int rank(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return 0;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return 1;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return 2;
    default:
      return 3;
  }
}

bool is_llvmpipe(const PhysicalDevice& device) { return device.driver == VK_DRIVER_ID_MESA_LLVMPIPE; }

// The usable devices, best first. Among software devices llvmpipe comes first, because it is 7 to 30 times as fast as SwiftShader. The
// loader lists drivers in the order of a directory, which differs between machines, so devices of equal rank are ordered by name.
std::vector<std::size_t> ranked_devices(const std::vector<PhysicalDevice>& devices) {
  const auto order = [&](std::size_t i) {
    const PhysicalDevice& device = devices[i];
    return std::tuple(rank(device.type), !is_llvmpipe(device), std::string_view(device.info.name), i);
  };
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].info.usable) found.push_back(i);
  }
  std::ranges::sort(found, {}, order);
  return found;
}

// `first` is the default device. `unbounded` is the device for programs that may need more loop turns than the driver of `first`
// allows. Both are known before either device is opened.
struct DeviceChoice {
  std::optional<std::size_t> first, unbounded;
};

DeviceChoice choice_of(const std::vector<PhysicalDevice>& devices) {
  const std::vector<std::size_t> order = ranked_devices(devices);
  if (order.empty()) return {};
  DeviceChoice choice{order.front(), std::nullopt};
  const auto other = std::ranges::find_if(order, [&](std::size_t i) { return !is_llvmpipe(devices[i]); });
  if (is_llvmpipe(devices[order.front()]) && other != order.end()) choice.unbounded = *other;
  return choice;
}

}  // namespace

Devices::Devices(FindLoader find_loader, Options options)
    : options_(std::move(options)),
      opened_([find = std::move(find_loader)] { return std::make_shared<Instance>(find()); }, vulkan::check_process) {}

std::vector<DeviceInfo> Devices::infos() {
  const std::vector<PhysicalDevice>& devices = opened_.instance().devices();
  std::vector<DeviceInfo> list;
  for (const PhysicalDevice& device : devices) {
    list.push_back(device.info);
    list.back().probes = probes_seen(device);
  }
  const DeviceChoice choice = choice_of(devices);
  if (!choice.first) return list;
  DeviceInfo& first = list[*choice.first];
  first.is_default = true;
  first.default_for = "calls that name no device";
  if (!choice.unbounded) return list;
  first.default_for = "arrays, and programs proven to stay within the loop turns that its driver allows";
  list[*choice.unbounded].default_for = "programs that may need more loop turns than llvmpipe allows";
  return list;
}

std::size_t Devices::choose() {
  const std::vector<PhysicalDevice>& devices = opened_.instance().devices();
  if (const auto first = choice_of(devices).first) return *first;
  std::vector<std::string> reasons;
  for (const PhysicalDevice& device : devices) reasons.insert(reasons.end(), device.info.reasons.begin(), device.info.reasons.end());
  if (reasons.empty()) {
    throw NoVulkanError(
        "no Vulkan device was found. Fix: install the driver of the GPU, or a software one, on Debian with `apt-get install "
        "mesa-vulkan-drivers`.");
  }
  throw_unusable(reasons);
}

std::size_t Devices::choose(const std::function<bool(std::uint32_t)>& proven_within) {
  const std::size_t first = choose();
  const auto unbounded = choice_of(opened_.instance().devices()).unbounded;
  if (!unbounded) return first;
  const std::optional<std::uint32_t> budget = open(first)->context().probes.loop_budget;
  if (!budget || proven_within(*budget) || open(*unbounded)->context().probes.loop_budget) return first;
  return *unbounded;
}

std::shared_ptr<Device> Devices::open(std::size_t index) {
  return opened_.device(
      index,
      [this](const std::shared_ptr<Instance>& instance, const PhysicalDevice& physical) {
        auto device = Device::open(instance, physical, options_);
        device->context().probes = probe(*device);
        return device;
      },
      [](Device&) {});
}

}  // namespace vyre::run::vulkan
