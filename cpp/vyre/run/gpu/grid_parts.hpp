// Splits a grid into dispatches that are within the limits of a device.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "vyre/run/backend.hpp"

namespace vyre::run {

// One workgroup of a coarsened kernel does the work of this many workgroups along x.
inline constexpr std::uint32_t kCoarseFactor = 4;

struct GridPart {
  bool coarse = false;                  // runs on the coarsened kernel; `first` and `groups` then count its workgroups
  std::array<std::uint32_t, 3> first;   // the first workgroup
  std::array<std::uint32_t, 3> groups;  // the number of workgroups
};

class GridParts {
 public:
  // Each part has at most `most` workgroups along each axis. With `coarse`, the coarsened kernel runs as much of the grid as it can, and
  // the plain one runs the rest.
  GridParts(Grid grid, const std::array<std::uint32_t, 3>& most, bool coarse = false)
      : coarse_{{0, 0, 0}, {coarse ? grid.x / kCoarseFactor : 0, grid.y, grid.z}, most},
        plain_{{coarse_.groups[0] * kCoarseFactor, 0, 0}, {grid.x - coarse_.groups[0] * kCoarseFactor, grid.y, grid.z}, most} {}

  // An axis has at most 2^32 workgroups and devices allow at least 65,535 in a part, so the product does not overflow.
  std::uint64_t count() const { return coarse_.count() + plain_.count(); }

  GridPart operator[](std::uint64_t index) const {
    const std::uint64_t coarse = coarse_.count();
    GridPart part = index < coarse ? coarse_[index] : plain_[index - coarse];
    part.coarse = index < coarse;
    return part;
  }

 private:
  struct Box {
    std::array<std::uint32_t, 3> first, groups, most;

    std::uint64_t count(std::size_t axis) const { return (std::uint64_t{groups[axis]} + most[axis] - 1) / most[axis]; }
    std::uint64_t count() const { return count(0) * count(1) * count(2); }
    GridPart operator[](std::uint64_t index) const {
      GridPart part;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::uint64_t at = index % count(axis) * most[axis];
        index /= count(axis);
        part.first[axis] = static_cast<std::uint32_t>(first[axis] + at);
        part.groups[axis] = static_cast<std::uint32_t>(std::min<std::uint64_t>(most[axis], groups[axis] - at));
      }
      return part;
    }
  };
  Box coarse_, plain_;
};

}  // namespace vyre::run
