// One call of large host arrays on a device with memory of its own: copied in chunks by several threads, into memory that comes back.
#pragma once

#include <memory>
#include <span>

#include "vyre/run/backend.hpp"
#include "vyre/run/vulkan/compile/pipeline.hpp"

namespace vyre::run::vulkan {

// Whether a call takes less time that way than through a workspace: see run_call.
bool is_large_call(const Device& device, std::span<const BufferView> buffers, const RunOptions& options);

// As Executable::run promises of calls in place.
void run_large_call(const std::shared_ptr<Device>& device, const Kernels& kernels, std::span<const BufferView> buffers, Grid grid,
                    const RunOptions& options);

}  // namespace vyre::run::vulkan
