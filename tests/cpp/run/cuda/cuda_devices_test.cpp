// CUDA devices and their contexts: which is current on a thread, several devices beside each other, and why one cannot be used.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "run/cuda/cuda_fixture.hpp"
#include "support/logged.hpp"
#include "vyre/run/cuda/api/context.hpp"

namespace vyre::test {
namespace {

TEST(CudaDevices, say_why_they_cannot_be_used) {
  {
    CudaBackend absent([] { return run::cuda::Library{nullptr, "there is none. Fix: get one."}; });
    EXPECT_EQ(absent.reasons_unavailable(), std::vector<std::string>{"there is none. Fix: get one."});
    EXPECT_TRUE(absent.devices().empty());
  }
  {
    FakeCuda driver(0);
    CudaBackend cuda([&] { return driver.library(); });
    EXPECT_EQ(
        cuda.reasons_unavailable(),
        std::vector<std::string>{"the CUDA driver finds no GPU. Fix: give the container or the process one, for example with `docker run "
                                 "--gpus all`."});
  }
  FakeCuda driver;
  driver.set_version(11020);
  driver.set_attribute(run::cuda::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 6);
  driver.set_attribute(run::cuda::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 1);
  driver.set_attribute(run::cuda::CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, run::cuda::CU_COMPUTEMODE_PROHIBITED);
  driver.set_attribute(run::cuda::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 0);
  CudaBackend cuda([&] { return driver.library(); });
  const std::vector<std::string> reasons = {
      "device `Fake 0` has a driver of CUDA 11.2, and 11.4 is needed. Fix: update the driver.",
      "device `Fake 0` has compute capability 6.1, and 7.5 is needed. Fix: use a newer GPU, or backend `vulkan`.",
      "device `Fake 0` is set to take no compute work. Fix: change its mode with `nvidia-smi --compute-mode=0`.",
      "device `Fake 0` has no stream-ordered memory. Fix: use backend `vulkan` or `cpu`."};
  EXPECT_EQ(cuda.devices().at(0).reasons, reasons);
  EXPECT_EQ(cuda.reasons_unavailable(), reasons);
}

TEST_F(CudaTest, a_context_that_was_given_back_is_lost_also_on_a_thread_without_a_context) {
  const auto instance = std::make_shared<run::cuda::Instance>(driver_.library());
  run::cuda::Context context(instance, instance->devices().at(0), {});
  context.release();
  EXPECT_THROW(const run::cuda::Current current(context), DeviceLostError);
  EXPECT_TRUE(context.lost());
  EXPECT_EQ(driver_.calls("cuCtxPushCurrent"), 0);
}

class CudaTwoDevicesTest : public CudaTest {
 protected:
  CudaTwoDevicesTest() : CudaTest(2) {}
};

// What another library finds current on the calling thread.
CUcontext current_on(const run::cuda::Api& api) {
  CUcontext now = nullptr;
  api.cuCtxGetCurrent(&now);
  return now;
}

TEST_F(CudaTwoDevicesTest, a_thread_without_a_context_keeps_that_of_the_first_device_and_no_other) {
  const auto instance = std::make_shared<run::cuda::Instance>(driver_.library());
  run::cuda::Context first(instance, instance->devices().at(0), {}), second(instance, instance->devices().at(1), {});
  const run::cuda::Api& api = instance->api();
  std::jthread([&] {
    { const run::cuda::Current current(second); }
    EXPECT_EQ(current_on(api), nullptr) << "another library would run on the second device";
    { const run::cuda::Current current(first); }
    CUcontext of_first = nullptr;
    api.cuDevicePrimaryCtxRetain(&of_first, 0);
    api.cuDevicePrimaryCtxRelease(0);
    EXPECT_EQ(current_on(api), of_first);
    driver_.forget_calls();
    { const run::cuda::Current current(first); }
    EXPECT_EQ(driver_.order(FakeCuda::functions()), (std::vector<std::string>{"cuCtxGetCurrent"}));
    { const run::cuda::Current current(second); }
    EXPECT_EQ(current_on(api), of_first) << "what was current is so again";
  }).join();
}

TEST_F(CudaTwoDevicesTest, one_goes_on_when_the_other_is_lost) {
  CudaBackend cuda = backend();
  ASSERT_EQ(cuda.devices().size(), 2u);
  const auto first_code = prepared(cuda, xor_, 0), second_code = prepared(cuda, xor_, 1);
  Resident first(cuda, 100), second(cuda, 100, 0, 1);
  const std::shared_ptr<run::Recording> first_plan = first_code->plan(first.views, {2, 1, 1});
  const std::shared_ptr<run::Recording> second_plan = second_code->plan(second.views, {2, 1, 1});
  const auto first_graph = joined(cuda, {{first_plan, first.views}, {first_plan, first.views}});
  const auto second_graph = joined(cuda, {{second_plan, second.views}, {second_plan, second.views}});
  driver_.lose(0, run::cuda::CUDA_ERROR_NVLINK_UNCORRECTABLE);
  EXPECT_THROW(first_graph.submit(1, {}), DeviceLostError);
  EXPECT_THROW(first_plan->submit(first.views, {}, {}), DeviceLostError);
  EXPECT_THROW(first.out(), DeviceLostError);
  second_plan->submit(second.views, {}, {});
  EXPECT_TRUE(second.right());
  second_graph.submit(3, {});
  EXPECT_TRUE(second.right());
  Arrays host(100);
  host.run(*second_code);
  EXPECT_TRUE(host.right());
  // The next call opens the lost one anew, and leaves the other as it is.
  const int streams = driver_.calls("cuStreamCreate");
  Resident anew(cuda, 100);
  first_code->plan(anew.views, {2, 1, 1})->submit(anew.views, {}, {});
  EXPECT_TRUE(anew.right());
  EXPECT_EQ(driver_.calls("cuStreamCreate"), streams + 1);
  second_plan->submit(second.views, {}, {});
  EXPECT_TRUE(second.right());
}

TEST_F(CudaTwoDevicesTest, one_that_cannot_be_opened_is_not_usable_and_the_other_is_the_default) {
  CudaBackend cuda = backend();
  driver_.fail("cuDevicePrimaryCtxRetain", 1, run::cuda::CUDA_ERROR_UNKNOWN);
  cuda.try_devices();
  const std::vector<run::DeviceInfo> devices = cuda.devices();
  EXPECT_FALSE(devices[0].usable);
  ASSERT_EQ(devices[0].reasons.size(), 1u);
  EXPECT_TRUE(devices[0].reasons[0].starts_with("cuDevicePrimaryCtxRetain failed on device `Fake 0`")) << devices[0].reasons[0];
  EXPECT_TRUE(devices[1].usable && devices[1].is_default);
  EXPECT_EQ(cuda.default_device(), 1u);
}

TEST_F(CudaTwoDevicesTest, the_first_is_named_in_the_log_once_when_it_cannot_be_opened) {
  CudaBackend cuda = backend();
  driver_.fail("cuDevicePrimaryCtxRetain", 1, run::cuda::CUDA_ERROR_UNKNOWN);
  const Logged logged;
  EXPECT_EQ(cuda.default_device(), 1u);
  EXPECT_EQ(cuda.default_device(), 1u);
  ASSERT_EQ(logged.lines().size(), 1u);
  EXPECT_TRUE(logged.lines()[0].starts_with("a device is passed over for good: cuDevicePrimaryCtxRetain failed on device `Fake 0`"));
}

TEST_F(CudaTwoDevicesTest, one_that_is_only_listed_is_opened_once_and_closed_again) {
  CudaBackend cuda = backend();
  EXPECT_EQ(cuda.devices().size(), 2u);
  EXPECT_EQ(driver_.calls("cuDevicePrimaryCtxRetain"), 0);
  for (int turn = 0; turn < 2; ++turn) {
    cuda.try_devices();
    EXPECT_EQ(driver_.calls("cuDevicePrimaryCtxRetain"), 2);
    EXPECT_EQ(driver_.calls("cuDevicePrimaryCtxRelease"), 1) << "the default stays open";
  }
}

}  // namespace
}  // namespace vyre::test
