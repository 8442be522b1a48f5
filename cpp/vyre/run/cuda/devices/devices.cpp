#include "vyre/run/cuda/devices/devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vyre/base/error.hpp"
#include "vyre/run/cuda/api/absent.hpp"

namespace vyre::run::cuda {

Devices::Devices(FindLibrary find, Options options)
    : options_(std::move(options)), opened_([find = std::move(find)] { return std::make_shared<Instance>(find()); }, cuda::check_process) {}

std::vector<DeviceInfo> Devices::infos() {
  std::vector<DeviceInfo> list;
  for (const PhysicalDevice& device : opened_.instance().devices()) list.push_back(device.info);
  const auto first = std::ranges::find_if(list, &DeviceInfo::usable);
  if (first != list.end()) {
    first->is_default = true;
    first->default_for = "calls that name no device";
  }
  return list;
}

std::size_t Devices::choose() {
  const std::vector<PhysicalDevice>& devices = opened_.instance().devices();
  std::vector<std::string> reasons;
  for (std::size_t index = 0; index < devices.size(); ++index) {
    if (devices[index].info.usable) return index;
    reasons.insert(reasons.end(), devices[index].info.reasons.begin(), devices[index].info.reasons.end());
  }
  if (reasons.empty()) throw NoCudaError("the CUDA driver finds no GPU. Fix: give the process one, or use backend `cpu`.");
  throw_unusable(reasons);
}

std::size_t Devices::device_of(CUdeviceptr address) {
  const Instance& instance = opened_.instance();
  int ordinal = 0;
  if (instance.api().cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) != CUDA_SUCCESS) {
    throw ArgumentError(
        fmt::format("address {:#x} lies on no CUDA device of this process. Fix: pass an array that its library still keeps.", address));
  }
  const std::vector<PhysicalDevice>& devices = instance.devices();
  const auto found = std::ranges::find(devices, ordinal, &PhysicalDevice::handle);
  if (found == devices.end())
    throw ArgumentError("an array lies on a CUDA device that vyre does not list. Fix: copy it to one that it lists.");
  return static_cast<std::size_t>(found - devices.begin());
}

std::shared_ptr<Device> Devices::open(std::size_t index) {
  return opened_.device(
      index,
      [this](const std::shared_ptr<Instance>& instance, const PhysicalDevice& physical) {
        return Device::open(instance, physical, options_);
      },
      [](Device& unusable) {
        // The driver makes a new context only after every holder has released the old one. Arrays may keep the lost device alive, so its
        // context is released explicitly.
        if (unusable.context().lost()) unusable.context().release();
      });
}

}  // namespace vyre::run::cuda
