// The devices of this process. A device is opened when it is first needed, and anew after it was lost.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "vyre/run/gpu/once_per_process.hpp"
#include "vyre/run/vulkan/api/instance.hpp"
#include "vyre/run/vulkan/api/options.hpp"
#include "vyre/run/vulkan/device.hpp"

namespace vyre::run::vulkan {

using FindLoader = std::function<Loader()>;

class Devices {
 public:
  Devices(FindLoader find_loader, Options options);

  // Throws DeviceError in a process that was forked from the one that opened Vulkan. All functions call this first, before they take a lock
  // that a thread of the parent may have held.
  void check_process() const;

  // In the loader's order, with what probes found so far. Throws NoVulkanError where there is no Vulkan.
  std::vector<DeviceInfo> infos();
  // The device to use when the caller names none: a GPU before a software one, and of those llvmpipe. Throws DeviceError with all reasons
  // when none fits.
  std::size_t choose();
  // The default device for a program. If that device's driver ends loops after a number of rounds and the program is not proven to stay
  // below it, another software device without this limit is chosen when there is one. `proven_within` is called only in that case.
  std::size_t choose(const std::function<bool(std::uint32_t loop_budget)>& proven_within);
  std::string name(std::size_t index) { return instance()->devices().at(index).info.name; }
  // An open, probed device. Throws ArgumentError for an index out of range, DeviceError for a device that does not fit.
  std::shared_ptr<Device> open(std::size_t index);

 private:
  struct Slot {
    std::mutex mutex;
    std::shared_ptr<Device> device;
  };
  struct Opened {
    std::shared_ptr<Instance> instance;
    std::vector<std::unique_ptr<Slot>> slots;  // one for each device of the instance
  };
  Opened& opened();
  std::shared_ptr<Instance> instance() { return opened().instance; }

  const FindLoader find_loader_;
  const Options options_;
  OncePerProcess<Opened> opened_;
};

}  // namespace vyre::run::vulkan
