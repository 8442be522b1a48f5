#include "vyre/base/fork.hpp"

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>

#include "vyre/base/assert.hpp"

namespace vyre {
namespace {

// Enough that threads seldom meet by chance, and few enough for a fork to take.
constexpr std::size_t kLocks = 32;
constexpr std::size_t kMostActions = 8;

// All of this is there before the first constructor runs and is never destroyed: threads may outlive main.
constinit std::array<std::mutex, kLocks> locks;
constinit std::atomic<std::uint64_t> forks{0};
using Actions = std::array<std::atomic<void (*)()>, kMostActions>;
constinit Actions actions_before{}, actions_in_child{};
constinit thread_local bool holds_one = false;

void run_all(const Actions& actions) {
  for (const auto& action : actions) {
    if (void (*const run)() = action.load()) run();
  }
}

void add(Actions& actions, void (*action)()) {
  for (auto& place : actions) {
    void (*free)() = nullptr;
    if (place.compare_exchange_strong(free, action)) return;
  }
  VYRE_ASSERT(!"kMostActions is too small");
}

void before_fork() {
  run_all(actions_before);
  for (std::mutex& lock : locks) lock.lock();
}

void after_fork_in_parent() {
  for (std::mutex& lock : locks) lock.unlock();
}

void after_fork_in_child() {
  ++forks;
  after_fork_in_parent();
  run_all(actions_in_child);
}

const int registered = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);

}  // namespace

std::uint64_t forks_before() { return forks.load(std::memory_order_relaxed); }

void before_forks(void (*action)()) { add(actions_before, action); }

void when_forked(void (*action)()) { add(actions_in_child, action); }

std::mutex& ForkSafeMutex::native() { return locks[reinterpret_cast<std::uintptr_t>(this) / alignof(std::max_align_t) % kLocks]; }

void ForkSafeMutex::lock() {
  VYRE_ASSERT(!holds_one && registered == 0);
  native().lock();
  holds_one = true;
}

void ForkSafeMutex::unlock() {
  holds_one = false;
  native().unlock();
}

}  // namespace vyre
