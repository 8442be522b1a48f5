#include "vyre/run/shared_access.hpp"

#include <new>

#include "vyre/run/deadline.hpp"

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
  std::unique_lock lock(mutex_);
  leave_the_parents_behind();
  if (!taken(among_readers)) return lock;
  const Deadline deadline = deadline_of(options);
  const auto free_after_a_slice = [&] {
    std::unique_lock native(mutex_.native(), std::adopt_lock);
    const bool free = changed_.wait_for(native, deadline.slice(), [&] { return !taken(among_readers); });
    native.release();
    return free;
  };
  while (!free_after_a_slice()) {
    // Nothing is locked meanwhile: `interrupted` may wait for a thread that waits here.
    lock.unlock();
    deadline.check(Awaited::Access);
    lock.lock();
    leave_the_parents_behind();
  }
  return lock;
}

}  // namespace vyre::run
