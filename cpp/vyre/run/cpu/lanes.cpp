#include "vyre/run/cpu/lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

std::span<const Lanes* const> available_lanes() {
  // The list is never destroyed, because a child that is forked while another thread loads a driver cannot register a destructor.
  static const std::vector<const Lanes*>& available = *new std::vector<const Lanes*>([] {
    std::vector<const Lanes*> found{&lanes_baseline};
#if VYRE_X86_LANES
    __builtin_cpu_init();
    if (__builtin_cpu_supports("sse4.1")) found.push_back(&lanes_sse41);
    if (__builtin_cpu_supports("avx2")) found.push_back(&lanes_avx2);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl")) {
      found.push_back(&lanes_avx512);
    }
#endif
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
#if VYRE_X86_LANES
  constexpr std::array<std::string_view, 4> known = {"baseline", "sse41", "avx2", "avx512"};
#else
  constexpr std::array<std::string_view, 1> known = {"baseline"};
#endif
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
