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

// The devices that fit, best first. Among software devices llvmpipe comes first, because it is 7 to 30 times as fast as SwiftShader. The
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

// The device for programs that may need more loop turns than the driver of `first`, the default device, allows.
std::optional<std::size_t> unbounded(const std::vector<PhysicalDevice>& devices, std::size_t first, const std::vector<DeviceInfo>& infos) {
  if (!is_llvmpipe(devices[first])) return std::nullopt;
  const std::vector<std::size_t> order = ranked_devices(devices);
  const auto other = std::ranges::find_if(order, [&](std::size_t i) { return infos[i].usable && !is_llvmpipe(devices[i]); });
  return other == order.end() ? std::nullopt : std::optional(*other);
}

}  // namespace

Devices::Devices(FindLoader find_loader, Options options)
    : opened_({.make = [find = std::move(find_loader)] { return std::make_shared<Instance>(find()); },
               .refuse = vulkan::check_process,
               .open =
                   [options = std::move(options)](const std::shared_ptr<Instance>& instance, const PhysicalDevice& physical) {
                     auto device = Device::open(instance, physical, options);
                     device->context().probes = probe(*device);
                     return device;
                   }}) {}

std::vector<DeviceInfo> Devices::infos() {
  const std::vector<PhysicalDevice>& devices = opened_.instance().devices();
  std::vector<DeviceInfo> list = opened_.infos();
  for (std::size_t i = 0; i < list.size(); ++i) list[i].probes = probes_seen(devices[i]);
  const auto first = std::ranges::find_if(list, &DeviceInfo::is_default);
  if (first == list.end()) return list;
  first->default_for = "calls that name no device";
  const auto other = unbounded(devices, static_cast<std::size_t>(first - list.begin()), list);
  if (!other) return list;
  first->default_for = "arrays, and programs proven to stay within the loop turns that its driver allows";
  list[*other].default_for = "programs that may need more loop turns than llvmpipe allows";
  return list;
}

std::size_t Devices::choose() {
  if (opened_.instance().devices().empty()) {
    throw NoVulkanError(kNoDriver);
  }
  return opened_.first(ranked_devices);
}

std::size_t Devices::choose(const std::function<bool(std::uint32_t)>& proven_within) {
  const std::size_t first = choose();
  const std::vector<PhysicalDevice>& devices = opened_.instance().devices();
  if (!is_llvmpipe(devices[first])) return first;
  const std::optional<std::uint32_t> budget = open(first)->context().probes.loop_budget;
  if (!budget || proven_within(*budget)) return first;
  const auto other = unbounded(devices, first, opened_.infos());
  if (!other) return first;
  try {
    return open(*other)->context().probes.loop_budget ? first : *other;
  } catch (const DeviceError&) {
    return first;  // infos() has the reason
  }
}

}  // namespace vyre::run::vulkan
