// Defines the error of a machine without CUDA.
#pragma once

#include "vyre/base/error.hpp"

namespace vyre::run::cuda {

// There is no driver, or it has no device.
class NoCudaError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

inline constexpr const char* kNoGpu =
    "the CUDA driver finds no GPU. Fix: give the container or the process one, for example with `docker run --gpus all`.";

}  // namespace vyre::run::cuda
