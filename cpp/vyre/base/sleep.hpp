// Waits on a condition variable without a limit.
//
// std::condition_variable::wait calls a function that only GCC 12's library has, and a wheel would not install where an older one is. This
// is a wait with a long limit in a loop.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace vyre {

template <class Ready>
void sleep_until(std::condition_variable& wake, std::unique_lock<std::mutex>& lock, const Ready& ready) {
  while (!wake.wait_for(lock, std::chrono::hours(1), ready)) continue;
}

}  // namespace vyre
