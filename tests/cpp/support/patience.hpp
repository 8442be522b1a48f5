// Limits of time in tests are of processor time, so that a busy machine fails none, and those of an optimised build. Sanitizers and
// counters of lines make everything slower by a known lot, not by another order of growth, which is what a limit is for.
#pragma once

#include <algorithm>
#include <cstdlib>

namespace vyre::test {

// How many times as long this build may take.
inline int patience() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return 20;
#else
  // Of the layers alone, tests cannot see how they were built.
  const char* const times = std::getenv("VYRE_PATIENCE");
  return times == nullptr ? 1 : std::max(1, std::atoi(times));
#endif
}

}  // namespace vyre::test
