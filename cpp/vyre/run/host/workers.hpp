// Threads that are parked until a call wants help, shared by all calls of the process.
//
// A caller does all of its work itself, one piece after the other, and asks for helpers that take pieces from it meanwhile. It never waits
// for a worker that has not begun: at the end, it withdraws the requests that no worker has taken. So calls on several threads, and calls
// within calls, make progress even if there are not enough workers for all.
//
// Workers run on the processors that the caller may use at that moment, and leave signals to the program's own threads. Parked workers end
// before a fork, because the child would not have them. The child starts its own.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>

namespace vyre::run {

namespace detail {

// The time for which the caller of a job stays awake for workers that have begun. Most of them end a moment after their caller, and waking
// a thread takes longer than that moment.
class TimeAwake {
 public:
  // Takes the part of the time that a wait of at most `most` is awake. All waits for a job together are awake for kMost.
  std::chrono::nanoseconds take(std::chrono::nanoseconds most) {
    const std::chrono::nanoseconds taken = std::clamp(most, std::chrono::nanoseconds(0), left_);
    left_ -= taken;
    return taken;
  }

  static constexpr std::chrono::nanoseconds kMost = std::chrono::microseconds(50);

 private:
  std::chrono::nanoseconds left_ = kMost;
};

// Describes what workers are asked to do. The pool's mutex guards it.
struct Job {
  void (*run)(void* work);
  void* work;
  unsigned wanted = 0;                // workers still to come
  std::atomic<unsigned> running = 0;  // workers at work; written under the mutex
  cpu_set_t processors{};
  bool knows_processors = false;
  int processor = -1;  // the processor that the caller runs on
  TimeAwake time_awake{};
  std::condition_variable done{};  // notified when `running` gets to 0
  Job* next = nullptr;
};

class Pool;

}  // namespace detail

class Helpers {
 public:
  // Each worker calls work() once. `work` must outlive this object and must not throw.
  template <class Work>
  explicit Helpers(Work& work) : job_{.run = [](void* it) { (*static_cast<Work*>(it))(); }, .work = &work} {}
  // Waits for the workers that have begun.
  ~Helpers();
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

  // Asks for `count` workers; may be called once. Fewer come where the system gives no more threads, or no memory for them.
  void ask(unsigned count);
  bool asked() const { return pool_ != nullptr; }
  // Withdraws the requests that no worker has taken, and waits at most `time` for the workers that have begun. Returns whether these are
  // done.
  bool done_within(std::chrono::nanoseconds time);
  // Whether this process was forked since it asked for workers: they exist only in the parent.
  bool lost() const;

 private:
  detail::Job job_;
  detail::Pool* pool_ = nullptr;
  std::uint64_t forks_ = 0;
};

// Ends the workers that are parked, and waits until they have ended. The next call that wants workers starts new ones.
void end_parked_workers();

}  // namespace vyre::run
