#include "vyre/run/cuda/devices.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vyre/base/error.hpp"
#include "vyre/run/cuda/api/absent.hpp"
#include "vyre/run/profile.hpp"

namespace vyre::run::cuda {
void Devices::check_process() const {
  opened_.check_process([](pid_t process) { cuda::check_process(process); });
}

Devices::Opened& Devices::opened() {
  check_process();
  return *opened_.get([&] {
    auto made = std::make_shared<Opened>();
    made->instance = std::make_shared<Instance>(find_());
    for (std::size_t i = 0; i < made->instance->devices().size(); ++i) made->slots.push_back(std::make_unique<Slot>());
    return made;
  });
}

std::vector<DeviceInfo> Devices::infos() {
  std::vector<DeviceInfo> list;
  for (const PhysicalDevice& device : opened().instance->devices()) list.push_back(device.info);
  const auto first = std::ranges::find_if(list, &DeviceInfo::usable);
  if (first != list.end()) {
    first->is_default = true;
    first->default_for = "calls that name no device";
  }
  return list;
}

std::size_t Devices::choose() {
  const std::vector<PhysicalDevice>& devices = opened().instance->devices();
  std::vector<std::string> reasons;
  for (std::size_t index = 0; index < devices.size(); ++index) {
    if (devices[index].info.usable) return index;
    reasons.insert(reasons.end(), devices[index].info.reasons.begin(), devices[index].info.reasons.end());
  }
  if (reasons.empty()) throw NoCudaError("the CUDA driver finds no GPU. Fix: give the process one, or use backend `cpu`.");
  throw DeviceError(fmt::to_string(fmt::join(reasons, " ")));
}

std::size_t Devices::device_of(CUdeviceptr address) {
  Opened& all = opened();
  int ordinal = 0;
  if (all.instance->api().cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) != CUDA_SUCCESS) {
    throw ArgumentError(
        fmt::format("address {:#x} lies on no CUDA device of this process. Fix: pass an array that its library still keeps.", address));
  }
  const std::vector<PhysicalDevice>& devices = all.instance->devices();
  const auto found = std::ranges::find(devices, ordinal, &PhysicalDevice::handle);
  if (found == devices.end())
    throw ArgumentError("an array lies on a CUDA device that vyre does not list. Fix: copy it to one that it lists.");
  return static_cast<std::size_t>(found - devices.begin());
}

std::shared_ptr<Device> Devices::open(std::size_t index) {
  Opened& all = opened();
  if (index >= all.slots.size()) {
    throw ArgumentError(
        fmt::format("device {} does not exist, there are {}. Fix: pass the index of an entry of devices().", index, all.slots.size()));
  }
  const PhysicalDevice& physical = all.instance->devices()[index];
  if (!physical.info.usable) throw DeviceError(fmt::to_string(fmt::join(physical.info.reasons, " ")));
  Slot& slot = *all.slots[index];
  const std::lock_guard lock(slot.mutex);
  if (slot.device && slot.device->context().unusable()) {
    // The driver makes a new context only after every holder has released the old one. Arrays may keep the lost device alive, so its
    // context is released explicitly.
    if (slot.device->context().lost()) slot.device->context().release();
    slot.device.reset();
  }
  if (!slot.device) {
    const Span span("open device");
    slot.device = Device::open(all.instance, physical, options_);
  }
  return slot.device;
}

}  // namespace vyre::run::cuda
