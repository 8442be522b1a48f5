#include "vyre/run/host/shared_access.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "vyre/base/error.hpp"

namespace vyre::run {
namespace {

using Use = SharedAccess::Use;

TEST(SharedAccess, has_one_writer_or_any_number_of_readers) {
  SharedAccess access;
  EXPECT_TRUE(access.try_acquire(Use::Read));
  EXPECT_TRUE(access.try_acquire(Use::Read));
  EXPECT_FALSE(access.try_acquire(Use::Write));
  access.unlock_shared();
  EXPECT_FALSE(access.try_acquire(Use::Write));
  access.unlock_shared();
  EXPECT_TRUE(access.try_acquire(Use::Write));
  EXPECT_FALSE(access.try_acquire(Use::Write));
  EXPECT_FALSE(access.try_acquire(Use::Read));
  access.unlock();
  EXPECT_TRUE(access.try_acquire(Use::Read));
  access.unlock_shared();
}

TEST(SharedAccess, waits_no_longer_than_asked) {
  SharedAccess access;
  RunOptions patient, hasty;
  hasty.timeout = std::chrono::duration<double>(0.01);
  {
    const auto writing = access.write(patient);
    EXPECT_THROW(access.read(hasty), DispatchTimeoutError);
    EXPECT_THROW(access.write(hasty), DispatchTimeoutError);
  }
  {
    const auto reading = access.read(hasty);
    EXPECT_THROW(access.write(hasty), DispatchTimeoutError);
    EXPECT_NO_THROW(access.read(hasty));
  }
  EXPECT_NO_THROW(access.write(hasty));
}

TEST(SharedAccess, wakes_those_that_wait_and_keeps_writers_apart) {
  constexpr int kThreads = 4, kTurns = 2000;
  SharedAccess access;
  const RunOptions options;
  int left = 0, right = 0;
  std::atomic<int> torn = 0;
  {
    std::vector<std::jthread> threads;
    for (int k = 0; k < kThreads; ++k) {
      threads.emplace_back([&] {
        for (int turn = 0; turn < kTurns; ++turn) {
          {
            const auto writing = access.write(options);
            ++left;
            if (turn % 64 == 0) std::this_thread::yield();
            ++right;
          }
          const auto reading = access.read(options);
          if (left != right) ++torn;
        }
      });
    }
  }
  EXPECT_EQ(left, kThreads * kTurns);
  EXPECT_EQ(right, kThreads * kTurns);
  EXPECT_EQ(torn, 0);
}

}  // namespace
}  // namespace vyre::run
