// Guards memory that has one writer, or any number of readers, at a time. A caller waits for access no longer than its RunOptions allow,
// because the call that has access may never end.
//
// One word counts the readers and says whether a caller writes or waits. Acquiring free access takes one atomic operation, and so does
// releasing it. The mutex and the condition variable are only for callers that wait, and for a process that was forked.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <string_view>

#include "vyre/base/deadline.hpp"
#include "vyre/base/fork.hpp"
#include "vyre/run/backend.hpp"

namespace vyre::run {

// Replaces std::shared_timed_mutex and std::timed_mutex: ThreadSanitizer does not recognise their timed waits on the steady clock.
class SharedAccess {
 public:
  using Writing = std::unique_lock<SharedAccess>;
  using Reading = std::shared_lock<SharedAccess>;

  // These throw Interrupted and DispatchTimeoutError.
  Writing write(const RunOptions& options) {
    acquire(Use::Write, options);
    return Writing(*this, std::adopt_lock);
  }
  // For resources other than arrays. The message of a time-out says what was awaited, on the device `name()`. `name` is called only if the
  // call has to wait.
  template <class Name>
  Writing write(const RunOptions& options, Awaited awaited, const Name& name) {
    if (!try_acquire(Use::Write)) wait(Use::Write, options, awaited, name());
    return Writing(*this, std::adopt_lock);
  }
  Reading read(const RunOptions& options) {
    acquire(Use::Read, options);
    return Reading(*this, std::adopt_lock);
  }

  enum class Use : bool { Read, Write };
  // For callers that release the access themselves, with unlock() or unlock_shared().
  void acquire(Use use, const RunOptions& options) {
    if (!try_acquire(use)) wait(use, options, Awaited::Access, {});
  }
  // Returns false where the access has to be waited for.
  bool try_acquire(Use use) {
    if (forks_.load(std::memory_order_acquire) != forks_before()) return false;
    std::uint32_t state = state_.load(std::memory_order_relaxed);
    while (!taken(state, use)) {
      const std::uint32_t with_this = use == Use::Write ? state | kWriter : state + 1;
      if (state_.compare_exchange_weak(state, with_this, std::memory_order_acquire, std::memory_order_relaxed)) return true;
    }
    return false;
  }

  // Returns true if a thread of the parent process was writing when this process was forked, so that the write stays unfinished here. Only
  // the first call after the fork gets true; the caller must have access.
  bool take_lost_writer() { return lost_writer_.load(std::memory_order_relaxed) && lost_writer_.exchange(false); }

  bool has_lost_writer() const { return lost_writer_.load(std::memory_order_relaxed); }

  // For the locks above.
  void unlock() { release(Use::Write); }
  void unlock_shared() { release(Use::Read); }

 private:
  // Bits of state_; below them is the number of readers.
  static constexpr std::uint32_t kWriter = std::uint32_t{1} << 31, kWaiting = std::uint32_t{1} << 30, kReaders = kWaiting - 1;

  static bool taken(std::uint32_t state, Use use) { return (state & kWriter) != 0 || (use == Use::Write && (state & kReaders) != 0); }
  void release(Use use);
  void wait(Use use, const RunOptions& options, Awaited awaited, std::string_view device);
  // After a fork, discards the access that threads of the parent had: these threads do not exist in the child. The mutex must be held.
  void discard_access_of_parent();

  std::atomic<std::uint32_t> state_ = 0;
  std::atomic<bool> lost_writer_ = false;
  std::atomic<std::uint64_t> forks_ = forks_before();
  ForkSafeMutex mutex_;
  std::condition_variable changed_;
};

}  // namespace vyre::run
