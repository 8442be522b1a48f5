// Workers come, are kept, follow their caller's processors, and survive forks. Tests of a fork are a suite of their own, because
// ThreadSanitizer follows none (.ci/sanitize).
#include "vyre/run/host/workers.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <latch>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/affinity.hpp"
#include "support/forked_child.hpp"
#include "support/programs/programs.hpp"
#include "support/run_program.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/run/cpu/cpu.hpp"

namespace vyre::run {
namespace {

using std::chrono::minutes;

// Has so many workers at work at the same moment, each of which calls `each`.
void with_all_at_work(unsigned count, const std::function<void()>& each) {
  std::latch all(count + 1);
  auto work = [&] {
    each();
    all.arrive_and_wait();
  };
  Helpers helpers(work);
  helpers.ask(count);
  all.arrive_and_wait();
  EXPECT_TRUE(helpers.done_within(minutes(1)));
}

std::set<pid_t> ids_of_workers(unsigned count) {
  std::mutex mutex;
  std::set<pid_t> ids;
  with_all_at_work(count, [&] {
    const std::scoped_lock lock(mutex);
    ids.insert(gettid());
  });
  return ids;
}

std::ptrdiff_t threads_of_this_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

// The kernel takes a thread off its list a moment after the thread could be joined.
void wait_for_the_end_of(const std::set<pid_t>& ids) {
  for (const pid_t id : ids) {
    while (std::filesystem::exists("/proc/self/task/" + std::to_string(id))) std::this_thread::yield();
  }
}

TEST(TimeAwakeForWorkers, is_within_each_wait_and_passes_once_for_all_of_them) {
  using std::chrono::microseconds;
  const auto taken = [](std::initializer_list<microseconds> waits) {
    detail::TimeAwake time;
    std::vector<microseconds> result;
    for (const microseconds wait : waits) result.push_back(std::chrono::duration_cast<microseconds>(time.take(wait)));
    return result;
  };
  using Times = std::vector<microseconds>;
  const microseconds none(0), all(50);
  EXPECT_EQ(taken({minutes(1), minutes(1), all}), (Times{all, none, none}));
  EXPECT_EQ(taken({microseconds(20), microseconds(20), microseconds(20), microseconds(20)}),
            (Times{microseconds(20), microseconds(20), microseconds(10), none}));
  EXPECT_EQ(taken({none, microseconds(-1), all}), (Times{none, none, all})) << "a time that is over takes nothing";
}

TEST(Workers, are_threads_of_their_own_and_are_kept) {
  end_parked_workers();
  const std::set<pid_t> first = ids_of_workers(3);
  EXPECT_EQ(first.size(), 3u);
  EXPECT_FALSE(first.contains(gettid()));
  EXPECT_EQ(ids_of_workers(3), first);
  for (const pid_t id : ids_of_workers(2)) EXPECT_TRUE(first.contains(id));
}

TEST(Workers, that_are_parked_end_when_that_is_asked_for) {
  end_parked_workers();
  const std::set<pid_t> ids = ids_of_workers(3);
  end_parked_workers();
  wait_for_the_end_of(ids);
  EXPECT_EQ(ids_of_workers(2).size(), 2u);
}

TEST(Workers, that_have_not_begun_are_not_waited_for) {
  end_parked_workers();
  with_all_at_work(2, [] {});
  std::latch begun(2), end(1);
  auto blocks = [&] {
    begun.count_down();
    end.wait();
  };
  Helpers busy(blocks);
  busy.ask(2);
  begun.wait();
  std::atomic<bool> came = false;
  auto work = [&] { came = true; };
  Helpers others(work);
  others.ask(2);
  EXPECT_TRUE(others.done_within(std::chrono::nanoseconds(0)));
  EXPECT_FALSE(busy.done_within(std::chrono::nanoseconds(0)));
  end.count_down();
  EXPECT_TRUE(busy.done_within(minutes(1)));
  // Workers serve the oldest request first, so one of the others would have been served before these.
  with_all_at_work(2, [] {});
  EXPECT_FALSE(came);
}

TEST(Workers, may_ask_for_workers) {
  std::atomic<int> done = 0;
  with_all_at_work(2, [&] {
    auto inner = [&] { ++done; };
    Helpers helpers(inner);
    helpers.ask(2);
    inner();
    EXPECT_TRUE(helpers.done_within(minutes(1)));
  });
  EXPECT_GE(done, 2);
  EXPECT_LE(done, 6);
}

TEST(Workers, none_is_asked_for) {
  auto work = [] { FAIL(); };
  Helpers helpers(work);
  helpers.ask(0);
  EXPECT_FALSE(helpers.asked());
  EXPECT_TRUE(helpers.done_within(std::chrono::nanoseconds(0)));
}

TEST(Workers, use_the_processors_that_their_caller_may_use) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  const cpu_set_t one = one_of(all);
  for (const cpu_set_t& given : {all, one, all}) {
    ASSERT_EQ(sched_setaffinity(0, sizeof given, &given), 0);
    with_all_at_work(2, [&] {
      cpu_set_t found;
      EXPECT_EQ(sched_getaffinity(0, sizeof found, &found), 0);
      EXPECT_TRUE(CPU_EQUAL(&found, &given));
    });
  }
}

TEST(Workers, leave_signals_to_other_threads) {
  end_parked_workers();
  with_all_at_work(1, [] {
    sigset_t blocked;
    ASSERT_EQ(pthread_sigmask(SIG_SETMASK, nullptr, &blocked), 0);
    EXPECT_EQ(sigismember(&blocked, SIGINT), 1);
    EXPECT_EQ(sigismember(&blocked, SIGTERM), 1);
    EXPECT_EQ(sigismember(&blocked, SIGSEGV), 0);
  });
  sigset_t blocked;
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, nullptr, &blocked), 0);
  EXPECT_EQ(sigismember(&blocked, SIGINT), 0);
}

