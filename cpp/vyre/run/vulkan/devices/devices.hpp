// The devices of this process. A device is opened when it is first needed, and anew after it was lost.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

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
  std::shared_ptr<Instance> instance();

  const FindLoader find_loader_;
  const Options options_;
  // The process in which threads open Vulkan, and the number of these threads, which stays above zero once one succeeded. A child that is
  // forked while one of them holds the lock must not wait for it.
  std::atomic<pid_t> process_ = 0;
  std::atomic<int> opening_ = 0;
  std::atomic<bool> opened_ = false;
  std::mutex mutex_;
  std::shared_ptr<Instance> instance_;
  std::vector<std::unique_ptr<Slot>> slots_;  // one for each device of instance_; filled once
};

}  // namespace vyre::run::vulkan
