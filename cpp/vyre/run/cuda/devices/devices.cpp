#include "vyre/run/cuda/devices/devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vyre/base/error.hpp"

namespace vyre::run::cuda {

namespace {

std::vector<std::size_t> fitting(const std::vector<PhysicalDevice>& devices) {
  std::vector<std::size_t> found;
  for (std::size_t index = 0; index < devices.size(); ++index) {
    if (devices[index].info.usable) found.push_back(index);
  }
  return found;
}

}  // namespace

Devices::Devices(FindLibrary find, Options options)
    : opened_({.make = [find = std::move(find)] { return std::make_shared<Instance>(find()); },
               .refuse = cuda::check_process,
               .open = [options = std::move(options)](const std::shared_ptr<Instance>& instance,
                                                      const PhysicalDevice& physical) { return Device::open(instance, physical, options); },
               .close =
                   [](Device& unusable) {
                     // The driver makes a new context only after every holder has released the old one. Arrays may keep the lost device
                     // alive, so its context is released explicitly.
                     if (unusable.context().lost()) unusable.context().release();
                   }}) {}

std::vector<DeviceInfo> Devices::infos() {
  std::vector<DeviceInfo> list = opened_.infos();
  const auto first = std::ranges::find_if(list, &DeviceInfo::is_default);
  if (first != list.end()) first->default_for = "calls that name no device";
  return list;
}

std::size_t Devices::choose() {
  if (opened_.instance().devices().empty()) throw NoCudaError(kNoGpu);
  return opened_.first(fitting);
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

}  // namespace vyre::run::cuda
