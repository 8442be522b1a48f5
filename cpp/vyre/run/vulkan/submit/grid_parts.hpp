// A grid cut into dispatches that a device takes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "vyre/run/backend.hpp"

namespace vyre::run::vulkan {

// Workgroups along x of which a coarsened kernel does the work in one.
inline constexpr std::uint32_t kWays = 4;

struct Part {
  bool coarse = false;                  // of the coarsened kernel, and counted in its workgroups
  std::array<std::uint32_t, 3> first;   // workgroup
  std::array<std::uint32_t, 3> groups;  // of them
};

class Parts {
 public:
  // At most so many workgroups a part along each axis. With a coarsened kernel, as much as it can do, and what is left over.
  Parts(Grid grid, const std::array<std::uint32_t, 3>& most, bool coarse = false)
      : coarse_{{0, 0, 0}, {coarse ? grid.x / kWays : 0, grid.y, grid.z}, most},
        plain_{{coarse_.groups[0] * kWays, 0, 0}, {grid.x - coarse_.groups[0] * kWays, grid.y, grid.z}, most} {}

  // The ends of all three axes fit: 2^32 workgroups at most each, in parts of many.
  std::uint64_t count() const { return coarse_.count() + plain_.count(); }

  Part operator[](std::uint64_t index) const {
    const std::uint64_t coarse = coarse_.count();
    Part part = index < coarse ? coarse_[index] : plain_[index - coarse];
    part.coarse = index < coarse;
    return part;
  }

 private:
  struct Box {
    std::array<std::uint32_t, 3> first, groups, most;

    std::uint64_t count(std::size_t axis) const { return (std::uint64_t{groups[axis]} + most[axis] - 1) / most[axis]; }
    std::uint64_t count() const { return count(0) * count(1) * count(2); }
    Part operator[](std::uint64_t index) const {
      Part part;
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

}  // namespace vyre::run::vulkan
