#include "vyre/base/fork.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "support/forked_child.hpp"
#include "vyre/base/assert.hpp"

namespace vyre {
namespace {

TEST(ForkSafeMutex, is_free_in_a_child_and_what_it_guards_is_whole) {
  struct Pair {
    ForkSafeMutex mutex;
    volatile std::uint64_t left = 0, right = 0;
  };
  std::vector<Pair> pairs(4);
  std::atomic<bool> stop = false;
  std::vector<std::jthread> threads;
  for (Pair& pair : pairs) {
    threads.emplace_back([&] {
      while (!stop) {
        const std::lock_guard lock(pair.mutex);
        pair.left = pair.left + 1;
        pair.right = pair.right + 1;
      }
    });
  }
  for (int round = 0; round < 200; ++round) {
    ASSERT_EQ(status_of_child([&] {
                for (Pair& pair : pairs) {
                  const std::lock_guard lock(pair.mutex);
                  if (pair.left != pair.right) return false;
                }
                return true;
              }),
              0)
        << "child " << round;
  }
  stop = true;
}

TEST(ForkSafeMutex, is_not_taken_by_a_thread_that_holds_one) {
  ForkSafeMutex first, second;
  const std::lock_guard lock(first);
  EXPECT_THROW(second.lock(), BugError);
}

int told = 0;

TEST(Fork, is_counted_and_told_in_the_child) {
  when_forked([] { ++told; });
  const std::uint64_t before = forks_before();
  EXPECT_EQ(status_of_child([&] { return forks_before() == before + 1 && told == 1; }), 0);
  EXPECT_EQ(forks_before(), before);
  EXPECT_EQ(told, 0);
}

int asked = 0;

TEST(Fork, is_told_before_it_happens_while_locks_may_be_taken) {
  before_forks([] {
    ForkSafeMutex mutex;
    const std::lock_guard lock(mutex);
    ++asked;
  });
  const int before = asked;
  EXPECT_EQ(status_of_child([&] { return asked == before + 1; }), 0);
  EXPECT_EQ(asked, before + 1);
}

}  // namespace
}  // namespace vyre
