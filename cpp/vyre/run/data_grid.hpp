// Grids from data: the counts of workgroups lie in a U32 array of three, which the call reads when it begins.
//
// In the interface of backends, that array follows the arrays of the program's buffers. The grid that the call gives is then an
// upper bound: each count is clamped to it, and limits are checked against it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "vyre/run/backend.hpp"
#include "vyre/run/storage.hpp"

namespace vyre::run {

inline constexpr std::uint64_t kCountsBytes = 12;

// By how much one workgroup adds to a count along each axis: 1 if the data count workgroups, the workgroup's size if they count
// invocations.
inline std::array<std::uint32_t, 3> counted_by(StorageView::Role role, const std::array<std::uint32_t, 3>& workgroup_size) {
  return role == StorageView::Role::Invocations ? workgroup_size : std::array<std::uint32_t, 3>{1, 1, 1};
}

// The grid for counts that the host reads. Vulkan devices do the same (vulkan/calls/dispatches.cpp).
inline Grid grid_of_counts(const std::byte* words, const std::array<std::uint32_t, 3>& counted_by, Grid most) {
  std::array<std::uint32_t, 3> counts{};
  std::memcpy(counts.data(), words, kCountsBytes);
  const std::array<std::uint32_t, 3> limits = {most.x, most.y, most.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::uint32_t groups = counts[axis] / counted_by[axis] + (counts[axis] % counted_by[axis] != 0 ? 1 : 0);
    counts[axis] = groups < limits[axis] ? groups : limits[axis];
  }
  return {counts[0], counts[1], counts[2]};
}

}  // namespace vyre::run
