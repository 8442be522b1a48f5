// A value that is made once in a process, when it is first needed, and never changes: a driver and its devices.
//
// A child that is forked while a thread makes the value must not wait for that thread, which the child does not have; nor may it use the
// value, because drivers do not survive a fork. So both are refused in a child.
#pragma once

#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>

namespace vyre::run {

template <class T>
class OncePerProcess {
 public:
  // `refuse(process)` throws unless this process is the one with that id.
  template <class Refuse>
  void check_process(const Refuse& refuse) const {
    if (making_ > 0) refuse(process_.load());
  }
  // The value. If making it throws, the next call tries again.
  template <class Make>
  const std::shared_ptr<T>& get(const Make& make) {
    // It never changes once it exists.
    if (made_) return value_;
    struct Making {
      std::atomic<int>& count;
      const std::atomic<bool>& made;
      ~Making() {
        if (!made) --count;
      }
    };
    process_ = getpid();
    ++making_;
    const Making making{making_, made_};  // until the lock is released
    const std::lock_guard lock(mutex_);
    if (!value_) {
      value_ = make();
      made_ = true;
    }
    return value_;
  }

 private:
  // The number of threads that make the value stays above zero once one succeeded.
  std::atomic<pid_t> process_ = 0;
  std::atomic<int> making_ = 0;
  std::atomic<bool> made_ = false;
  std::mutex mutex_;
  std::shared_ptr<T> value_;
};

}  // namespace vyre::run
