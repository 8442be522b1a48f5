// The devices of this process, opened when they are first needed and anew when one was lost.
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

  // Throws DeviceError in a process that was forked from the one that opened Vulkan. Everything here asks this first, before it
  // takes a lock that a thread of the parent may have held.
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
  // The process whose threads have opened Vulkan, or are about to, and how many of these there are. It never falls to zero once one
  // succeeded: a child that is forked after this must not wait for a lock that they hold.
  std::atomic<pid_t> process_ = 0;
  std::atomic<int> opening_ = 0;
  std::atomic<bool> opened_ = false;
  std::mutex mutex_;
  std::shared_ptr<Instance> instance_;
  std::vector<std::unique_ptr<Slot>> slots_;  // as many as instance_ has devices; filled once
};

}  // namespace vyre::run::vulkan
