#include "vyre/run/processors.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace vyre::run {

unsigned usable_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace vyre::run
