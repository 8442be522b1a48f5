// Threads that cannot be started: a typed error or the right bytes, nothing left running, and the next call works.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "support/programs/slow_program.hpp"
#include "support/run_program.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/run/cpu/cpu.hpp"
#include "vyre/run/host/workers.hpp"

namespace {

// The threads still to be given out; negative: as many as are asked for.
std::atomic<int> threads_left = -1;
std::atomic<int> threads_refused = 0;
std::atomic<int> threads_running = 0;

using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

struct Start {
  void* (*function)(void*);
  void* argument;
};

void* run_counted(void* start) {
  const Start what = *std::unique_ptr<Start>(static_cast<Start*>(start));
  void* const result = what.function(what.argument);
  --threads_running;
  return result;
}

}  // namespace

// In the place of the C library's, for vyre and for the drivers alike.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*), void* argument) {
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  int left = threads_left.load();
  while (left > 0 && !threads_left.compare_exchange_weak(left, left - 1)) {
  }
  if (left == 0) {
    ++threads_refused;
    return EAGAIN;
  }
  ++threads_running;
  auto start = std::make_unique<Start>(Start{function, argument});
  const int result = create(thread, attributes, run_counted, start.get());
  if (result == 0) {
    start.release();
  } else {
    --threads_running;
  }
  return result;
}

namespace vyre::test {
namespace {

// Gives out no thread, then one, and so on, until no more are asked for.
void fails_cleanly_without_threads(run::Backend& backend) {
  SCOPED_TRACE(std::string(backend.name()));
  const auto executable = backend.prepare(valid(slow_program()), std::nullopt, {});
  const Words before(64 * kSlowGroups, 9), wanted = slow_program_result();
  const auto call = [&] {
    Words out = before;
    const run::BufferView views[] = {{std::as_writable_bytes(std::span(out)), static_cast<std::uint32_t>(out.size())}};
    try {
      executable->run(views, {kSlowGroups, 1, 1}, {});
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(". Fix: "), std::string::npos) << error.what();
      EXPECT_EQ(out, before) << "a call that failed has changed an array";
      return;
    }
    EXPECT_EQ(out, wanted);
  };
  call();
  run::end_parked_workers();
  const int running = threads_running;
  for (int given = 0;; ++given) {
    SCOPED_TRACE(std::to_string(given) + " threads can be started");
    threads_refused = 0;
    threads_left = given;
    call();
    threads_left = -1;
    run::end_parked_workers();
    EXPECT_EQ(threads_running, running) << "a thread is left";
    call();
    run::end_parked_workers();
    if (threads_refused == 0 || testing::Test::HasFailure()) break;
  }
}

// Devices are open already: drivers start their threads then, and end the process when they get none, which is not ours to mend.
TEST(ThreadsThatFail, in_a_call_are_a_typed_error_or_make_no_difference) {
  for (run::Backend* backend : run::backends()) {
    if (backend->reasons_unavailable().empty()) fails_cleanly_without_threads(*backend);
  }
}

TEST(ThreadsThatFail, leave_the_cpu_backend_to_those_that_it_has) {
  const auto backend = run::make_cpu_backend({.threads = 4});
  fails_cleanly_without_threads(*backend);
  run::end_parked_workers();
  threads_refused = 0;
  threads_left = 0;
  const std::vector<Words> out = run_program(*backend, valid(slow_program()), {Words(64 * kSlowGroups)}, {kSlowGroups, 1, 1});
  threads_left = -1;
  EXPECT_EQ(out[0], slow_program_result());
  EXPECT_EQ(threads_refused, 1) << "after the first that is refused, no other is asked for";
}

// Preparing, printing, validating and running on the reference happen on the caller's thread alone.
TEST(ThreadsThatFail, are_not_needed_by_the_reference) {
  run::Backend* const reference = run::find_backend("reference");
  threads_left = 0;
  threads_refused = 0;
  const std::vector<Words> out = run_program(*reference, valid(slow_program()), {Words(64 * kSlowGroups)}, {kSlowGroups, 1, 1});
  threads_left = -1;
  EXPECT_EQ(out[0], slow_program_result());
  EXPECT_EQ(threads_refused, 0);
}

}  // namespace
}  // namespace vyre::test
