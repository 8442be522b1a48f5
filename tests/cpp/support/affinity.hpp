// Sets of processors that a thread may use.
#pragma once

#include <sched.h>

#include <cstddef>

namespace vyre {

// The first processor of a set alone.
inline cpu_set_t one_of(const cpu_set_t& all) {
  cpu_set_t one;
  CPU_ZERO(&one);
  for (std::size_t k = 0; CPU_COUNT(&one) == 0; ++k) {
    if (CPU_ISSET(k, &all)) CPU_SET(k, &one);
  }
  return one;
}

}  // namespace vyre
