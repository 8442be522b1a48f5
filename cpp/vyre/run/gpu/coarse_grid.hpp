// Decides when a call runs on a coarsened kernel, where each workgroup does the work of several.
#pragma once

#include <array>
#include <cstdint>

#include "vyre/run/backend.hpp"
#include "vyre/run/gpu/grid_parts.hpp"

namespace vyre::run {

// Whether a grid of workgroups of this size has enough invocations left, once it is coarsened, to fill a large GPU.
inline bool fills_a_gpu_coarsened(Grid grid, const std::array<std::uint32_t, 3>& workgroup_size) {
  // A large GPU runs a quarter of a million invocations at once (an NVIDIA H200: 132 * 2048). With fewer than that left after coarsening,
  // a part of it would be idle, and such a dispatch takes only microseconds.
  constexpr std::uint64_t kEnough = std::uint64_t{kCoarseFactor} << 18;
  const std::array<std::uint32_t, 3> groups = {grid.x, grid.y, grid.z};
  std::uint64_t invocations = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    // An axis has at most 2^32 invocations, so this cannot overflow.
    invocations *= std::uint64_t{groups[axis]} * workgroup_size[axis];
    if (invocations >= kEnough) return true;
  }
  return false;
}

// A program is specialised for words of Uniform buffers once this many invocations have run with them. Compiling the specialised kernel
// takes the driver about as long as a large GPU takes for these invocations, for example 16 calls of 16 M invocations.
inline constexpr std::uint64_t kEnoughToSpecialize = std::uint64_t{1} << 28;

}  // namespace vyre::run
