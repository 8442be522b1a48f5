// The CUDA backend on a driver without a GPU: the bytes of every kind of call, the limits of its devices, and calls from several threads
// and processes.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "run/cuda/cuda_fixture.hpp"
#include "support/conformance.hpp"
#include "vyre/run/cuda/calls/storage.hpp"

namespace vyre::test {
namespace {

using namespace sample;

TEST_F(CudaTest, every_conformance_case_has_its_bytes) {
  CudaBackend cuda = backend();
  for (const ConformanceCase& each : conformance_cases()) {
    SCOPED_TRACE(each.name);
    const validate::ValidProgram program = valid(each.program);
    driver_.knows(program);
    EXPECT_EQ(run_program(cuda, program, each.given, each.grid), each.expected);
  }
  EXPECT_GT(conformance_cases().size(), 30u);
}

TEST_F(CudaTest, arrays_on_the_device_take_a_plan_for_any_of_their_size) {
  CudaBackend cuda = backend();
  const auto executable = prepared(cuda, xor_, 0);
  Resident first(cuda, 100), second(cuda, 100);
  const std::shared_ptr<run::Recording> plan = executable->plan(first.views, {2, 1, 1});
  plan->submit(first.views, {}, {});
  plan->submit(second.views, {}, {});
  EXPECT_TRUE(first.right());
  EXPECT_TRUE(second.right());
  driver_.forget_calls();
  plan->submit(first.views, {}, {});
  EXPECT_EQ(driver_.calls("cuLaunchKernel"), 1);
  EXPECT_EQ(driver_.calls("cuEventRecord"), 0) << "no wait follows the call";
  EXPECT_EQ(driver_.calls("cuMemAllocFromPoolAsync"), 0);
}

TEST_F(CudaTest, arrays_that_begin_inside_of_an_element_are_copied) {
  const validate::ValidProgram program =
      valid(Sample().in("a", DataType::Vec4U32).out("out", DataType::Vec4U32).add(store("out", gid(0), load("a", gid(0)))).make());
  driver_.knows(program);
  CudaBackend cuda = backend();
  const Words given = counted(16, 11);
  const auto from = cuda.allocate(0, 68, true), to = cuda.allocate(0, 72, true);
  from->write(4, bytes_of(given), {});
  const std::vector<StorageView> views = {{from.get(), 4, 64, 4}, {to.get(), 8, 64, 4}};
  prepared(cuda, program, 0)->plan(views, {4, 1, 1})->submit(views, {}, {});
  Words got(18);
  to->read(0, std::as_writable_bytes(std::span(got)), {});
  EXPECT_EQ(Words(got.begin() + 2, got.end()), given);
  EXPECT_EQ(Words(got.begin(), got.begin() + 2), Words(2, 0)) << "before the array";
}

TEST_F(CudaTest, arrays_of_any_size_come_and_go) {
  CudaBackend cuda = backend();
  // Nothing, less than the driver copies itself, more, whole chunks, and more than all lanes hold.
  for (const std::uint32_t words : {0u, 1u, 16384u, 16385u, 1u << 20, (1u << 20) + 1, 30u << 20}) {
    const auto storage = cuda.allocate(0, std::uint64_t{4} * words, false);
    const Words given = counted(words, 2654435761u);
    Words got(words);
    storage->write(0, bytes_of(given), {});
    storage->read(0, std::as_writable_bytes(std::span(got)), {});
    EXPECT_EQ(got, given) << words;
  }
}

TEST_F(CudaTest, bytes_that_fill_no_whole_word_are_followed_by_zeros) {
  CudaBackend cuda = backend();
  for (const bool zeroed : {false, true}) {
    const auto storage = cuda.allocate(0, 6, zeroed);
    const std::array<std::byte, 6> given = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}, std::byte{6}};
    storage->write(0, given, {});
    const auto& memory = static_cast<run::cuda::CudaStorage&>(*storage);
    std::uint32_t last = 0;
    std::memcpy(&last, reinterpret_cast<const void*>(memory.address() + 4), 4);
    EXPECT_EQ(last, 0x0605u);
  }
}

TEST_F(CudaTest, limits_of_the_device_are_named) {
  CudaBackend cuda = backend();
  EXPECT_EQ(
      message_of([&] { cuda.allocate(0, std::uint64_t{1} << 33, false); }),
      "8589934592 bytes of an array exceeds the memory of device `Fake 0`, which allows 4294967296. Fix: make a smaller array, or use "
      "another device.");
  driver_.set_attribute(run::cuda::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 32);
  CudaBackend small = backend();
  EXPECT_EQ(message_of([&] { prepared(small, xor_, 0); }),
            "64 invocations a workgroup exceeds the max threads per block of device `Fake 0`, which allows 32. Fix: use a smaller "
            "workgroup_size, or use another device.");
  EXPECT_EQ(message_of([&] { prepared(cuda, xor_, 1); }),
            "device 1 does not exist, there are 1. Fix: pass the index of an entry of devices().");
}

void call_from_threads(const std::function<bool()>& call) {
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> threads;
    for (int k = 0; k < 8; ++k) {
      threads.emplace_back([&] {
        for (int turn = 0; turn < 20; ++turn) right += call() ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(right, 160);
}

TEST_F(CudaTest, threads_may_call_at_once) {
  for (const std::optional<bool> thread : {std::optional<bool>(), std::optional(true), std::optional(false)}) {
    CudaBackend cuda = backend({.submission_thread = thread});
    const std::shared_ptr<Prepared> executable = prepared(cuda, xor_, 0);
    call_from_threads([&] {
      Arrays host(100);
      host.run(*executable);
      Resident arrays(cuda, 300);
      const auto plan = executable->plan(arrays.views, {5, 1, 1});
      for (int turn = 0; turn < 9; ++turn) plan->submit(arrays.views, {}, {});
      return host.right() && arrays.right();
    });
  }
}

TEST_F(CudaTest, a_forked_child_is_refused) {
  CudaBackend cuda = backend();
  Resident arrays(cuda, 100);
  const auto executable = prepared(cuda, xor_, 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::string wanted = "CUDA was opened before this process was forked, and does not survive that.";
    const bool storage = message_of([&] { arrays.out(); }).starts_with(wanted);
    const bool call = message_of([&] { Arrays(10).run(*executable); }).starts_with(wanted);
    const bool fresh = message_of([&] { cuda.allocate(0, 4, true); }).starts_with(wanted);
    _exit(storage && call && fresh ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(arrays.out(), Words(100, 0));
}

}  // namespace
}  // namespace vyre::test
