#include "vyre/run/cpu/lanes.hpp"

#include <vector>

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

}  // namespace vyre::run::cpu
