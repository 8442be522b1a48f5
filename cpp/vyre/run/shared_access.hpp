// Access to some memory: one writer, or any number of readers. A caller waits for access no longer than its RunOptions allow, because the
// call that has access may never end.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>

#include "vyre/base/fork.hpp"
#include "vyre/run/backend.hpp"

namespace vyre::run {

// Replaces std::shared_timed_mutex: ThreadSanitizer does not recognise its timed waits on the steady clock.
class SharedAccess {
 public:
  using Writing = std::unique_lock<SharedAccess>;
  using Reading = std::shared_lock<SharedAccess>;

  // Throw Interrupted and DispatchTimeoutError.
  Writing write(const RunOptions& options) {
    const auto lock = wait(options, false);
    writer_ = true;
    return Writing(*this, std::adopt_lock);
  }
  Reading read(const RunOptions& options) {
    const auto lock = wait(options, true);
    ++readers_;
    return Reading(*this, std::adopt_lock);
  }

  // Returns true if a thread of the parent process was writing when this process was forked, so that the write stays unfinished here. Only
  // the first call after the fork gets true; the caller must have access.
  bool take_lost_writer() { return lost_writer_.load(std::memory_order_relaxed) && lost_writer_.exchange(false); }

  // For the locks above.
  void unlock();
  void unlock_shared();

 private:
  // Blocks until no other call has access that excludes this one. The mutex is held when it returns.
  std::unique_lock<ForkSafeMutex> wait(const RunOptions& options, bool among_readers);
  bool taken(bool among_readers) const { return writer_ || (!among_readers && readers_ > 0); }
  // The mutex must be held.
  void leave_the_parents_behind();

  ForkSafeMutex mutex_;
  std::condition_variable changed_;
  std::uint64_t forks_ = forks_before();
  bool writer_ = false;
  std::atomic<bool> lost_writer_ = false;
  unsigned readers_ = 0;
};

}  // namespace vyre::run
