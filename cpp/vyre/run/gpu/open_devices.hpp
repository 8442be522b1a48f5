// Keeps the devices of a driver that this process has opened. A device is opened when it is first needed, and anew once it is unusable.
//
// The first call that needs the driver's instance makes it, and it never changes afterwards. Each device has a lock of its own, so
// that opening one device does not block calls on other devices.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "vyre/run/gpu/once_per_process.hpp"
#include "vyre/run/profile.hpp"

namespace vyre::run {

// Throws ArgumentError unless the index is below the count of the devices.
void check_device_index(std::size_t index, std::size_t count);
// Throws DeviceError with these reasons why no device can be used.
[[noreturn]] void throw_unusable(const std::vector<std::string>& reasons);

// `Instance` has devices(), a list of structs with the DeviceInfo `info`. `Device` has context(), which has unusable(). Any thread may call
// any function.
template <class Instance, class Device>
class OpenDevices {
 public:
  // `make` makes the instance. `refuse(process)` throws unless this process is the one with that id.
  OpenDevices(std::function<std::shared_ptr<Instance>()> make, void (*refuse)(pid_t process)) : make_(std::move(make)), refuse_(refuse) {}

  // Throws DeviceError in a process that was forked from the one that made the instance. The other functions call this before they take a
  // lock that a thread of the parent may have held.
  void check_process() const { all_.check_process(refuse_); }
  Instance& instance() { return *all().instance; }
  // Returns an open device. Throws ArgumentError for an index out of range, DeviceError for a device that cannot be used. An unusable
  // device is passed to `close(device)`, and `open(instance, physical)` opens it anew.
  template <class Open, class Close>
  std::shared_ptr<Device> device(std::size_t index, const Open& open, const Close& close) {
    All& all = this->all();
    check_device_index(index, all.slots.size());
    const auto& physical = all.instance->devices()[index];
    if (!physical.info.usable) throw_unusable(physical.info.reasons);
    Slot& slot = all.slots[index];
    const std::lock_guard lock(slot.mutex);
    if (slot.device && slot.device->context().unusable()) {
      close(*slot.device);
      slot.device.reset();
    }
    if (!slot.device) {
      const Span span("open device");
      slot.device = open(all.instance, physical);
    }
    return slot.device;
  }

 private:
  struct Slot {
    std::mutex mutex;
    std::shared_ptr<Device> device;
  };
  struct All {
    explicit All(std::shared_ptr<Instance> made) : instance(std::move(made)), slots(instance->devices().size()) {}
    const std::shared_ptr<Instance> instance;
    std::vector<Slot> slots;  // one for each device of the instance
  };
  All& all() {
    check_process();
    return *all_.get([this] { return std::make_shared<All>(make_()); });
  }

  const std::function<std::shared_ptr<Instance>()> make_;
  void (*const refuse_)(pid_t);
  OncePerProcess<All> all_;
};

}  // namespace vyre::run
