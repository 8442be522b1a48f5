// Holds a value that a process makes once, when it is first needed, and never changes, such as a driver and its devices.
//
// A forked child must not use the value of its parent, because drivers do not survive a fork. Nor may it wait for a thread of the parent
// that was making the value, because the child does not have that thread. So a child is refused both. If any such value was being made at
// the fork, the child cannot make other values either, because the fork copied the C library's loader in the middle of its work.
#pragma once

#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "vyre/base/refused.hpp"

namespace vyre::run {

// How many of these values, of any type, are being made, and by which process. A forked child inherits both, and no thread of the child
// lowers the count.
struct DriversBeingLoaded {
  std::atomic<pid_t> process = 0;
  std::atomic<int> count = 0;
};
inline DriversBeingLoaded drivers_being_loaded;

template <class T>
class OncePerProcess {
 public:
  // `refuse(process)` throws unless this process is the one with that id.
  template <class Refuse>
  void check_process(const Refuse& refuse) const {
    if (making_ > 0) refuse(process_.load());
    if (drivers_being_loaded.count > 0 && drivers_being_loaded.process != getpid()) {
      throw forked("a driver was being loaded");
    }
  }
  // Returns the value, and makes it first if there is none. If making it throws, the next call tries again.
  template <class Make>
  const std::shared_ptr<T>& get(const Make& make) {
    // It never changes once it exists.
    if (made_) return value_;
    struct Making {
      std::atomic<int>& count;
      const std::atomic<bool>& made;
      ~Making() {
        if (!made) --count;
        --drivers_being_loaded.count;
      }
    };
    process_ = getpid();
    ++making_;
    drivers_being_loaded.process = getpid();
    ++drivers_being_loaded.count;
    const Making making{making_, made_};  // until the lock is released
    const std::lock_guard lock(mutex_);
    if (!value_) {
      value_ = make();
      made_ = true;
    }
    return value_;
  }

 private:
  // making_ counts the threads that are making the value. Once a thread has succeeded, making_ stays above zero.
  std::atomic<pid_t> process_ = 0;
  std::atomic<int> making_ = 0;
  std::atomic<bool> made_ = false;
  std::mutex mutex_;
  std::shared_ptr<T> value_;
};

}  // namespace vyre::run
