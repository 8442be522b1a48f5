// Who works with some memory: one that writes, or any number that read. It is waited for as RunOptions says, since the other one's call
// may take for ever.
#pragma once

#include <condition_variable>
#include <mutex>
#include <shared_mutex>

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

  // For the locks above.
  void unlock() {
    const std::lock_guard lock(mutex_);
    writer_ = false;
    changed_.notify_all();
  }
  void unlock_shared() {
    const std::lock_guard lock(mutex_);
    if (--readers_ == 0) changed_.notify_all();
  }

 private:
  // Until nobody has it who must not be there, and with the mutex held.
  std::unique_lock<std::mutex> wait(const RunOptions& options, bool among_readers);
  bool taken(bool among_readers) const { return writer_ || (!among_readers && readers_ > 0); }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool writer_ = false;
  unsigned readers_ = 0;
};

}  // namespace vyre::run
