// How the CUDA driver compiles kernels: with how many registers, what it says about them, and which code is kept for the next process.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "run/cuda/cuda_fixture.hpp"
#include "support/directory.hpp"

namespace vyre::test {
namespace {

using namespace sample;

TEST_F(CudaTest, a_driver_tells_of_registers_and_how_busy_they_keep_a_multiprocessor) {
  CudaBackend cuda = backend();
  std::vector<std::array<std::string, 2>> told;
  for (const run::DriverFact& fact : cuda.prepare(xor_, 0)->driver_facts({})) told.push_back({fact.name, fact.value});
  // The driver gives ten times the number of an attribute. 2^16 registers are enough for 25 workgroups of 64 with 40 each.
  const std::vector<std::array<std::string, 2>> expected = {
      {"Register Count", "40"},    {"Resident Workgroups", "25"},       {"Occupancy", "1600 of 2048"},
      {"Local Memory Size", "30"}, {"Static Shared Memory Size", "10"}, {"Constant Memory Size", "20"},
      {"Binary Version", "60"}};
  EXPECT_EQ(told, expected);
}

TEST_F(CudaTest, few_resident_workgroups_become_one_more_where_registers_stay_registers) {
  // 2^16 registers are enough for 2 workgroups of 64 with 400 each, and for 3 with 340.
  struct Case {
    FakeCuda::Compiled plain, limited;
    int compiled;
    bool is_limited;
  };
  const Case cases[] = {
      {{400, 8}, {340, 8}, 2, true}, {{400, 8}, {340, 9}, 2, false}, {{400, 8}, {350, 8}, 2, false}, {{340, 8}, {256, 8}, 1, false}};
  for (const Case& each : cases) {
    SCOPED_TRACE(testing::Message() << each.plain.registers << ", " << each.limited.registers << ", " << each.limited.local_bytes);
    const Directory cache;
    for (const int times : {each.compiled, 0}) {  // the next process takes what this one kept
      driver_.set_compiled(each.plain, 3, each.limited);
      driver_.forget_calls();
      CudaBackend cuda = backend({.cache_directory = cache.path});
      const auto executable = cuda.prepare(xor_, 0);
      Arrays arrays(100);
      arrays.run(*executable);
      EXPECT_TRUE(arrays.right());
      EXPECT_EQ(driver_.calls("cuLinkComplete"), times);
      EXPECT_EQ(executable->driver_facts({})[0].value, std::to_string((each.is_limited ? each.limited : each.plain).registers));
    }
  }
}

TEST_F(CudaTest, a_kernel_is_compiled_once_where_more_than_registers_bounds_what_is_resident) {
  // A multiprocessor has 233,472 bytes of workgroup memory: for 3 workgroups of 77,824 bytes, and for 2 of 4 bytes more.
  const auto program = [&](std::uint32_t words) {
    return valid(Sample()
                     .in("a")
                     .out("out")
                     .size(64)
                     .shared("s", words)
                     .add(store("s", lid(0), load("a", gid(0))))
                     .add(store("out", gid(0), load("s", lid(0))))
                     .make());
  };
  struct Case {
    std::uint32_t words;
    int invocations, compiled;
  };
  for (const Case& each : {Case{19456, 192, 2}, Case{19457, 192, 1}, Case{19456, 191, 1}}) {
    SCOPED_TRACE(testing::Message() << each.words << ", " << each.invocations);
    driver_.set_attribute(run::cuda::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, each.invocations);
    driver_.set_compiled({400, 8}, 3, {340, 8});
    driver_.forget_calls();
    const Directory cache;
    CudaBackend cuda = backend({.cache_directory = cache.path});
    cuda.prepare(program(each.words), 0);
    EXPECT_EQ(driver_.calls("cuLinkComplete"), each.compiled);
  }
}

TEST_F(CudaTest, compiled_code_is_kept_for_the_next_process) {
  Arrays arrays(100);
  {
    CudaBackend cuda = backend();
    arrays.run(*cuda.prepare(xor_, 0));
    EXPECT_EQ(driver_.calls("cuLinkComplete"), 1);
  }
  CudaBackend next = backend();
  Arrays again(100);
  again.run(*next.prepare(xor_, 0));
  EXPECT_EQ(driver_.calls("cuLinkComplete"), 1);
  EXPECT_TRUE(again.right());
  // A file that the driver does not load is made anew.
  driver_.fail("cuModuleLoadData", 1, run::cuda::CUDA_ERROR_INVALID_IMAGE);
  CudaBackend third = backend();
  Arrays repaired(100);
  repaired.run(*third.prepare(xor_, 0));
  EXPECT_TRUE(driver_.failed());
  EXPECT_EQ(driver_.calls("cuLinkComplete"), 2);
  EXPECT_TRUE(repaired.right());
}

TEST_F(CudaTest, compiled_code_is_for_one_driver_alone) {
  const auto compiled_with = [&](int version, const std::string& file) {
    driver_.set_version(version);
    driver_.forget_calls();
    Options options;
    options.cache_directory = cache_.path;
    CudaBackend cuda(
        [&] {
          run::cuda::Library library = driver_.library();
          library.file = file;
          return library;
        },
        options);
    Arrays arrays(100);
    arrays.run(*cuda.prepare(xor_, 0));
    EXPECT_TRUE(arrays.right());
    return driver_.calls("cuLinkComplete");
  };
  EXPECT_EQ(compiled_with(13000, "one"), 1);
  EXPECT_EQ(compiled_with(13000, "one"), 0);
  EXPECT_EQ(compiled_with(13010, "one"), 1) << "another version";
  EXPECT_EQ(compiled_with(13000, "two"), 1) << "another file of the library, of the same version";
  EXPECT_EQ(compiled_with(13000, "one"), 0);
}

}  // namespace
}  // namespace vyre::test
