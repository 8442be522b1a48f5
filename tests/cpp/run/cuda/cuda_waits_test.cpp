// Waits for calls on a CUDA device: what they ask the driver for, whose work they wait for, and how they end early.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "run/cuda/cuda_fixture.hpp"
#include "support/programs/small_procedure.hpp"

namespace vyre::test {
namespace {

TEST_F(CudaTest, a_call_of_arrays_is_one_launch_and_a_wait_for_it_asks_about_the_stream_alone) {
  CudaBackend cuda = backend({.submission_thread = false});
  const auto executable = prepared(cuda, xor_, 0);
  Resident arrays(cuda, 100);
  const std::shared_ptr<run::Recording> plan = executable->plan(arrays.views, {2, 1, 1});
  plan->submit(arrays.views, {}, {});
  EXPECT_TRUE(arrays.right());
  driver_.forget_calls();
  plan->submit(arrays.views, {}, {});
  // Another library may have changed the context of the thread, so the backend asks for it.
  EXPECT_EQ(driver_.order(FakeCuda::functions()), (std::vector<std::string>{"cuCtxGetCurrent", "cuLaunchKernel"}));
  driver_.forget_calls();
  arrays.storages[2]->wait({});
  EXPECT_EQ(driver_.order(FakeCuda::functions()), (std::vector<std::string>{"cuCtxGetCurrent", "cuStreamQuery"}));
  driver_.forget_calls();
  arrays.storages[0]->wait({});
  EXPECT_EQ(driver_.order(FakeCuda::functions()), std::vector<std::string>()) << "the device is known to be idle";
}

TEST_F(CudaTest, a_graph_is_one_call_and_a_wait_for_it_asks_about_the_stream_alone) {
  CudaBackend cuda = backend({.submission_thread = false});
  const auto executable = prepared(cuda, xor_, 0);
  Resident arrays(cuda, 100);
  const std::shared_ptr<run::Recording> plan = executable->plan(arrays.views, {2, 1, 1});
  const auto sequence = joined(cuda, {{plan, arrays.views}, {plan, arrays.views}});
  sequence.submit(1, {});
  EXPECT_TRUE(arrays.right());
  driver_.forget_calls();
  sequence.submit(1, {});
  arrays.storages[2]->wait({});
  EXPECT_EQ(driver_.order(FakeCuda::functions()),
            (std::vector<std::string>{"cuCtxGetCurrent", "cuGraphLaunch", "cuCtxGetCurrent", "cuStreamQuery"}));
}

// The submitting thread marks where the wait ends, before it gives the driver more work.
TEST_F(CudaTest, a_waiting_thread_does_not_wait_for_what_another_submits_later) {
  for (const bool beside : {false, true}) {
    SCOPED_TRACE(beside ? "by the submission thread" : "by the caller");
    CudaBackend cuda = backend({.submission_thread = beside});
    const auto executable = prepared(cuda, xor_, 0);
    Resident first(cuda, 100), second(cuda, 100);
    const std::shared_ptr<run::Recording> plan = executable->plan(first.views, {2, 1, 1});
    plan->submit(first.views, {}, {});
    EXPECT_TRUE(first.right());
    EXPECT_TRUE(second.out() == Words(100, 0));
    driver_.hold();
    plan->submit(first.views, {}, {});
    driver_.forget_calls();
    std::jthread waiting([&] { first.storages[2]->wait({}); });
    while (driver_.calls("cuStreamQuery") == 0) std::this_thread::yield();
    plan->submit(second.views, {}, {});
    while (driver_.calls("cuLaunchKernel") < (beside ? 2 : 1)) std::this_thread::yield();
    const std::vector<std::string> order = driver_.order({"cuEventRecord", "cuLaunchKernel"});
    EXPECT_EQ(std::vector<std::string>(order.end() - 2, order.end()), (std::vector<std::string>{"cuEventRecord", "cuLaunchKernel"}));
    if (HasFailure()) driver_.release();
    driver_.let_pass(2);  // the first call, and the mark
    waiting.join();
    EXPECT_TRUE(std::ranges::none_of(second.storages, [&](const auto& each) {
      RunOptions soon;
      soon.timeout = std::chrono::nanoseconds(1);
      return message_of([&] { each->wait(soon); }) == "no error";
    })) << "the second call is not done";
    driver_.release();
    EXPECT_TRUE(second.right());
  }
}

TEST_F(CudaTest, several_threads_wait_for_calls_of_their_own_while_others_submit) {
  CudaBackend cuda = backend();
  const auto executable = prepared(cuda, xor_, 0);
  std::vector<std::jthread> threads;
  std::atomic<int> wrong = 0;
  for (std::uint32_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      Resident arrays(cuda, 100);
      const std::shared_ptr<run::Recording> plan = executable->plan(arrays.views, {2, 1, 1});
      for (int turn = 0; turn < 200; ++turn) {
        for (int call = 0; call <= turn % 7; ++call) plan->submit(arrays.views, {}, {});
        arrays.storages[2]->wait({});
      }
      wrong += arrays.right() ? 0 : 1;
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

TEST_F(CudaTest, a_call_that_times_out_leaves_its_arrays_and_refuses_the_next_until_it_is_done) {
  CudaBackend cuda = backend();
  const auto executable = prepared(cuda, xor_, 0);
  Arrays arrays(100);
  RunOptions options;
  options.timeout = std::chrono::milliseconds(20);
  driver_.hold();
  EXPECT_THROW(arrays.run(*executable, options), DispatchTimeoutError);
  EXPECT_TRUE(arrays.untouched());
  EXPECT_EQ(
      message_of([&] { arrays.run(*executable); }),
      "device `Fake 0` is still busy with a call that timed out or was interrupted. Fix: call again when that program has ended, or use "
      "another device.");
  EXPECT_FALSE(cuda.wait_until_idle(0, 0.01));
  driver_.release();
  EXPECT_TRUE(cuda.wait_until_idle(0, 10));
  arrays.run(*executable);
  EXPECT_TRUE(arrays.right());
}

TEST_F(CudaTest, a_procedure_that_times_out_refuses_the_next_call_until_it_is_done) {
  CudaBackend cuda = backend();
  const std::vector<std::byte> right = increment(cuda, 0);
  RunOptions options;
  options.timeout = std::chrono::milliseconds(20);
  driver_.hold();
  EXPECT_THROW(increment(cuda, 0, options), DispatchTimeoutError);
  const std::string busy =
      "device `Fake 0` is still busy with a call that timed out or was interrupted. Fix: call again when that program has ended, or use "
      "another device.";
  EXPECT_EQ(message_of([&] { increment(cuda, 0); }), busy);
  const auto executable = prepared(cuda, xor_, 0);
  Arrays arrays(100);
  EXPECT_EQ(message_of([&] { arrays.run(*executable); }), busy);
  driver_.release();
  EXPECT_TRUE(cuda.wait_until_idle(0, 10));
  EXPECT_EQ(increment(cuda, 0), right);
}

TEST_F(CudaTest, an_interrupted_wait_ends_and_the_work_goes_on) {
  CudaBackend cuda = backend();
  Resident arrays(cuda, 100);
  const auto plan = prepared(cuda, xor_, 0)->plan(arrays.views, {2, 1, 1});
  driver_.hold();
  plan->submit(arrays.views, {}, {});
  RunOptions options;
  options.interrupted = [] { return true; };
  EXPECT_THROW(arrays.storages[2]->wait(options), Interrupted);
  driver_.release();
  EXPECT_TRUE(arrays.right());
}

TEST_F(CudaTest, calls_that_nobody_waits_for_do_not_pile_up) {
  CudaBackend cuda = backend();
  Resident arrays(cuda, 100);
  const auto plan = prepared(cuda, xor_, 0)->plan(arrays.views, {2, 1, 1});
  driver_.hold();
  RunOptions options;
  options.timeout = std::chrono::milliseconds(50);
  driver_.forget_calls();
  EXPECT_THROW(
      {
        for (int call = 0; call < 2000; ++call) plan->submit(arrays.views, {}, options);
      },
      DispatchTimeoutError);
  EXPECT_LT(driver_.calls("cuLaunchKernel"), 1000) << "the driver would block beyond about as many";
  driver_.release();
  EXPECT_THROW(arrays.out(), DispatchTimeoutError) << "the call that was not submitted";
}

}  // namespace
}  // namespace vyre::test
