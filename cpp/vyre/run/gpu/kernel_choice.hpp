// Chooses the kernels of a call: specialised for its words of Uniform buffers or for any words, and coarsened or plain.
#pragma once

#include <array>
#include <cstdint>
#include <exception>

#include "vyre/base/error.hpp"
#include "vyre/run/backend.hpp"
#include "vyre/run/gpu/grid_parts.hpp"

namespace vyre::run {

// Returns `special()`, the kernels for these words. If they cannot be compiled, or not in time, returns `usual()`, the kernels for any
// words. Sets `given_up` if later calls should not try `special()` again. Throws if the device was lost, if the call was interrupted, or if
// `usual()` throws.
template <class Special, class Usual>
auto special_or_usual(bool& given_up, const Special& special, const Usual& usual) {
  if (!given_up) {
    try {
      return special();
    } catch (const DeviceLostError&) {
      throw;
    } catch (const Interrupted&) {
      throw;
    } catch (const DispatchTimeoutError&) {
      // The driver goes on compiling; a later call uses the result.
    } catch (const std::exception&) {
      // The kernels for any words give the same result, so a failure to specialise is not reported.
      given_up = true;
    }
  }
  return usual();
}

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
