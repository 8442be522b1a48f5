// Calls on an open device: of arrays that lie on it, and of host arrays, which are copied in and out.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "vyre/run/backend.hpp"
#include "vyre/run/cuda/device.hpp"
#include "vyre/run/cuda/launch.hpp"
#include "vyre/run/storage.hpp"

namespace vyre::run::cuda {

inline bool is_empty(Grid grid) { return grid.x == 0 || grid.y == 0 || grid.z == 0; }

// Where the arrays of a call lie, and what they take together.
struct Arrays {
  std::vector<CUdeviceptr> addresses;  // by buffer
  std::vector<std::uint64_t> sizes;    // by buffer, in bytes
  CUdeviceptr counts = 0;              // of a grid from data

  void add(CUdeviceptr address, std::uint64_t bytes) {
    addresses.push_back(address);
    sizes.push_back(bytes);
  }
};
Arrays arrays_of(std::span<const StorageView> views);
// Whether the device can access the elements of all arrays where they lie.
bool is_aligned(const Launch& launch, const Arrays& arrays);

// Submits the launches of a call. An array that begins where the device cannot access its elements is copied there and back. `used` is
// called in the order of the stream with the value of each submission.
void submit_call(Device& device, const Launch& launch, const Arrays& arrays, const Transfers::Used& used, const RunOptions& options);

// Keeps the promises of Executable::run: if it throws, no byte of `buffers` has changed, unless the call is in place. Throws DeviceError
// while the device still works on a call that timed out or was interrupted.
void run_host_call(Device& device, const Kernels& kernels, std::span<const BufferView> buffers, Grid grid, const RunOptions& options);

}  // namespace vyre::run::cuda
