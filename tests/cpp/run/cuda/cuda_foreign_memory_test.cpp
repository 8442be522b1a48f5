// Memory of another library that CUDA calls work with, and memory of ours that another library may use: when it goes back.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "run/cuda/cuda_fixture.hpp"
#include "vyre/run/cuda/calls/storage.hpp"

namespace vyre::test {
namespace {

TEST_F(CudaTest, memory_of_another_library_is_worked_with_where_it_lies_and_given_back_when_nothing_uses_it) {
  CudaBackend cuda = backend();
  const Words a = counted(100, 3), b = counted(100, 5);
  Words out(100);
  std::vector<std::unique_ptr<run::cuda::CudaStorage>> storages;
  std::vector<StorageView> views;
  bool given_back = false;
  for (const Words* const words : std::initializer_list<const Words*>{&a, &b, &out}) {
    const auto address = reinterpret_cast<CUdeviceptr>(words->data());
    EXPECT_EQ(cuda.device_of(address), 0u);
    const std::shared_ptr<void> owner(&given_back, [](void* flag) { *static_cast<bool*>(flag) = true; });
    storages.push_back(cuda.adopt(0, {address, 400, owner}));
    storages.back()->wait_for(nullptr);
    views.push_back({storages.back().get(), 0, 400, 100});
  }
  prepared(cuda, xor_, 0)->plan(views, {2, 1, 1})->submit(views, {}, {});
  storages[2]->let_wait(nullptr);
  storages[2]->wait({});
  EXPECT_EQ(out, xor_of(a, b));
  EXPECT_EQ(driver_.calls("cuStreamWaitEvent"), 4);
  EXPECT_FALSE(given_back);
  storages.clear();
  EXPECT_TRUE(given_back);
  EXPECT_EQ(message_of([&] { cuda.device_of(0); }),
            "address 0x0 lies on no CUDA device of this process. Fix: pass an array that its library still keeps.");
}

// An array of another library, and whether it has its memory back.
struct Foreign {
  Words words = Words(100, 7);
  std::atomic<bool> given_back = false;
  std::unique_ptr<run::cuda::CudaStorage> adopted(CudaBackend& cuda, std::uint64_t bytes = 400) {
    const std::shared_ptr<void> owner(&given_back, [](void* flag) { *static_cast<std::atomic<bool>*>(flag) = true; });
    return cuda.adopt(0, {reinterpret_cast<CUdeviceptr>(words.data()), bytes, owner});
  }
};

TEST_F(CudaTest, memory_of_another_library_goes_back_once_the_device_is_done_with_it_and_its_destruction_does_not_wait) {
  CudaBackend cuda = backend();
  Foreign first, second, third;
  auto storage = first.adopted(cuda);
  driver_.hold();
  storage->write(0, bytes_of(Words(100, 8)), {});
  storage.reset();
  EXPECT_FALSE(first.given_back);
  // The next array finds that the device is still at work.
  auto next = second.adopted(cuda);
  EXPECT_FALSE(first.given_back);
  driver_.release();
  EXPECT_EQ(first.words, Words(100, 8));
  EXPECT_FALSE(first.given_back);
  const auto last = third.adopted(cuda);
  EXPECT_TRUE(first.given_back) << "without a wait";
  next.reset();
  EXPECT_TRUE(second.given_back) << "the device does not use it";
}

TEST_F(CudaTest, memory_of_another_library_goes_back_when_the_device_is_closed) {
  Foreign foreign;
  {
    CudaBackend cuda = backend();
    auto storage = foreign.adopted(cuda);
    driver_.hold();
    storage->write(0, bytes_of(Words(100, 8)), {});
    storage.reset();
    EXPECT_FALSE(foreign.given_back);
    driver_.release();
  }
  EXPECT_TRUE(foreign.given_back);
  EXPECT_EQ(driver_.leaks(), std::vector<std::string>());
}

TEST_F(CudaTest, so_much_memory_of_another_library_is_waited_for) {
  CudaBackend cuda = backend();
  Foreign foreign;
  // A sixteenth of the device's memory, and more.
  auto storage = foreign.adopted(cuda, (std::uint64_t{1} << 28) + 4);
  driver_.hold();
  storage->write(0, bytes_of(Words(100, 8)), {});
  std::atomic<bool> destroyed = false;
  std::jthread destroying([&] {
    storage.reset();
    destroyed = true;
  });
  // The wait asks the driver again and again.
  while (driver_.calls("cuEventQuery") < 100) std::this_thread::yield();
  EXPECT_FALSE(destroyed);
  driver_.release();
  destroying.join();
  EXPECT_TRUE(foreign.given_back);
}

TEST_F(CudaTest, memory_that_another_library_may_use_goes_back_when_the_device_is_idle) {
  CudaBackend cuda = backend();
  auto storage = cuda.allocate(0, 400, true);
  static_cast<run::cuda::CudaStorage&>(*storage).share();
  EXPECT_EQ(driver_.calls("cuCtxSynchronize"), 0);
  storage.reset();
  EXPECT_EQ(driver_.calls("cuCtxSynchronize"), 1);
  cuda.allocate(0, 400, true).reset();
  EXPECT_EQ(driver_.calls("cuCtxSynchronize"), 1) << "only what was shared";
}

}  // namespace
}  // namespace vyre::test