TEST(Workers, help_many_threads_at_once) {
  static constexpr int kRounds = 200, kPieces = 20;
  std::vector<std::jthread> callers;
  for (int k = 0; k < 4; ++k) {
    callers.emplace_back([] {
      for (int round = 0; round < kRounds; ++round) {
        std::atomic<int> next = 0, done = 0;
        auto work = [&] {
          while (next.fetch_add(1) < kPieces) ++done;
        };
        Helpers helpers(work);
        helpers.ask(3);
        work();
        while (!helpers.done_within(minutes(1))) {
        }
        ASSERT_EQ(done, kPieces);
      }
    });
  }
  for (int k = 0; k < 50; ++k) end_parked_workers();
}

TEST(WorkersAndForks, a_child_starts_workers_of_its_own) {
  ids_of_workers(3);
  EXPECT_EQ(status_of_child([] { return threads_of_this_process() == 1 && ids_of_workers(3).size() == 3; }), 0);
  EXPECT_EQ(ids_of_workers(3).size(), 3u);
}

TEST(WorkersAndForks, a_child_does_not_count_on_workers_that_were_at_work) {
  std::latch begun(2), end(1);
  auto blocks = [&] {
    begun.count_down();
    end.wait();
  };
  Helpers helpers(blocks);
  helpers.ask(2);
  begun.wait();
  EXPECT_EQ(status_of_child([] { return ids_of_workers(2).size() == 2; }), 0);
  end.count_down();
  EXPECT_TRUE(helpers.done_within(minutes(1)));
}

TEST(WorkersAndForks, parked_workers_have_ended_before_the_fork) {
  end_parked_workers();
  const std::set<pid_t> ids = ids_of_workers(3);
  EXPECT_EQ(status_of_child([] { return true; }), 0);
  wait_for_the_end_of(ids);
}

TEST(WorkersAndForks, workers_that_were_asked_for_are_lost_in_a_child) {
  std::latch begun(1), end(1);
  auto blocks = [&] {
    begun.count_down();
    end.wait();
  };
  Helpers helpers(blocks);
  helpers.ask(1);
  begun.wait();
  EXPECT_EQ(status_of_child([&] { return helpers.lost() && helpers.done_within(std::chrono::nanoseconds(0)); }), 0);
  EXPECT_FALSE(helpers.lost());
  end.count_down();
  EXPECT_TRUE(helpers.done_within(minutes(1)));
}

// A handler of a signal may fork.
TEST(WorkersAndForks, a_call_that_is_forked_within_gives_right_bytes_or_an_error_in_the_child) {
  using namespace sample;
  const auto i = gid(0);
  const ir::Program program = Sample()
                                  .out("out")
                                  .size(64)
                                  .add(let("x", i))
                                  .add(loop("k", u32(0), u32(3000), {assign("x", var("x") * u32(3) + var("k"))}))
                                  .add(store("out", i, var("x")))
                                  .make();
  constexpr std::uint32_t kGroups = 1024;
  const auto executable = make_cpu_backend({.threads = 3})->prepare(test::valid(program), std::nullopt);
  test::Words wanted(64 * kGroups);
  const auto call = [&](test::Words& out, const RunOptions& options) {
    const BufferView views[] = {{std::as_writable_bytes(std::span(out)), static_cast<std::uint32_t>(out.size())}};
    executable->run(views, {kGroups, 1, 1}, options);
  };
  call(wanted, {});
  for (int at = 1; at <= 5; ++at) {
    bool in_child = false;
    pid_t child = -1;
    int polls = 0;
    RunOptions options;
    options.interrupted = [&] {
      if (++polls != at) return false;
      child = fork();
      in_child = child == 0;
      if (in_child) alarm(60);
      return false;
    };
    test::Words out(wanted.size());
    try {
      call(out, options);
      if (in_child) _exit(out == wanted ? 0 : 1);
    } catch (const DeviceError& error) {
      if (in_child) _exit(std::string(error.what()).find(" before this process was forked") != std::string::npos ? 0 : 2);
      throw;
    }
    EXPECT_EQ(out, wanted);
    if (child < 0) continue;  // the call was over before
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "forked at poll " << at;
  }
}

}  // namespace
}  // namespace vyre::run
