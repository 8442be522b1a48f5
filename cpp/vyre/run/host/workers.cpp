#include "vyre/run/host/workers.hpp"

#include <pthread.h>
#include <signal.h>

#include <cstring>
#include <iterator>
#include <list>
#include <mutex>
#include <thread>

#include "vyre/base/assert.hpp"
#include "vyre/base/fork.hpp"
#include "vyre/base/sleep.hpp"

namespace vyre::run {
namespace detail {
namespace {

// Blocks signals for new workers, so that the program's own threads take them. Signals of faults are not blocked, because they go to the
// thread that caused the fault.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int of_a_fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&blocked, of_a_fault);
    pthread_sigmask(SIG_SETMASK, &blocked, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

// The caller wakes this many workers, and each worker that begins wakes this many others. Many workers are awake after a few steps, and
// the caller pays for only two.
constexpr int kWokenByOne = 2;

}  // namespace

class Pool {
 public:
  void ask(Job& job, unsigned count) {
    const std::scoped_lock lock(mutex_);
    job.wanted = count;
    Job** last = &jobs_;
    while (*last != nullptr) last = &(*last)->next;
    *last = &job;
    start_up_to(count);
    wake();
  }

  bool done_within(Job& job, std::chrono::nanoseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    std::unique_lock lock(mutex_);
    withdraw(job);
    await_briefly(job, lock, time);
    return job.done.wait_until(lock, end, [&] { return job.running == 0; });
  }

  void finish(Job& job) {
    std::unique_lock lock(mutex_);
    withdraw(job);
    await_briefly(job, lock, TimeAwake::kMost);
    sleep_until(job.done, lock, [&] { return job.running == 0; });
  }

  void end_parked() {
    std::list<Worker> ended;
    {
      const std::scoped_lock lock(mutex_);
      for (auto worker = workers_.begin(); worker != workers_.end();) {
        const auto next = std::next(worker);
        if (worker->parked) {
          worker->ends = true;
          ended.splice(ended.end(), workers_, worker);
        }
        worker = next;
      }
      work_.notify_all();
    }
    for (Worker& worker : ended) worker.thread.join();
  }

 private:
  struct Worker {
    std::thread thread{};
    bool parked = true;  // waits for work, or is about to
    bool ends = false;
    cpu_set_t processors{};
  };

  void start_up_to(unsigned count) {
    if (workers_.size() >= count) return;
    const SignalsBlocked blocked;
    try {
      while (workers_.size() < count) {
        Worker& worker = workers_.emplace_back();
        worker.thread = std::thread([this, &worker] { serve(worker); });
      }
    } catch (const std::exception&) {  // the system gives no more threads, or no memory for them
      if (!workers_.empty() && !workers_.back().thread.joinable()) workers_.pop_back();
    }
  }

  void wake() {
    for (int k = 0; k < kWokenByOne; ++k) work_.notify_one();
  }

  // Waits awake, as long as the job's TimeAwake allows. The lock is held again at the end, so that a worker which has counted itself out is
  // done with the job.
  static void await_briefly(Job& job, std::unique_lock<std::mutex>& lock, std::chrono::nanoseconds most) {
    if (job.running == 0) return;
    const std::chrono::nanoseconds awake = job.time_awake.take(most);
    if (awake <= std::chrono::nanoseconds(0)) return;
    const auto end = std::chrono::steady_clock::now() + awake;
    lock.unlock();
    while (job.running != 0 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    lock.lock();
  }

  void withdraw(Job& job) {
    for (Job** link = &jobs_; *link != nullptr; link = &(*link)->next) {
      if (*link == &job) {
        *link = job.next;
        return;
      }
    }
  }

  // The oldest job that wants a worker.
  Job* wanting() const {
    Job* job = jobs_;
    while (job != nullptr && job->wanted == 0) job = job->next;
    return job;
  }

  // Moves the worker to the processors that the caller may use. If all are busy, the kernel wakes a worker on the processor on which it ran
  // last. If that is the caller's processor, the two would take turns on it, so the worker moves to another.
  static void follow(Worker& me, const Job& job) {
    const bool beside = CPU_COUNT(&job.processors) > 1 && sched_getcpu() == job.processor;
    if (beside) {
      cpu_set_t others = job.processors;
      CPU_CLR(static_cast<std::size_t>(job.processor), &others);
      static_cast<void>(sched_setaffinity(0, sizeof others, &others));
    }
    if (!beside && std::memcmp(&me.processors, &job.processors, sizeof me.processors) == 0) return;
    me.processors = job.processors;
    static_cast<void>(sched_setaffinity(0, sizeof me.processors, &me.processors));
  }

  void serve(Worker& me) {
    std::unique_lock lock(mutex_);
    for (;;) {
      sleep_until(work_, lock, [&] { return me.ends || wanting() != nullptr; });
      if (me.ends) return;
      Job* const job = wanting();
      me.parked = false;
      --job->wanted;
      ++job->running;
      if (wanting() != nullptr) wake();
      lock.unlock();
      if (job->knows_processors) follow(me, *job);
      job->run(job->work);
      lock.lock();
      me.parked = true;  // before the caller learns that the job is done, so that the caller can end this worker
      if (--job->running == 0) job->done.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable work_;  // parked workers wait for this
  std::list<Worker> workers_;
  Job* jobs_ = nullptr;
};

namespace {

// Never destroyed: workers outlive main. A forked child has none of the workers and gets a new pool.
Pool* the_pool = [] {
  before_forks([] { the_pool->end_parked(); });
  when_forked([] { the_pool = new Pool; });
  return new Pool;
}();

}  // namespace
}  // namespace detail

Helpers::~Helpers() {
  if (asked() && !lost()) pool_->finish(job_);
}

void Helpers::ask(unsigned count) {
  VYRE_ASSERT(!asked());
  if (count == 0) return;
  job_.knows_processors = sched_getaffinity(0, sizeof job_.processors, &job_.processors) == 0;
  job_.processor = sched_getcpu();
  forks_ = forks_before();
  pool_ = detail::the_pool;
  pool_->ask(job_, count);
}

bool Helpers::done_within(std::chrono::nanoseconds time) { return !asked() || lost() || pool_->done_within(job_, time); }

bool Helpers::lost() const { return asked() && forks_ != forks_before(); }

void end_parked_workers() { detail::the_pool->end_parked(); }

}  // namespace vyre::run
