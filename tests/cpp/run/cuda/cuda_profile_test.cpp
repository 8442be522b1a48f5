// Profiles of a CUDA device: times that are exact however long a profile is open, and calls that give the same when the driver tells none.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "run/cuda/cuda_fixture.hpp"
#include "vyre/run/cuda/device.hpp"
#include "vyre/run/profile.hpp"

namespace vyre::test {
namespace {

TEST_F(CudaTest, a_profile_never_changes_what_a_call_gives) {
  int failures = 0;
  for (const char* function : {"cuEventCreate", "cuEventRecord", "cuEventElapsedTime"}) {
    for (int nth = 1; nth < 60; ++nth) {
      SCOPED_TRACE(testing::Message() << function << ", call " << nth);
      CudaBackend cuda = backend();
      const auto executable = prepared(cuda, xor_, 0);
      Resident arrays(cuda, 100);
      const auto plan = executable->plan(arrays.views, {2, 1, 1});
      arrays.out();
      const auto profile = run::Profile::begin(100);
      driver_.fail(function, nth, run::cuda::CUDA_ERROR_UNKNOWN);
      std::string said;
      try {
        plan->submit(arrays.views, {}, {});
        EXPECT_TRUE(arrays.right());
      } catch (const DeviceError& error) {
        said = error.what();  // a wait's own event, not the profile's
      }
      driver_.work();
      profile->end({});
      failures += driver_.failed() ? 1 : 0;
      EXPECT_TRUE(said.empty() || function != std::string("cuEventElapsedTime")) << said;
      EXPECT_TRUE(arrays.right());
    }
  }
  EXPECT_GT(failures, 10);
}

// The driver's kernels are run by the cpu backend, which the profile shows too.
bool is_of_cuda(const run::ProfileReport& report, std::size_t device) {
  return device != run::ProfileEvent::kHost && report.devices.at(device).label.backend == "cuda";
}

TEST_F(CudaTest, a_profile_of_many_calls_loses_times_and_nothing_else_when_the_driver_tells_none) {
  constexpr int kCalls = 200;
  for (const int nth : {1, 2, 50, 200}) {
    SCOPED_TRACE(nth);
    {
      CudaBackend cuda = backend();
      Resident arrays(cuda, 100);
      const auto plan = prepared(cuda, xor_, 0)->plan(arrays.views, {2, 1, 1});
      const auto profile = run::Profile::begin(1000);
      plan->submit(arrays.views, {}, {});
      driver_.fail("cuEventElapsedTime", nth, run::cuda::CUDA_ERROR_UNKNOWN);
      for (int call = 1; call < kCalls; ++call) plan->submit(arrays.views, {}, {});
      EXPECT_TRUE(arrays.right());
      profile->end({});
      EXPECT_TRUE(driver_.failed());
      const run::ProfileReport report = profile->report();
      EXPECT_EQ(report.notes,
                std::vector<std::string>{"some work of a device has no times of its own: cuEventElapsedTime failed on device `Fake 0` "
                                         "(CUDA_ERROR_OF_THE_TEST). Fix: check the driver's installation, or use another device."});
      std::uint64_t dispatches = 0;
      for (const run::ProfileReport::Row& row : report.rows) {
        if (row.name == "dispatch" && is_of_cuda(report, row.device)) dispatches += row.calls;
      }
      EXPECT_EQ(dispatches, std::uint64_t{kCalls});
    }
    EXPECT_EQ(driver_.leaks(), std::vector<std::string>());
  }
}

TEST_F(CudaTest, a_call_that_fails_under_a_profile_gives_its_events_back) {
  {
    CudaBackend cuda = backend();
    Resident arrays(cuda, 100);
    const auto plan = prepared(cuda, xor_, 0)->plan(arrays.views, {2, 1, 1});
    const auto profile = run::Profile::begin(1000);
    plan->submit(arrays.views, {}, {});
    driver_.fail("cuLaunchKernel", 1, run::cuda::CUDA_ERROR_UNKNOWN);
    EXPECT_THROW(plan->submit(arrays.views, {}, {}), DeviceError);
    profile->end({});
  }
  EXPECT_EQ(driver_.leaks(), std::vector<std::string>());
}

TEST_F(CudaTest, times_of_calls_are_exact_however_long_a_profile_is_open) {
  CudaBackend cuda = backend();
  Resident arrays(cuda, 100);
  const auto plan = prepared(cuda, xor_, 0)->plan(arrays.views, {2, 1, 1});
  const auto profile = run::Profile::begin(1000);
  plan->submit(arrays.views, {}, {});
  driver_.pass_time(std::int64_t{60} * 1'000'000'000);
  for (int call = 0; call < 100; ++call) plan->submit(arrays.views, {}, {});
  // While the profile is open, its times are the device's own.
  const run::ProfileReport report = profile->report();
  ASSERT_GT(report.events.size(), 64u);
  std::vector<std::int64_t> durations, distances;
  std::optional<std::int64_t> last;
  for (const run::ProfileEvent& event : report.events) {
    if (!is_of_cuda(report, event.device)) continue;
    durations.push_back(event.duration);
    if (last) distances.push_back(event.start - *last);
    last = event.start;
  }
  EXPECT_EQ(durations, std::vector<std::int64_t>(durations.size(), FakeCuda::kOperationTime));
  // The driver tells the time between two events as a float, of which 60 s are a multiple of 2^-8 ms.
  EXPECT_LE(std::abs(distances.at(0) - 60'000'000'000 - FakeCuda::kOperationTime), 1954);
  distances.erase(distances.begin());
  EXPECT_EQ(distances, std::vector<std::int64_t>(distances.size(), FakeCuda::kOperationTime));
  profile->end({});
}

TEST_F(CudaTest, the_device_clock_says_by_how_much_it_may_be_wrong) {
  const auto instance = std::make_shared<run::cuda::Instance>(driver_.library());
  const auto device = run::cuda::Device::open(instance, instance->devices().at(0), {.cache_directory = cache_.path});
  const std::int64_t began = driver_.time();
  const auto first = device->timing().read({});
  EXPECT_EQ(first->rounding, 0);
  driver_.pass_time(1'000'000);
  const auto second = device->timing().read({});
  EXPECT_EQ(second->device - first->device, driver_.time() - began);
  EXPECT_EQ(second->rounding, 0);
  driver_.pass_time(60'000'001'003);
  const auto third = device->timing().read({});
  EXPECT_NE(third->device - first->device, driver_.time() - began) << "a float has no such number";
  EXPECT_LE(std::abs(third->device - first->device - (driver_.time() - began)), third->rounding);
  EXPECT_EQ(third->rounding, 1954) << "half of 2^-8 ms, rounded up";
}

}  // namespace
}  // namespace vyre::test
