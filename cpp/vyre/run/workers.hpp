// Threads that are parked until a call wants help, shared by all calls of the process.
//
// A caller does all of its work itself, one piece after the other, and asks for helpers that take pieces from it meanwhile. It never waits
// for a worker that has not begun: what nobody has begun at the end is withdrawn. So calls of several threads at once, and calls within
// calls, need no worker each.
//
// Workers run on the processors that the caller may use at that moment, and leave signals to the program's own threads. Those that are
// parked end before a fork, because a child would not have them; it starts its own.
#pragma once

#include <sched.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>

namespace vyre::run {

namespace detail {

// Describes what workers are asked to do. The pool's mutex guards it.
struct Job {
  void (*run)(void* work);
  void* work;
  unsigned wanted = 0;   // workers still to come
  unsigned running = 0;  // workers at work
  cpu_set_t processors{};
  bool knows_processors = false;
  int processor = -1;              // that the caller is on
  std::condition_variable done{};  // told when `running` gets to 0
  Job* next = nullptr;
};

class Pool;

}  // namespace detail

class Helpers {
 public:
  // Each worker calls work() once. It must outlive this object and throw nothing.
  template <class Work>
  explicit Helpers(Work& work) : job_{.run = [](void* it) { (*static_cast<Work*>(it))(); }, .work = &work} {}
  // Waits for the workers that have begun.
  ~Helpers();
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

  // Asks for so many workers, once. Fewer come where the system gives no more threads, or no memory for them.
  void ask(unsigned count);
  bool asked() const { return pool_ != nullptr; }
  // Withdraws what no worker has begun, and waits for the others, at most for so long. Returns whether all are done.
  bool done_within(std::chrono::nanoseconds time);
  // Whether this process was forked since workers were asked for: they work in the parent.
  bool lost() const;

 private:
  detail::Job job_;
  detail::Pool* pool_ = nullptr;
  std::uint64_t forks_ = 0;
};

// Ends the workers that are parked, and waits until they have ended. The next call that wants some starts them anew.
void end_parked_workers();

}  // namespace vyre::run
