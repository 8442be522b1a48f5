// Who works with some memory: one that writes, or any number that read. It is waited for as RunOptions says, since the other one's call
// may take for ever.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>

#include "vyre/base/fork.hpp"
#include "vyre/run/backend.hpp"

namespace vyre::run {

// In the place of std::shared_timed_mutex, which ThreadSanitizer does not see through when it is waited for by the steady clock.
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

  // Whether a fork left the one that wrote behind in the parent: the first call that has access after it is told so.
  bool take_lost_writer() { return lost_writer_.load(std::memory_order_relaxed) && lost_writer_.exchange(false); }

  // For the locks above.
  void unlock();
  void unlock_shared();

 private:
  // Until nobody has it who must not be there, and with the mutex held.
  std::unique_lock<ForkSafeMutex> wait(const RunOptions& options, bool among_readers);
  bool taken(bool among_readers) const { return writer_ || (!among_readers && readers_ > 0); }
  // With the mutex held.
  void leave_the_parents_behind();

  ForkSafeMutex mutex_;
  std::condition_variable changed_;
  std::uint64_t forks_ = forks_before();
  bool writer_ = false;
  std::atomic<bool> lost_writer_ = false;
  unsigned readers_ = 0;
};

}  // namespace vyre::run
