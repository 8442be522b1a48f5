// Closes an open device when its last owner leaves, unless closing would wait for work that never ends.
//
// A device that cannot be closed stays open until the process ends. It stays reachable, too, so that a leak checker does not report what it
// owns.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <mutex>

#include "vyre/base/fork.hpp"

namespace vyre::run {

// The base class of devices. It links the kept ones in a list, so that keeping a device needs no memory. Nothing destroys the list at the
// end of the process.
class KeptDevice {
 public:
  KeptDevice(const KeptDevice&) = delete;
  KeptDevice& operator=(const KeptDevice&) = delete;

 protected:
  KeptDevice() = default;
  ~KeptDevice() = default;
  static void keep_until_process_end(KeptDevice& device) noexcept {
    static ForkSafeMutex mutex;
    static KeptDevice* kept = nullptr;
    const std::lock_guard lock(mutex);
    device.next_ = kept;
    kept = &device;
  }

  // Whether closing the device would not wait: it has ended its work, or is unusable.
  template <class Context, class Stream>
  static bool can_be_closed(const Context& context, Stream& stream) noexcept {
    // How long the last owner of a device waits for work that was submitted and never waited for.
    constexpr auto kPatience = std::chrono::seconds(1);
    // Nothing of a device can be waited for or freed in a process that was forked from the one that opened it.
    if (context.forked()) return false;
    if (context.unusable()) return true;
    try {
      if (stream.has_abandoned_work()) return false;
    } catch (const std::exception&) {
      return context.unusable();
    }
    return stream.idle_within(kPatience) || context.unusable();
  }

  // Returns the first pointer that owns a new device. A Device has context() and stream().
  template <class Device>
  static std::shared_ptr<Device> owned(Device* device) {
    return std::shared_ptr<Device>(device, [](Device* last) {
      if (can_be_closed(last->context(), last->stream())) {
        delete last;
      } else {
        keep_until_process_end(*last);
      }
    });
  }

 private:
  KeptDevice* next_ = nullptr;
};

}  // namespace vyre::run
