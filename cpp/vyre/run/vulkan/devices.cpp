#include "vyre/run/vulkan/devices.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <tuple>

#include "vyre/base/error.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/vulkan/probes.hpp"

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

// The device to use when the caller names none; nothing when none fits. Drivers are found in the order of a directory, which
// differs between machines; the name decides between equals.
std::optional<std::size_t> best(const std::vector<PhysicalDevice>& devices) {
  const auto order = [&](std::size_t i) { return std::tuple(rank(devices[i].type), std::string_view(devices[i].info.name), i); };
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].info.usable && (!found || order(i) < order(*found))) found = i;
  }
  return found;
}

std::string joined(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += (text.empty() ? "" : " ") + sentence;
  return text;
}

}  // namespace

Devices::Devices(FindLoader find_loader, Options options) : find_loader_(std::move(find_loader)), options_(std::move(options)) {}

void Devices::check_process() const {
  const pid_t process = process_;
  if (process != 0) vulkan::check_process(process);
}

std::shared_ptr<Instance> Devices::instance() {
  check_process();
  const std::lock_guard lock(mutex_);
  if (!instance_) {
    auto opened = std::make_shared<Instance>(find_loader_());
    std::vector<std::unique_ptr<Slot>> slots;
    for (std::size_t i = 0; i < opened->devices().size(); ++i) slots.push_back(std::make_unique<Slot>());
    slots_ = std::move(slots);
    instance_ = std::move(opened);
    process_ = getpid();
  }
  return instance_;
}

std::vector<DeviceInfo> Devices::infos() {
  const auto instance = this->instance();
  std::vector<DeviceInfo> list;
  for (const PhysicalDevice& device : instance->devices()) {
    list.push_back(device.info);
    list.back().probes = probes_seen(device);
  }
  if (const auto chosen = best(instance->devices())) list[*chosen].is_default = true;
  return list;
}

std::size_t Devices::choose() {
  const auto instance = this->instance();
  const std::vector<PhysicalDevice>& devices = instance->devices();
  if (const auto chosen = best(devices)) return *chosen;
  std::vector<std::string> reasons;
  for (const PhysicalDevice& device : devices) reasons.insert(reasons.end(), device.info.reasons.begin(), device.info.reasons.end());
  if (reasons.empty()) {
    throw NoVulkanError(
        "no Vulkan device was found. Fix: install the driver of the GPU, or a software one, on Debian with `apt-get install "
        "mesa-vulkan-drivers`.");
  }
  throw DeviceError(joined(reasons));
}

std::shared_ptr<Device> Devices::open(std::size_t index) {
  const auto instance = this->instance();
  if (index >= slots_.size()) {
    throw ArgumentError(
        fmt::format("device {} does not exist, there are {}. Fix: pass the index of an entry of devices().", index, slots_.size()));
  }
  const PhysicalDevice& physical = instance->devices()[index];
  if (!physical.info.usable) throw DeviceError(joined(physical.info.reasons));

  Slot& slot = *slots_[index];
  const std::lock_guard lock(slot.mutex);
  if (slot.device && slot.device->condemned()) slot.device.reset();
  if (!slot.device) {
    const Span span("open device");
    auto device = Device::open(instance, physical, options_);
    device->loop_budget = probe(*device).loop_budget;
    slot.device = std::move(device);
  }
  return slot.device;
}

}  // namespace vyre::run::vulkan
