// The thread that passes work to the CUDA driver beside its callers: order, failures, and what it leaves to the callers.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "run/cuda/cuda_fixture.hpp"
#include "vyre/run/cuda/calls/storage.hpp"

namespace vyre::test {
namespace {

using namespace sample;

// The submission thread, which passes everything to the driver that it can.
class CudaSubmissionTest : public CudaTest {
 protected:
  CudaSubmissionTest() { driver_.knows(mix_); }

  // `state = 31 * state + a`, whose result depends on the order of the calls.
  struct Mixed {
    std::unique_ptr<run::Storage> a, state;
    std::vector<StorageView> views;
    std::shared_ptr<run::Recording> plan;
    Mixed(CudaBackend& cuda, const Prepared& executable) : a(cuda.allocate(0, 4, true)), state(cuda.allocate(0, 4, true)) {
      views = {{a.get(), 0, 4, 1}, {state.get(), 0, 4, 1}};
      plan = executable.plan(views, {1, 1, 1});
    }
    void submit(std::uint32_t word, const RunOptions& options = {}) {
      a->write(0, std::as_bytes(std::span(&word, 1)), options);
      plan->submit(views, {}, options);
    }
    std::uint32_t result() {
      std::uint32_t word = 0;
      state->read(0, std::as_writable_bytes(std::span(&word, 1)), {});
      return word;
    }
  };
  static std::uint32_t mixed(std::uint32_t turns) {
    std::uint32_t state = 0;
    for (std::uint32_t turn = 1; turn <= turns; ++turn) state = 31 * state + turn;
    return state;
  }

