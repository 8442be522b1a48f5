#include "vyre/run/cuda/api/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "vyre/base/error.hpp"
#include "vyre/base/refused.hpp"
#include "vyre/run/gpu/driver_errors.hpp"

namespace vyre::run::cuda {
namespace {

void* library = nullptr;

// Identifies the file that holds the function by its size and modification time. Empty where the system does not report them.
std::string file_of(const void* function) {
  Dl_info found{};
  struct stat file {};
  if (function == nullptr || dladdr(function, &found) == 0 || found.dli_fname == nullptr || stat(found.dli_fname, &file) != 0) return {};
  return fmt::format("{:x}.{:x}", file.st_size, file.st_mtime);
}

}  // namespace

Library system_library() {
  // The object is never destroyed, because registering a destructor takes a lock of the C library. If a process forks while another thread
  // loads a driver and holds this lock, the lock stays taken in the child for ever.
  static const Library& found = *new Library([] {
    // Containers and distributions install the driver in different folders, which the dynamic loader searches. It may not search the folder
    // of WSL.
    for (const char* const name : {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"}) {
      if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    if (library == nullptr) {
      return Library{nullptr,
                     "the CUDA driver (libcuda.so.1) was not found. Fix: install NVIDIA's driver where there is a GPU of theirs, and start "
                     "containers with it "
                     "(`docker run --gpus all`)."};
    }
    return Library{[](const char* symbol) { return dlsym(library, symbol); }, {}, file_of(dlsym(library, "cuInit"))};
  }());
  return found;
}

Api load(FindSymbol find) {
  Api api;
  const auto required = [&](const char* symbol) {
    void* const address = find(symbol);
    if (address == nullptr) {
      throw DeviceError(fmt::format("the CUDA driver has no function `{}`. Fix: update it; CUDA 11.4 is enough.", symbol));
    }
    return address;
  };
#define FUNCTION(name, symbol, parameters) api.name = reinterpret_cast<decltype(api.name)>(required(symbol));
#include "vyre/run/cuda/api/functions.def"
  return api;
}

// According to the driver's documentation, all further work of this process on the device fails after one of these errors.
bool is_lost(CUresult result) {
  switch (result) {
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK:
    case CUDA_ERROR_MPS_RPC_FAILURE:
    case CUDA_ERROR_MPS_CLIENT_TERMINATED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
      return true;
    default:
      return false;
  }
}

void fail(const Api& api, CUresult result, const char* call, std::string_view device) {
  const char* known = nullptr;
  if (api.cuGetErrorName(result, &known) != CUDA_SUCCESS) known = nullptr;
  const std::string name = known != nullptr ? known : fmt::format("CUresult {}", result);
  DriverFailure failure = is_lost(result) ? DriverFailure::DeviceLost : DriverFailure::Other;
  if (result == CUDA_ERROR_OUT_OF_MEMORY) failure = DriverFailure::DeviceMemory;
  throw_driver_error(failure, call, device, name);
}

void check_process(pid_t opened_by) {
  if (opened_by == getpid()) return;
  throw forked("CUDA was opened");
}

}  // namespace vyre::run::cuda
