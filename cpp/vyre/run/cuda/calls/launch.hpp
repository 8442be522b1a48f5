// Enqueues the launches of a call.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vyre/run/cuda/compile/kernel.hpp"
#include "vyre/run/cuda/memory/pool.hpp"
#include "vyre/run/gpu/grid_parts.hpp"
#include "vyre/run/profile.hpp"

namespace vyre::run::cuda {

// The kernels of one call. Each part of the grid (gpu/grid_parts.hpp) runs the plain or the coarse kernel, which have the same parameters.
struct Kernels {
  std::shared_ptr<const Kernel> plain;
  std::shared_ptr<const Kernel> coarse;  // null: the plain one runs the whole grid
  ProfiledProgram program;
  // With a grid from data, the kernel that turns counts of invocations into counts of workgroups; null if the data already count
  // workgroups.
  std::shared_ptr<const Kernel> counts;

  const Kernel& of(bool coarse_part) const { return coarse_part ? *coarse : *plain; }
  bool were_launched() const { return plain->was_launched() && (!coarse || coarse->was_launched()) && (!counts || counts->was_launched()); }
  void launched() const {
    plain->launched();
    if (coarse) coarse->launched();
    if (counts) counts->launched();
  }
  void used_until(TimelineValue value) const {
    plain->used_until(value);
    if (coarse) coarse->used_until(value);
    if (counts) counts->used_until(value);
  }
};

// A prepared call. It holds the parameters of its launches, except the addresses of the arrays.
class Launch {
 public:
  // `lengths` are those of the arrays, by buffer.
  Launch(const Context& context, Kernels kernels, Grid grid, std::span<const std::uint32_t> lengths);

  const Kernels& kernels() const { return kernels_; }
  Grid grid() const { return grid_; }
  // How many operations enqueue() enqueues for these launches.
  std::uint64_t operations(std::uint64_t first, std::uint64_t most) const {
    return std::min(launches() - first, most) * (in_memory() ? 2 : 1) + (kernels_.counts && first == 0 ? 1 : 0);
  }
  // Returns how many bytes of device memory enqueue() needs besides the arrays: for counts, and for parameters that are too large to pass
  // in a launch.
  std::uint64_t extra_bytes() const;
  // Enqueues at most `most` launches from index `first` on, and returns the index of the first launch that is left. `addresses` are those
  // of the arrays, by buffer. `counts` is the address of the three words of a grid from data. `extra` is the address of extra_bytes()
  // bytes.
  std::uint64_t enqueue(Commands& commands, std::span<const CUdeviceptr> addresses, CUdeviceptr counts, CUdeviceptr extra,
                        std::uint64_t first, std::uint64_t most) const;
  std::uint64_t launches() const { return parts_.count(); }
  // Whether enqueue() copies nothing from the host, so that the driver can keep what it enqueues.
  bool is_only_launches() const { return !in_memory(); }

 private:
  bool in_memory() const { return kernels_.plain->source().code.bindings.in_memory(); }

  const Kernels kernels_;
  const Grid grid_;
  const GridParts parts_;
  std::vector<std::byte> block_;  // the parameters, with the lengths filled in
};

// Gives code that turns three counts of invocations into counts of workgroups of `size`.
Source counts_source(const std::array<std::uint32_t, 3>& size);

}  // namespace vyre::run::cuda
