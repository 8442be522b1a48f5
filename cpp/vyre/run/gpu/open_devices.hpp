// Keeps the devices of a driver that this process has opened. A device is opened when it is first needed, and anew once it is unusable.
// A driver may list a device and fail to make what calls need, so a device counts as usable only
// while it can be opened.
//
// The first call that needs the driver's instance makes it, and it never changes afterwards. Each device has a lock of its own, so
// that opening one device does not block calls on other devices.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "vyre/base/error.hpp"
#include "vyre/base/log.hpp"
#include "vyre/run/backend.hpp"
#include "vyre/run/gpu/once_per_process.hpp"
#include "vyre/run/profile.hpp"

namespace vyre::run {

// Throws DeviceError with these reasons why no device can be used.
[[noreturn]] inline void throw_unusable(const std::vector<std::string>& reasons) {
  throw DeviceError(fmt::to_string(fmt::join(reasons, " ")));
}

// `Instance` has devices(), a list of structs with the DeviceInfo `info`. `Device` has context(), which has unusable(). Any thread may call
// any function.
template <class Instance, class Device>
class OpenDevices {
  using Physical = std::remove_cvref_t<decltype(std::declval<Instance&>().devices().front())>;

 public:
  struct Driver {
    std::function<std::shared_ptr<Instance>()> make;
    void (*refuse)(pid_t process);  // throws unless this process is the one with that id
    // Opens a device. Throws DeviceError if the device cannot be used.
    std::function<std::shared_ptr<Device>(const std::shared_ptr<Instance>&, const Physical&)> open;
    // Is given an unusable device before it is opened anew.
    void (*close)(Device& unusable) = [](Device&) {};
  };
  explicit OpenDevices(Driver driver) : driver_(std::move(driver)) {}

  // Throws DeviceError in a process that was forked from the one that made the instance. The other functions call this before they take a
  // lock that a thread of the parent may have held.
  void check_process() const { all_.check_process(driver_.refuse); }
  Instance& instance() { return *all().instance; }
  // Returns an open device. Throws ArgumentError for an index out of range, DeviceError for a device that cannot be used.
  std::shared_ptr<Device> device(std::size_t index) {
    All& all = this->all();
    if (index >= all.slots.size()) {
      throw ArgumentError(
          fmt::format("device {} does not exist, there are {}. Fix: pass the index of an entry of devices().", index, all.slots.size()));
    }
    const auto& physical = all.instance->devices()[index];
    if (!physical.info.usable) throw_unusable(physical.info.reasons);
    Slot& slot = all.slots[index];
    const std::lock_guard lock(slot.mutex);
    if (slot.device && slot.device->context().unusable()) {
      driver_.close(*slot.device);
      slot.device.reset();
    }
    if (!slot.device) {
      const Span span("open device");
      slot.device = open(all, index);
    }
    return slot.device;
  }
  // Returns the first device of `order(devices)` that can be opened. All later calls return the
  // same one. Throws DeviceError with the reasons of all devices if none can be opened.
  template <class Order>
  std::size_t first(const Order& order) {
    All& all = this->all();
    if (all.first != kNone) return all.first;
    std::vector<std::string> passed_over;
    for (const std::size_t index : order(all.instance->devices())) {
      try {
        device(index);
      } catch (const DeviceError& error) {
        passed_over.push_back(error.what());
        continue;
      }
      std::size_t none = kNone;
      // Another thread may have found one first.
      if (all.first.compare_exchange_strong(none, index)) {
        for (const std::string& why : passed_over) log_warning("a device is passed over for good: " + why);
      }
      return all.first;
    }
    std::vector<std::string> reasons;
    for (const DeviceInfo& info : infos()) reasons.insert(reasons.end(), info.reasons.begin(), info.reasons.end());
    throw_unusable(reasons);
  }
  // Opens each device that was not opened yet, and closes it again.
  void try_all() {
    All& all = this->all();
    for (std::size_t index = 0; index < all.slots.size(); ++index) {
      const std::lock_guard lock(all.slots[index].mutex);
      if (all.slots[index].failure || !all.instance->devices()[index].info.usable) continue;
      try {
        open(all, index);
      } catch (const DeviceError&) {
        // infos() has the reason
      }
    }
  }
  // All devices. One that could not be opened the last time has the reason. The result of first() is
  // the default.
  std::vector<DeviceInfo> infos() {
    All& all = this->all();
    std::vector<DeviceInfo> list;
    for (std::size_t index = 0; index < all.slots.size(); ++index) {
      DeviceInfo& info = list.emplace_back(all.instance->devices()[index].info);
      const std::lock_guard lock(all.slots[index].mutex);
      const std::string failure = all.slots[index].failure.value_or("");
      if (!failure.empty()) info.reasons.push_back(failure);
      info.usable = info.reasons.empty();
      info.is_default = all.first == index;
    }
    return list;
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  struct Slot {
    std::mutex mutex;
    std::shared_ptr<Device> device;
    // Why the device could not be opened the last time: empty if it could, none if that was not tried.
    std::optional<std::string> failure;
  };
  struct All {
    explicit All(std::shared_ptr<Instance> made) : instance(std::move(made)), slots(instance->devices().size()) {}
    const std::shared_ptr<Instance> instance;
    std::vector<Slot> slots;                 // one for each device of the instance
    std::atomic<std::size_t> first = kNone;  // the result of first()
  };
  // The slot is locked.
  std::shared_ptr<Device> open(All& all, std::size_t index) {
    std::optional<std::string>& failure = all.slots[index].failure;
    try {
      std::shared_ptr<Device> device = driver_.open(all.instance, all.instance->devices()[index]);
      failure = "";
      return device;
    } catch (const DeviceError& error) {
      failure = error.what();
      throw;
    }
  }
  All& all() {
    check_process();
    return *all_.get([this] { return std::make_shared<All>(driver_.make()); });
  }

  const Driver driver_;
  OncePerProcess<All> all_;
};

}  // namespace vyre::run
