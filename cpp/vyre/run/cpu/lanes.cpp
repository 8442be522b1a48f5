#include "vyre/run/cpu/lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "vyre/base/nearest.hpp"

namespace vyre::run::cpu {

extern const Lanes lanes_baseline;
#if VYRE_X86_LANES
extern const Lanes lanes_sse41;
extern const Lanes lanes_avx2;
extern const Lanes lanes_avx512;
#endif

namespace {

// A table of vector functions, and whether this processor has their instructions.
struct Level {
  const Lanes* lanes;
  bool is_here;
};

// All tables of this build, the best one last. The list is never destroyed, because a child that is forked while another thread loads a
// driver cannot register a destructor.
const std::vector<Level>& levels() {
  static const std::vector<Level>& all = *new std::vector<Level>([] {
    std::vector<Level> made{{&lanes_baseline, true}};
#if VYRE_X86_LANES
    __builtin_cpu_init();
    made.push_back({&lanes_sse41, __builtin_cpu_supports("sse4.1") != 0});
    made.push_back({&lanes_avx2, __builtin_cpu_supports("avx2") != 0});
    made.push_back({&lanes_avx512, __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                                       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")});
#endif
    return made;
  }());
  return all;
}

}  // namespace

std::span<const Lanes* const> available_lanes() {
  static const std::vector<const Lanes*>& available = *new std::vector<const Lanes*>([] {
    std::vector<const Lanes*> found;
    for (const Level& level : levels()) {
      if (level.is_here) found.push_back(level.lanes);
    }
    return found;
  }());
  return available;
}

const AskedLanes& asked_lanes() {
  static const AskedLanes& asked = *new AskedLanes([] {
    const auto available = available_lanes();
    const char* const variable = std::getenv("VYRE_INSTRUCTIONS");
    if (variable == nullptr || *variable == '\0') return AskedLanes{available.back(), false, {}};
    const auto found = std::ranges::find(available, std::string_view(variable), &Lanes::name);
    if (found != available.end()) return AskedLanes{*found, true, {}};
    std::vector<std::string_view> names;
    for (const Lanes* lanes : available) names.push_back(lanes->name);
    return AskedLanes{available.back(), false, refusal_of_instructions(variable, names)};
  }());
  return asked;
}

std::string refusal_of_instructions(std::string_view wanted, std::span<const std::string_view> available) {
  std::vector<std::string_view> known;
  for (const Level& level : levels()) known.push_back(level.lanes->name);
  if (std::ranges::find(known, wanted) != known.end()) {
    return fmt::format(
        "this processor has no instructions `{}`, which the environment variable `VYRE_INSTRUCTIONS` names. "
        "Fix: write one of {}; unset it for the best one.",
        wanted, fmt::join(available, ", "));
  }
  const auto meant = nearest(wanted, known);
  return fmt::format(
      "environment variable `VYRE_INSTRUCTIONS` must be one of {}, got '{}'. Fix: write one of these; unset it for the best one{}.",
      fmt::join(known, ", "), wanted, meant ? fmt::format(" (did you mean `{}`?)", *meant) : "");
}

}  // namespace vyre::run::cpu
