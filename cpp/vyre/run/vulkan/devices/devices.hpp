// Lists the devices of this process, chooses one for calls that name none, and opens and probes them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "vyre/run/gpu/open_devices.hpp"
#include "vyre/run/vulkan/api/context.hpp"
#include "vyre/run/vulkan/api/instance.hpp"
#include "vyre/run/vulkan/device.hpp"

namespace vyre::run::vulkan {

using FindLoader = std::function<Loader()>;

class Devices {
 public:
  Devices(FindLoader find_loader, Options options);

  // Throws DeviceError in a process that was forked from the one that opened Vulkan. All functions call this first, before they take a lock
  // that a thread of the parent may have held.
  void check_process() const { opened_.check_process(); }

  // All devices in the loader's order, with what is known of them so far. Throws NoVulkanError if there is no Vulkan.
  std::vector<DeviceInfo> infos();
  // Opens and probes the devices that were not opened yet, and closes them again.
  void try_all() { opened_.try_all(); }
  // The device to use when the caller names none: the first that can be opened, of the GPUs and then
  // of the software devices, llvmpipe before others. It stays the same. Throws DeviceError with the
  // reasons of all devices if none is usable.
  std::size_t choose();
  // The default device for a program. If the driver of the first choice ends loops after a number of rounds, and the program is not proven
  // to need no more rounds, this chooses another software device without the limit, if there is one. `proven_within` is called only if the
  // first choice has the limit and there is another device.
  std::size_t choose(const std::function<bool(std::uint32_t loop_budget)>& proven_within);
  std::string name(std::size_t index) { return opened_.instance().devices().at(index).info.name; }
  // An open, probed device. Throws ArgumentError for an index out of range, DeviceError for a device that is not usable.
  std::shared_ptr<Device> open(std::size_t index) { return opened_.device(index); }

 private:
  OpenDevices<Instance, Device> opened_;
};

}  // namespace vyre::run::vulkan
