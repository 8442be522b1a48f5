// The errors of drivers' calls, which are the same for all drivers of GPUs.
#pragma once

#include <cstdint>
#include <string_view>

namespace vyre::run {

enum class DriverFailure : std::uint8_t { HostMemory, DeviceMemory, DeviceLost, Other };

// Throws the DeviceError of a call that failed. `device` is empty for a call that concerns none; `result` is the name of what it gave.
[[noreturn]] void throw_driver_error(DriverFailure failure, std::string_view call, std::string_view device, std::string_view result);

}  // namespace vyre::run
