#include "vyre/run/shared_access.hpp"

#include <fmt/format.h>

#include <chrono>
#include <new>

#include "vyre/base/error.hpp"

namespace vyre::run {

void SharedAccess::leave_the_parents_behind() {
  if (forks_ == forks_before()) return;
  forks_ = forks_before();
  lost_writer_ = writer_;
  writer_ = false;
  readers_ = 0;
  // The old one still counts threads of the parent that wait for it. Destroying it would wait for them, so it is only overwritten.
  new (&changed_) std::condition_variable;
}

void SharedAccess::unlock() {
  const std::lock_guard lock(mutex_);
  leave_the_parents_behind();
  writer_ = false;
  changed_.notify_all();
}

void SharedAccess::unlock_shared() {
  const std::lock_guard lock(mutex_);
  leave_the_parents_behind();
  if (readers_ > 0 && --readers_ == 0) changed_.notify_all();
}

std::unique_lock<ForkSafeMutex> SharedAccess::wait(const RunOptions& options, bool among_readers) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kSlice = std::chrono::milliseconds(20);
  std::unique_lock lock(mutex_);
  leave_the_parents_behind();
  if (!taken(among_readers)) return lock;
  const auto start = options.start.value_or(Clock::now());
  const auto free_after_a_slice = [&] {
    std::unique_lock native(mutex_.native(), std::adopt_lock);
    const bool free = changed_.wait_for(native, kSlice, [&] { return !taken(among_readers); });
    native.release();
    return free;
  };
  while (!free_after_a_slice()) {
    // With nothing locked: whoever is asked may wait for somebody who waits here.
    lock.unlock();
    if (options.interrupted && options.interrupted()) throw Interrupted();
    if (options.timeout && Clock::now() - start > *options.timeout) {
      throw DispatchTimeoutError(
          fmt::format("the array was still in use by another call after {} s. Fix: raise the time-out, or give each dispatch less work.",
                      options.timeout->count()));
    }
    lock.lock();
    leave_the_parents_behind();
  }
  return lock;
}

}  // namespace vyre::run
