// Finds the CUDA driver's library at run time and keeps its functions in a table.
//
// Nothing links libcuda, so the package loads on a machine without it and can say why there is no device. The table is a value, so tests
// can replace the system's driver with one that fails on command.
#pragma once

#include <string>

#include "vyre/run/cuda/api/types.hpp"

namespace vyre::run::cuda {

// Gives the address of a symbol, or null.
using FindSymbol = void* (*)(const char* symbol);

// `find` is null on a machine without the driver; `reason` then says why.
struct Library {
  FindSymbol find = nullptr;
  std::string reason;
  std::string file = {};  // the size and modification time of the library's file, which differ between drivers
};

// Returns the driver of this machine. Searches for it once per process.
Library system_library();

struct Api {
#define FUNCTION(name, symbol, parameters) CUresult(*name) parameters = nullptr;
#include "vyre/run/cuda/api/functions.def"
};

// Throws DeviceError when a function is missing.
Api load(FindSymbol find);

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
