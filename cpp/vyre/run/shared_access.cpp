#include "vyre/run/shared_access.hpp"

#include <fmt/format.h>

#include <chrono>

#include "vyre/base/error.hpp"

namespace vyre::run {

std::unique_lock<std::mutex> SharedAccess::wait(const RunOptions& options, bool among_readers) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kSlice = std::chrono::milliseconds(20);
  std::unique_lock lock(mutex_);
  if (!taken(among_readers)) return lock;
  const auto start = options.start.value_or(Clock::now());
  while (!changed_.wait_for(lock, kSlice, [&] { return !taken(among_readers); })) {
    // With nothing locked: whoever is asked may wait for somebody who waits here.
    lock.unlock();
    if (options.interrupted && options.interrupted()) throw Interrupted();
    if (options.timeout && Clock::now() - start > *options.timeout) {
      throw DispatchTimeoutError(
          fmt::format("the array was still in use by another call after {} s. Fix: raise the time-out, or give each dispatch less work.",
                      options.timeout->count()));
    }
    lock.lock();
  }
  return lock;
}

}  // namespace vyre::run
