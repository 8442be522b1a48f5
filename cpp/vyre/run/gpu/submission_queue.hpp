// Queues work for a driver, and passes it to the driver on a thread of its own, because a submission costs a caller more than the rest of a
// small call.
//
// Callers append to a batch under the lock of the stream that owns the queue. The thread takes the batch, leaves an empty one, and passes
// what it took without the lock, so that callers go on appending. One batch is passed at a time, by the thread or by a caller that cannot
// wait for it, so work reaches the driver in the order in which it was appended. When the driver refuses a batch, all work in the queue is
// dropped.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "vyre/base/sleep.hpp"

namespace vyre::run {

// A Batch has empty(), and clear(), which drops its work but keeps its memory.
template <class Batch>
class SubmissionQueue {
 public:
  // `pass` gives a batch to the driver, without the lock; it may throw. `passed` runs afterwards with the lock; if `pass` threw, failed()
  // is true by then, and the waiting work is dropped afterwards.
  SubmissionQueue(std::mutex& mutex, std::function<void(Batch&)> pass, std::function<void(const Batch&)> passed)
      : mutex_(mutex), pass_(std::move(pass)), passed_(std::move(passed)) {}
  SubmissionQueue(const SubmissionQueue&) = delete;
  SubmissionQueue& operator=(const SubmissionQueue&) = delete;
  ~SubmissionQueue() { end(); }

  // The functions from here to pass_now() are called with the lock.

  // Whether the driver has everything, so that a caller may submit by itself without overtaking other work.
  bool idle() const { return waiting_.empty() && !passing_; }
  // Starts the thread unless it runs. Returns false if the system has no thread for it.
  bool start() noexcept {
    if (thread_.joinable()) return true;
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      return false;
    }
    return true;
  }
  // Tells how often the thread fell asleep because no work came for a while.
  std::uint64_t sleeps() const { return sleeps_; }
  // The batch that the thread will take next. After appending to it, the caller calls appended().
  Batch& waiting() { return waiting_; }
  void appended() {
    any_waiting_ = true;
    if (asleep_) wake_.notify_one();
  }
  // Passes the waiting batch to the driver on the calling thread; the lock is released meanwhile. Returns false at once while another
  // thread passes a batch.
  bool pass_now(std::unique_lock<std::mutex>& lock) {
    if (passing_) return false;
    if (waiting_.empty()) return true;
    std::swap(taken_, waiting_);
    any_waiting_ = false;
    passing_ = true;
    lock.unlock();
    std::exception_ptr failure;
    try {
      pass_(taken_);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    passing_ = false;
    if (failure) {
      failure_ = failure;
      failed_ = true;
    }
    passed_(taken_);
    taken_.clear();
    if (failure) waiting_.clear();
    // The thread may have waited for this batch while more was appended.
    if (!waiting_.empty()) appended();
    return true;
  }
  bool failed() const { return failed_; }
  // Throws what passing a batch threw.
  void check() const {
    if (failed_) std::rethrow_exception(failure_);
  }

  // Does the same as check(), but is called without the lock.
  void rethrow_failure() const {
    if (!failed_) return;
    const std::lock_guard lock(mutex_);
    std::rethrow_exception(failure_);
  }
  // Ends the thread. Waiting work stays in the queue.
  void end() noexcept {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      any_waiting_ = true;
      wake_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  // How long the thread spins for more work before it sleeps.
  static constexpr auto kSpin = std::chrono::microseconds(100);

  void run() {
    using Clock = std::chrono::steady_clock;
    std::unique_lock lock(mutex_);
    for (;;) {
      if (waiting_.empty() && !ended_) {
        // Waking the thread would cost the next caller more than its call, so the thread spins for a while first.
        lock.unlock();
        const auto start = Clock::now();
        while (!any_waiting_ && Clock::now() - start < kSpin) std::this_thread::yield();
        lock.lock();
      }
      if (!ended_ && (waiting_.empty() || passing_)) {
        if (waiting_.empty()) ++sleeps_;
        asleep_ = true;
        sleep_until(wake_, lock, [&] { return ended_ || (!waiting_.empty() && !passing_); });
        asleep_ = false;
      }
      if (ended_) return;
      pass_now(lock);
      if (failed_) return;
    }
  }

  std::mutex& mutex_;  // guards what follows
  const std::function<void(Batch&)> pass_;
  const std::function<void(const Batch&)> passed_;
  Batch waiting_;
  Batch taken_;           // what is being passed, by the thread that set passing_
  bool passing_ = false;  // whether a thread passes taken_
  bool asleep_ = false;   // whether the thread sleeps until wake_
  bool ended_ = false;
  std::uint64_t sleeps_ = 0;
  std::exception_ptr failure_;
  std::atomic<bool> failed_ = false;
  std::atomic<bool> any_waiting_ = false;  // whether waiting_ has any; read without the lock while the thread spins
  std::condition_variable wake_;
  std::thread thread_;
};

}  // namespace vyre::run
