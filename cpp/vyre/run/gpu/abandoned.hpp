// Helps streams with abandoned work: work of calls that timed out or were interrupted, which the device still does.
#pragma once

#include <chrono>
#include <string_view>

#include "vyre/base/error.hpp"
#include "vyre/run/gpu/waiting.hpp"

namespace vyre::run {

// Throws the DeviceError for a device that is still busy with abandoned work.
[[noreturn]] void throw_busy_with_abandoned_work(std::string_view device);

// Returns whether `wait(Waiting)` ends within `time`: false if it throws DispatchTimeoutError. Other exceptions of `wait` pass through.
template <class Wait>
bool ends_within(std::chrono::duration<double> time, const Wait& wait) {
  RunOptions options;
  options.timeout = time;
  try {
    wait(Waiting(options));
  } catch (const DispatchTimeoutError&) {
    return false;
  }
  return true;
}

}  // namespace vyre::run
