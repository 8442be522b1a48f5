#include "vyre/run/host/shared_access.hpp"

#include <new>

#include "vyre/run/deadline.hpp"

namespace vyre::run {

void SharedAccess::discard_access_of_parent() {
  if (forks_.load(std::memory_order_relaxed) == forks_before()) return;
  lost_writer_ = (state_.load(std::memory_order_relaxed) & kWriter) != 0;
  state_.store(0, std::memory_order_relaxed);
  // The old condition variable still counts threads of the parent that wait for it. Its destructor would wait for them, so it is
  // overwritten without being destroyed.
  new (&changed_) std::condition_variable;
  forks_.store(forks_before(), std::memory_order_release);
}

void SharedAccess::release(Use use) {
  if (forks_.load(std::memory_order_acquire) != forks_before()) {
    const std::lock_guard lock(mutex_);
    discard_access_of_parent();
  }
  std::uint32_t state = state_.load(std::memory_order_relaxed), without_this = 0;
  do {
    if (use == Use::Read && (state & kReaders) == 0) return;  // a fork has discarded this reader
    without_this = use == Use::Write ? state & ~kWriter : state - 1;
  } while (!state_.compare_exchange_weak(state, without_this, std::memory_order_release, std::memory_order_relaxed));
  if ((without_this & kWaiting) == 0 || (without_this & kReaders) != 0) return;
  const std::lock_guard lock(mutex_);
  // A waiting thread holds the mutex from setting this bit until it sleeps, so no wake-up is lost. A woken thread that must wait again sets
  // the bit again.
  state_.fetch_and(~kWaiting, std::memory_order_relaxed);
  changed_.notify_all();
}

void SharedAccess::wait(Use use, const RunOptions& options, Awaited awaited, std::string_view device) {
  std::unique_lock lock(mutex_);
  discard_access_of_parent();
  const auto acquired = [&] { return !taken(state_.fetch_or(kWaiting, std::memory_order_relaxed), use) && try_acquire(use); };
  if (try_acquire(use)) return;
  const Deadline deadline = deadline_of(options);
  const auto acquired_after_a_slice = [&] {
    std::unique_lock native(mutex_.native(), std::adopt_lock);
    const bool done = changed_.wait_for(native, deadline.slice(), acquired);
    native.release();
    return done;
  };
  while (!acquired_after_a_slice()) {
    // The mutex is not held meanwhile, because `interrupted` may wait for another thread that needs the mutex.
    lock.unlock();
    deadline.check(awaited, device);
    lock.lock();
    discard_access_of_parent();
  }
}

}  // namespace vyre::run
