// What streams say and do about calls that timed out or were interrupted, whose work the device goes on with.
#pragma once

#include <chrono>
#include <string_view>

#include "vyre/base/error.hpp"
#include "vyre/run/gpu/waiting.hpp"

namespace vyre::run {

// Throws DeviceError: the device works on such a call.
[[noreturn]] void throw_busy_with_abandoned_work(std::string_view device);

// Whether `wait(Waiting)` ends within this time. Throws what it throws.
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