  const validate::ValidProgram mix_ =
      valid(Sample().in("a").out("state").size(1).add(store("state", u32(0), load("state", u32(0)) * u32(31) + load("a", u32(0)))).make());
  CudaBackend cuda_ = backend({.submission_thread = true});
  const std::shared_ptr<Prepared> mix_code_ = prepared(cuda_, mix_, 0);
};

TEST_F(CudaSubmissionTest, passes_copies_launches_and_freed_memory_in_the_order_in_which_they_were_handed_in) {
  const std::vector<std::string> functions = {"cuMemcpyHtoDAsync", "cuLaunchKernel", "cuMemFreeAsync"};
  std::vector<std::string> expected;
  {
    Mixed arrays(cuda_, *mix_code_);
    arrays.submit(1);
    EXPECT_EQ(arrays.result(), mixed(1));
    driver_.forget_calls();
    for (std::uint32_t turn = 2; turn <= 300; ++turn) {
      arrays.submit(turn);
      if (turn % 100 == 0) cuda_.allocate(0, 64, true).reset();
      expected.insert(expected.end(), {functions[0], functions[1]});
      if (turn % 100 == 0) expected.push_back(functions[2]);
    }
    while (driver_.calls("cuLaunchKernel") < 299) std::this_thread::yield();
    EXPECT_EQ(arrays.result(), mixed(300));
  }
  EXPECT_GT(driver_.calls_elsewhere("cuLaunchKernel"), 0);
  const std::vector<std::string> order = driver_.order(functions);
  EXPECT_EQ(std::vector<std::string>(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(expected.size())), expected);
}

TEST_F(CudaSubmissionTest, a_call_returns_while_the_driver_is_held_up_and_a_wait_for_it_can_time_out) {
  Mixed arrays(cuda_, *mix_code_);
  arrays.submit(1);
  EXPECT_EQ(arrays.result(), mixed(1));
  driver_.stall("cuLaunchKernel");
  for (std::uint32_t turn = 2; turn <= 40; ++turn) arrays.submit(turn);
  driver_.wait_until_stalled();
  RunOptions options;
  options.timeout = std::chrono::milliseconds(20);
  EXPECT_THROW(arrays.state->wait(options), DispatchTimeoutError);
  options.timeout.reset();
  options.interrupted = [] { return true; };
  EXPECT_THROW(arrays.state->wait(options), Interrupted);
  driver_.resume();
  EXPECT_EQ(arrays.result(), mixed(40));
}

TEST_F(CudaSubmissionTest, reports_a_failure_typed_at_the_next_wait_and_call_and_opens_the_device_anew) {
  for (const CUresult result :
       {run::cuda::CUDA_ERROR_UNKNOWN, run::cuda::CUDA_ERROR_OUT_OF_MEMORY, run::cuda::CUDA_ERROR_ILLEGAL_ADDRESS}) {
    SCOPED_TRACE(result);
    const std::string kind = kind_wanted(result);
    Mixed arrays(cuda_, *mix_code_);
    arrays.submit(1);
    EXPECT_EQ(arrays.result(), mixed(1));
    driver_.stall("cuLaunchKernel");
    driver_.fail("cuLaunchKernel", 1, result);
    for (std::uint32_t turn = 2; turn <= 10; ++turn) arrays.submit(turn);
    driver_.wait_until_stalled();
    driver_.forget_calls();
    driver_.resume();
    EXPECT_EQ(outcome_of([&] { arrays.state->wait({}); }).kind, kind);
    EXPECT_TRUE(driver_.failed());
    EXPECT_EQ(driver_.calls("cuLaunchKernel"), 1) << "what followed is dropped";
    EXPECT_EQ(outcome_of([&] { arrays.plan->submit(arrays.views, {}, {}); }).kind, kind);
    EXPECT_EQ(outcome_of([&] { arrays.result(); }).kind, kind);
    if (kind == "device") {
      EXPECT_EQ(outcome_of([&] { arrays.result(); }).text,
                "cuLaunchKernel failed on device `Fake 0` (CUDA_ERROR_OF_THE_TEST). Fix: check the driver's installation, or use another "
                "device.");
    }
    Arrays host(100);
    host.run(*prepared(cuda_, xor_, 0));
    EXPECT_TRUE(host.right());
  }
}

TEST_F(CudaSubmissionTest, gives_everything_back_after_a_failure_that_did_not_lose_the_device) {
  {
    Mixed arrays(cuda_, *mix_code_);
    arrays.submit(1);
    EXPECT_EQ(arrays.result(), mixed(1));
    Words theirs(1);
    const auto adopted = cuda_.adopt(0, {reinterpret_cast<CUdeviceptr>(theirs.data()), 4, nullptr});
    driver_.stall("cuLaunchKernel");
    driver_.fail("cuLaunchKernel", 1, run::cuda::CUDA_ERROR_UNKNOWN);
    for (std::uint32_t turn = 2; turn <= 10; ++turn) {
      arrays.submit(turn);
      adopted->wait_for(nullptr);
      cuda_.allocate(0, 64, true).reset();
    }
    driver_.wait_until_stalled();
    driver_.resume();
    EXPECT_THROW(arrays.state->wait({}), DeviceError);
  }
  const_cast<std::shared_ptr<Prepared>&>(mix_code_).reset();
  cuda_ = backend();
  EXPECT_EQ(driver_.leaks(), std::vector<std::string>());
}

TEST_F(CudaSubmissionTest, work_that_is_handed_in_is_done_when_its_arrays_and_the_device_go) {
  {
    Mixed arrays(cuda_, *mix_code_);
    arrays.submit(1);
    EXPECT_EQ(arrays.result(), mixed(1));
    driver_.forget_calls();
    driver_.hold();
    for (std::uint32_t turn = 2; turn <= 30; ++turn) arrays.submit(turn);
  }
  driver_.release();
  const_cast<std::shared_ptr<Prepared>&>(mix_code_).reset();
  cuda_ = backend();
  EXPECT_EQ(driver_.calls("cuLaunchKernel"), 29);
  EXPECT_EQ(driver_.leaks(), std::vector<std::string>());
}

TEST_F(CudaSubmissionTest, orders_streams_of_other_libraries_by_what_was_handed_in_until_then) {
  Mixed arrays(cuda_, *mix_code_);
  arrays.submit(1);
  EXPECT_EQ(arrays.result(), mixed(1));
  Words theirs(1);
  const auto adopted = cuda_.adopt(0, {reinterpret_cast<CUdeviceptr>(theirs.data()), 4, nullptr});
  driver_.forget_calls();
  driver_.stall("cuLaunchKernel");
  arrays.submit(2);
  adopted->wait_for(nullptr);
  EXPECT_EQ(driver_.calls("cuEventRecord"), 1) << "on the other library's stream, at once";
  arrays.submit(3);
  driver_.wait_until_stalled();
  driver_.resume();
  adopted->let_wait(nullptr);
  const std::string launch = "cuLaunchKernel", record = "cuEventRecord", wait = "cuStreamWaitEvent";
  EXPECT_EQ(driver_.order({launch, record, wait}), (std::vector<std::string>{record, launch, wait, launch, record, wait}));
  EXPECT_EQ(arrays.result(), mixed(3));
}

TEST_F(CudaSubmissionTest, a_forked_child_is_refused_while_work_waits) {
  Mixed arrays(cuda_, *mix_code_);
  arrays.submit(1);
  EXPECT_EQ(arrays.result(), mixed(1));
  driver_.stall("cuLaunchKernel");
  for (std::uint32_t turn = 2; turn <= 10; ++turn) arrays.submit(turn);
  driver_.wait_until_stalled();
  const pid_t child = fork();
  if (child == 0) {
    const std::string wanted = "CUDA was opened before this process was forked, and does not survive that.";
    const bool read = message_of([&] { arrays.result(); }).starts_with(wanted);
    const bool call = message_of([&] { arrays.submit(11); }).starts_with(wanted);
    arrays.a.reset();
    arrays.plan.reset();
    _exit(read && call ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  driver_.resume();
  EXPECT_EQ(arrays.result(), mixed(10));
}

TEST_F(CudaTest, callers_submit_themselves_after_a_wait_and_leave_longer_bursts_to_the_thread) {
  CudaBackend cuda = backend();
  Resident arrays(cuda, 100);
  const auto plan = prepared(cuda, xor_, 0)->plan(arrays.views, {2, 1, 1});
  // The uploads are submissions, too, and may not have been waited for.
  plan->submit(arrays.views, {}, {});
  EXPECT_TRUE(arrays.right());
  driver_.forget_calls();
  for (int turn = 0; turn < 50; ++turn) {
    for (int call = 0; call < 4; ++call) plan->submit(arrays.views, {}, {});
    EXPECT_TRUE(arrays.right());
  }
  EXPECT_EQ(driver_.calls_elsewhere("cuLaunchKernel"), 0);
  for (int call = 0; call < 5; ++call) plan->submit(arrays.views, {}, {});
  while (driver_.calls("cuLaunchKernel") < 205) std::this_thread::yield();
  EXPECT_EQ(driver_.calls_elsewhere("cuLaunchKernel"), 1);
  EXPECT_TRUE(arrays.right());
}

}  // namespace
}  // namespace vyre::test
