// Locks and state that stay usable in a forked child.
//
// A child has one thread: the one that called fork(). A mutex that another thread held at that moment would stay locked in the child for
// ever, and what it guards would be half changed. So fork() takes every ForkSafeMutex first, and gives them back in parent and child.
#pragma once

#include <cstdint>
#include <mutex>

namespace vyre {

// How many forks lie between this process and the first one of its line. It costs one load; asking the system for the process's id would
// cost more than all other checks of a call.
std::uint64_t forks_before();

// Runs `action` before every fork from now on, on the thread that forks. No ForkSafeMutex is held for the fork yet, and other threads go
// on.
void before_forks(void (*action)());

// Runs `action` in every child that is forked from now on, before fork() returns there. The child holds no ForkSafeMutex then.
void when_forked(void (*action)());

// A mutex for state that a forked child uses too. The system's few locks are shared out among all of these objects, so that one costs
// nothing to make and fork() takes the same few locks however many there are. This leads to two rules for the code that holds one:
// - It takes no second one: a BugError says so. Then fork() can take the locks in any order.
// - It calls no driver and no Python, and waits for nothing: either may fork, or hold fork() up.
class ForkSafeMutex {
 public:
  ForkSafeMutex() = default;
  ForkSafeMutex(const ForkSafeMutex&) = delete;
  ForkSafeMutex& operator=(const ForkSafeMutex&) = delete;

  void lock();
  void unlock();
  // For a condition variable that is waited for with lock() done: the wait gives the lock back and takes it again.
  std::mutex& native();
};

}  // namespace vyre
