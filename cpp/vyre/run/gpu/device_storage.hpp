// Has what all arrays on a device know about it: which device it is, and until when it uses the array.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "vyre/base/error.hpp"
#include "vyre/run/gpu/retired.hpp"
#include "vyre/run/gpu/waiting.hpp"
#include "vyre/run/storage.hpp"

namespace vyre::run {

// Calls are recorded on one device. Throws if a call found another one, because this one was lost: the error that lost it, if a
// submission did.
template <class Device>
void check_same(Device& device, const Device& found) {
  if (&device == &found) return;
  device.stream().rethrow_failure();
  throw DeviceLostError(
      fmt::format("device `{}` was lost while calls were recorded. Fix: make its arrays anew, and call again.", device.name()));
}

// `Device` has context(), stream() and name().
template <class Device>
class DeviceStorage : public Storage {
 public:
  std::uint64_t bytes() const final { return bytes_; }
  void wait(const RunOptions& options) final {
    check_reachable();
    wait_for_calls([&] { device_->stream().wait(last_use_, Waiting(options)); });
    rethrow_failure();
  }

  Device& device() const { return *device_; }
  // Does what check_reachable() does. If a call that was to write this storage failed, throws that call's error.
  void check_usable() const {
    check_reachable();
    rethrow_failure();
  }
  // Reports that a submission uses this storage. Called in the order of the stream.
  void used_until(TimelineValue value) { raise(last_use_, value); }

 protected:
  DeviceStorage(std::shared_ptr<Device> device, std::uint64_t bytes) : device_(std::move(device)), bytes_(bytes) {}

  // Throws in a forked process, and after the device was lost.
  void check_reachable() const {
    device_->context().check_process();
    if (!device_->context().unusable()) return;
    device_->stream().rethrow_failure();
    throw DeviceLostError(
        fmt::format("device `{}` was lost, and the arrays on it with it. Fix: make them anew, and call again.", device_->name()));
  }
  TimelineValue last_use() const { return last_use_; }

 private:
  const std::shared_ptr<Device> device_;
  const std::uint64_t bytes_;
  std::atomic<TimelineValue> last_use_ = 0;
};

}  // namespace vyre::run
