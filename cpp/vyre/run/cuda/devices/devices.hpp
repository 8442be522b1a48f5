// Lists the devices of this process, chooses one for calls that name none, and opens them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "vyre/run/cuda/api/context.hpp"
#include "vyre/run/cuda/device.hpp"
#include "vyre/run/gpu/open_devices.hpp"

namespace vyre::run::cuda {

using FindLibrary = std::function<Library()>;

class Devices {
 public:
  Devices(FindLibrary find, Options options);

  // Throws DeviceError in a process that was forked from the one that opened CUDA. All functions call this first.
  void check_process() const { opened_.check_process(); }
  // Lists the devices in the driver's order, with what is known of them so far. Throws NoCudaError where there is no driver.
  std::vector<DeviceInfo> infos();
  // Opens the devices that were not opened yet, and closes them again.
  void try_all() { opened_.try_all(); }
  // The device to use when the caller names none: the driver's first that can be opened. It stays the
  // same. Throws DeviceError with all reasons when none can.
  std::size_t choose();
  const std::string& name(std::size_t index) { return opened_.instance().devices().at(index).info.name; }
  // Returns the index of the device that has the memory at `address`. Throws ArgumentError if no device has it.
  std::size_t device_of(CUdeviceptr address);
  // An open device. Throws ArgumentError for an index out of range, DeviceError for a device that does not fit.
  std::shared_ptr<Device> open(std::size_t index) { return opened_.device(index); }

 private:
  OpenDevices<Instance, Device> opened_;
};

}  // namespace vyre::run::cuda
