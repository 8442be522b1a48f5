#include "vyre/run/cuda/api/result.hpp"

#include <fmt/format.h>

#include <string>

#include "vyre/base/error.hpp"
#include "vyre/base/refused.hpp"
#include "vyre/run/gpu/driver_errors.hpp"

namespace vyre::run::cuda {

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
