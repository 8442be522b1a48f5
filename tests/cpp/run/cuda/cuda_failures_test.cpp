// Failures of the CUDA driver: each failure of each function is a typed error, and the next call works.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "run/cuda/cuda_fixture.hpp"
#include "support/directory.hpp"

namespace vyre::test {
namespace {

TEST(CudaResults, that_end_all_work_of_the_process_lose_the_device) {
  // By the driver's documentation: what was not corrected, what leaves the process in an inconsistent state, and a lost server of MPS.
  for (const CUresult lost : {4, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 806, 810, 911}) {
    EXPECT_TRUE(run::cuda::is_lost(lost)) << lost;
  }
  // Among them are a server of MPS that takes no more clients, or is not there.
  for (const CUresult other : {1, 2, 3, 100, 200, 201, 209, 218, 221, 222, 600, 701, 720, 805, 807, 808, 809, 900, 999}) {
    EXPECT_FALSE(run::cuda::is_lost(other)) << other;
  }
}

TEST_F(CudaTest, a_lost_device_loses_its_arrays_and_is_opened_anew) {
  CudaBackend cuda = backend();
  const auto executable = prepared(cuda, xor_, 0);
  Resident arrays(cuda, 100);
  const auto plan = executable->plan(arrays.views, {2, 1, 1});
  driver_.fail("cuLaunchKernel", 1, run::cuda::CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(
      message_of([&] { plan->submit(arrays.views, {}, {}); }),
      "cuLaunchKernel failed: the device was lost on device `Fake 0` (CUDA_ERROR_OF_THE_TEST). Fix: call again, which opens the device "
      "anew; if it is lost again, restart the process.");
  EXPECT_EQ(message_of([&] { arrays.out(); }),
            "device `Fake 0` was lost, and the arrays on it with it. Fix: make them anew, and call again.");
  Arrays host(100);
  host.run(*executable);
  EXPECT_TRUE(host.right());
  Resident anew(cuda, 100);
  executable->plan(anew.views, {2, 1, 1})->submit(anew.views, {}, {});
  EXPECT_TRUE(anew.right());
}

// Everything that a backend does, once.
void do_everything(CudaBackend& cuda, const validate::ValidProgram& program, bool& right) {
  right = false;
  const auto executable = prepared(cuda, program, 0);
  executable->driver_facts({});
  const Words a = counted(100, 3), b = counted(100, 5);
  Words copies[] = {a, b, Words(100)};
  const run::BufferView views[] = {view(copies[0]), view(copies[1]), view(copies[2])};
  executable->run(views, {2, 1, 1}, {});
  std::vector<std::unique_ptr<run::Storage>> storages;
  std::vector<StorageView> resident;
  for (const std::uint64_t words : {100u, 100u, 100u, 100u, 100u}) {
    storages.push_back(cuda.allocate(0, 4 * words, true));
    resident.push_back({storages.back().get(), 0, 4 * words, static_cast<std::uint32_t>(words)});
  }
  storages[0]->write(0, bytes_of(a), {});
  storages[1]->write(0, bytes_of(b), {});
  const std::shared_ptr<run::Recording> plan = executable->plan(std::span(resident).first(3), {2, 1, 1});
  // Two calls that share what they read, and one that comes after both.
  const std::vector<StorageView> other = {resident[0], resident[1], resident[3]}, both = {resident[2], resident[3], resident[4]};
  const std::vector<StorageView> first = {resident[0], resident[1], resident[2]};
  joined(cuda, {{plan, first}, {plan, other}, {plan, both}}).submit(2, {});
  Words got(100), last(100, 1);
  storages[2]->read(0, std::as_writable_bytes(std::span(got)), {});
  storages[4]->read(0, std::as_writable_bytes(std::span(last)), {});
  right = copies[2] == xor_of(a, b) && got == xor_of(a, b) && last == Words(100, 0);
}

// Whether the submission thread passes all that it can, or what it does by default.
class CudaFailuresTest : public CudaTest, public testing::WithParamInterface<std::optional<bool>> {};
INSTANTIATE_TEST_SUITE_P(SubmittedByCallers, CudaFailuresTest, testing::Values(std::nullopt));
INSTANTIATE_TEST_SUITE_P(SubmittedBeside, CudaFailuresTest, testing::Values(true));

TEST_P(CudaFailuresTest, every_failure_of_every_function_is_a_typed_error_and_the_next_call_works) {
  // The failures of these are not reported: what they would free is the driver's, the next wait records a mark again, a message has the
  // number in place of the name, and a context that cannot be asked for is made the current one anew.
  const std::vector<std::string> silent = {
      "cuGetErrorName",   "cuDevicePrimaryCtxRelease", "cuCtxGetCurrent", "cuCtxPopCurrent", "cuStreamDestroy", "cuEventDestroy",
      "cuMemPoolDestroy", "cuMemPoolTrimTo",           "cuMemFreeAsync",  "cuMemFreeHost",   "cuLinkDestroy",   "cuModuleUnload",
      "cuGraphDestroy",   "cuGraphExecDestroy"};
  int failures = 0;
  for (const std::string& function : FakeCuda::functions()) {
    for (const CUresult result :
         {run::cuda::CUDA_ERROR_OUT_OF_MEMORY, run::cuda::CUDA_ERROR_ILLEGAL_ADDRESS, run::cuda::CUDA_ERROR_UNKNOWN}) {
      for (int nth = 1; nth < 40; ++nth) {
        SCOPED_TRACE(testing::Message() << function << ", call " << nth << ", result " << result);
        const Directory cache;
        CudaBackend cuda = backend({.submission_thread = GetParam(), .cache_directory = cache.path});
        driver_.fail(function, nth, result);
        bool right = false;
        const std::string kind = outcome_of([&] { do_everything(cuda, xor_, right); }).kind;
        if (!driver_.failed()) {
          EXPECT_TRUE(right);
          driver_.work();
          break;
        }
        ++failures;
        const bool is_silent = std::ranges::find(silent, function) != silent.end();
        // The driver is asked again after memory ran out.
        const bool again = function == "cuMemAllocFromPoolAsync" && result == run::cuda::CUDA_ERROR_OUT_OF_MEMORY;
        // Memory that is given back while the context cannot be made the current one stays taken.
        const bool freeing = function == "cuCtxPushCurrent" && kind == "none";
        if (is_silent || again || freeing) {
          EXPECT_EQ(kind, "none");
          EXPECT_TRUE(right);
        } else {
          EXPECT_EQ(kind, kind_wanted(result));
        }
        do_everything(cuda, xor_, right);
        EXPECT_TRUE(right) << "the next call";
      }
    }
  }
  EXPECT_GT(failures, 200);
}

TEST_F(CudaTest, nothing_is_left_when_a_backend_ends) {
  {
    CudaBackend cuda = backend();
    bool right = false;
    do_everything(cuda, xor_, right);
    EXPECT_TRUE(right);
  }
  EXPECT_EQ(driver_.leaks(), std::vector<std::string>());
}

}  // namespace
}  // namespace vyre::test
