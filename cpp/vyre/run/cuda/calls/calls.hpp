// Runs calls on an open device: calls with arrays on that device, and calls with host arrays, which are copied in and out.
#pragma once

#include <span>
#include <vector>

#include "vyre/run/backend.hpp"
#include "vyre/run/cuda/calls/launch.hpp"
#include "vyre/run/cuda/device.hpp"
#include "vyre/run/storage.hpp"

namespace vyre::run::cuda {

inline bool is_empty(Grid grid) { return grid.x == 0 || grid.y == 0 || grid.z == 0; }

// The device addresses and the sizes of the arrays of a call.
struct Arrays {
  std::vector<CUdeviceptr> addresses;  // by buffer
  std::vector<std::uint64_t> sizes;    // by buffer, in bytes
  CUdeviceptr counts = 0;              // address of the three words of a grid from data; 0 for a grid by value

  void add(CUdeviceptr address, std::uint64_t bytes) {
    addresses.push_back(address);
    sizes.push_back(bytes);
  }
};
Arrays arrays_of(std::span<const StorageView> views);
// Whether the address of each array is aligned for its elements, so that no array must be copied.
bool is_aligned(const Launch& launch, const Arrays& arrays);

// Submits the launches of a call. An array whose address is not aligned for its elements is copied to an aligned address, and copied back
// if the kernel writes it. `used` is called in the order of the stream with the value of each submission.
void submit_call(Device& device, const Launch& launch, const Arrays& arrays, const Transfers::Used& used, const RunOptions& options);

// Keeps the promises of Executable::run: if it throws, no byte of `buffers` has changed, unless the call is in place. Throws DeviceError
// while the device still works on a call that timed out or was interrupted.
void run_host_call(Device& device, const Kernels& kernels, std::span<const BufferView> buffers, Grid grid, const RunOptions& options);

}  // namespace vyre::run::cuda
