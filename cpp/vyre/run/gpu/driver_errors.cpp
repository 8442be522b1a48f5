#include "vyre/run/gpu/driver_errors.hpp"

#include <fmt/format.h>

#include "vyre/base/error.hpp"

namespace vyre::run {

void throw_driver_error(DriverFailure failure, std::string_view call, std::string_view device, std::string_view result) {
  const std::string where = device.empty() ? std::string() : fmt::format(" on device `{}`", device);
  if (failure == DriverFailure::DeviceLost) {
    throw DeviceLostError(fmt::format(
        "{} failed: the device was lost{} ({}). Fix: call again, which opens the device anew; if it is lost again, restart the process.",
        call, where, result));
  }
  if (failure == DriverFailure::Other) {
    throw DeviceError(fmt::format("{} failed{} ({}). Fix: check the driver's installation, or use another device.", call, where, result));
  }
  throw DeviceMemoryError(fmt::format("{} ran out of {}memory{} ({}). Fix: pass smaller arrays, or use another device.", call,
                                      failure == DriverFailure::HostMemory ? "host " : "", where, result));
}

}  // namespace vyre::run
