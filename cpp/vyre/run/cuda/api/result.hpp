// Turns a CUresult into a typed error.
#pragma once

#include <unistd.h>

#include <string_view>

#include "vyre/run/cuda/api/library.hpp"

namespace vyre::run::cuda {

// Whether the result says that the context of the device is lost for this process.
bool is_lost(CUresult result);
// Throws DeviceMemoryError, DeviceLostError or DeviceError. `device` is the name of the device, or empty before one is open.
[[noreturn]] void fail(const Api& api, CUresult result, const char* call, std::string_view device);

inline void check(const Api& api, CUresult result, const char* call, std::string_view device) {
  if (result != CUDA_SUCCESS) fail(api, result, call, device);
}

// Throws DeviceError in any process except the one that opened CUDA: the driver does not survive a fork.
void check_process(pid_t opened_by);

}  // namespace vyre::run::cuda
