// Defines the error of a machine without CUDA.
#pragma once

#include "vyre/base/error.hpp"

namespace vyre::run::cuda {

// There is no driver, or it has no device.
class NoCudaError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

}  // namespace vyre::run::cuda
