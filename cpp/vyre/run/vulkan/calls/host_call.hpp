// Runs a call of host arrays: copies them in, runs the kernels, waits, and copies the results out.
#pragma once

#include <span>

#include "vyre/run/backend.hpp"
#include "vyre/run/vulkan/compile/pipeline.hpp"
#include "vyre/run/vulkan/device.hpp"

namespace vyre::run::vulkan {

// Keeps the promises of Executable::run: if it throws, no byte of `buffers` has changed, unless the call is in place. Throws DeviceError
// while the device still works on a call that timed out or was interrupted.
void run_host_call(Device& device, const Kernels& kernels, std::span<const BufferView> buffers, Grid grid, const RunOptions& options);

}  // namespace vyre::run::vulkan
