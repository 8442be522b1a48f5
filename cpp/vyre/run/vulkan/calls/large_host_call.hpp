// Runs a call of large host arrays on a device with memory of its own: several threads copy the arrays in chunks.
#pragma once

#include <memory>
#include <span>

#include "vyre/run/backend.hpp"
#include "vyre/run/vulkan/compile/pipeline.hpp"
#include "vyre/run/vulkan/device.hpp"

namespace vyre::run::vulkan {

// Whether run_large_host_call can replace run_host_call and takes less time: the call is in place, the device has memory of its own, and
// the arrays are large.
bool is_large_call(const Device& device, std::span<const BufferView> buffers, const RunOptions& options);

// For calls in place (RunOptions::in_place): if it throws, any bytes of `buffers` may have changed.
void run_large_host_call(const std::shared_ptr<Device>& device, const Kernels& kernels, std::span<const BufferView> buffers, Grid grid,
                         const RunOptions& options);

}  // namespace vyre::run::vulkan
