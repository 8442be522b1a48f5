// Argument `optimize`: which rows of speedups.def are switched on.
#pragma once

#include <array>
#include <string_view>

#include "vyre/lower/options.hpp"

namespace vyre::run {

struct Optimize : lower::Options {
  bool coarsening = true;      // decided for each grid
  bool specialization = true;  // decided by what runs
  bool compilation = true;     // decided by what runs, and by the processor
  bool narrow = true;          // decided by the device
  // For tests and measurements: applies the speedups even where they do not pay, for instance coarsening to small grids.
  bool everywhere = false;
  // For tests: a Vulkan device that supports addresses accesses all arrays by address, not only those that are too large to be bound.
  bool addresses = false;
  bool operator==(const Optimize&) const = default;
};

struct Speedup {
  std::string_view name;
  bool Optimize::*chosen;
  std::string_view meaning;
};
inline constexpr std::array kSpeedups = {
#define SPEEDUP(name, meaning) Speedup{#name, &Optimize::name, meaning},
#include "vyre/run/speedups.def"
};
static_assert(sizeof(Optimize) == kSpeedups.size() + 2, "every member but `everywhere` and `addresses` is a row");

constexpr Optimize all_off() {
  Optimize optimize;
  for (const Speedup& row : kSpeedups) optimize.*row.chosen = false;
  return optimize;
}

}  // namespace vyre::run
