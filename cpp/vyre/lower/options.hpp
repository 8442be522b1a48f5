// Which rows of options.def are switched on.
#pragma once

#include <array>
#include <string_view>

namespace vyre::lower {

struct Options {
#define SPEEDUP(name, meaning) bool name = true;
#include "vyre/lower/options.def"
  // Also where it does not pay, for tests and measurements: what a row does for large grids is then done for small ones.
  bool everywhere = false;
  // For tests: a Vulkan device that can reaches all arrays by their addresses, as it does those that are too large to be bound.
  bool addresses = false;
  bool operator==(const Options&) const = default;
};

struct SpeedupInfo {
  std::string_view name;
  bool Options::*chosen;
  std::string_view meaning;
};
inline constexpr std::array kSpeedups = {
#define SPEEDUP(name, meaning) SpeedupInfo{#name, &Options::name, meaning},
#include "vyre/lower/options.def"
};

// Inlining always happens; a Kernel has no calls.
constexpr Options all_off() {
  Options options;
  for (const SpeedupInfo& row : kSpeedups) options.*row.chosen = false;
  return options;
}

}  // namespace vyre::lower
