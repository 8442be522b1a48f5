// The last-level caches of made-up machines, in folders that are made as Linux makes them, and the arrays that outgrow them.
#include "vyre/run/host/last_cache.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "support/directory.hpp"

namespace vyre::run {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text << "\n";
}

struct Cache {
  std::string level, type, size, processors;
};

void describe(const std::filesystem::path& folder, unsigned processor, const std::vector<Cache>& caches) {
  for (std::size_t k = 0; k < caches.size(); ++k) {
    const std::filesystem::path cache = folder / ("cpu" + std::to_string(processor)) / "cache" / ("index" + std::to_string(k));
    write(cache / "level", caches[k].level);
    write(cache / "type", caches[k].type);
    write(cache / "size", caches[k].size);
    write(cache / "shared_cpu_list", caches[k].processors);
  }
}

std::vector<unsigned> first_processors(unsigned count) {
  std::vector<unsigned> result(count);
  std::iota(result.begin(), result.end(), 0u);
  return result;
}

class LastCache : public testing::Test {
 protected:
  const test::Directory directory_;
  const std::filesystem::path& folder_ = directory_.path;
};

TEST_F(LastCache, of_one_socket_is_counted_once) {
  for (const unsigned k : first_processors(16)) {
    describe(folder_, k,
             {{"1", "Data", "48K", std::to_string(k)},
              {"1", "Instruction", "32K", std::to_string(k)},
              {"2", "Unified", "2048K", std::to_string(k)},
              {"3", "Unified", "327680K", "0-15"}});
  }
  EXPECT_EQ(last_cache_bytes(folder_, first_processors(16)), 320 * kMiB);
  EXPECT_EQ(last_cache_bytes(folder_, first_processors(1)), 320 * kMiB);
}

TEST_F(LastCache, of_several_parts_of_a_socket_is_the_sum_over_those_that_the_processors_are_in) {
  for (const unsigned k : first_processors(16)) {
    const char* const others[] = {"0-3,8-11", "4-7,12-15"};
    describe(folder_, k, {{"2", "Unified", "1M", std::to_string(k)}, {"3", "Unified", "32M", others[k / 4 % 2]}});
  }
  EXPECT_EQ(last_cache_bytes(folder_, first_processors(16)), 64 * kMiB);
  EXPECT_EQ(last_cache_bytes(folder_, first_processors(4)), 32 * kMiB);
  EXPECT_EQ(last_cache_bytes(folder_, std::vector{3u, 8u, 10u}), 32 * kMiB);
  EXPECT_EQ(last_cache_bytes(folder_, std::vector{3u, 12u}), 64 * kMiB);
}

TEST_F(LastCache, of_a_machine_without_a_third_level_is_the_second) {
  for (const unsigned k : first_processors(4)) {
    const std::string pair = k < 2 ? "0,1" : "2,3";
    describe(folder_, k, {{"2", "Unified", "4096K", pair}, {"1", "Data", "32K", std::to_string(k)}});
  }
  EXPECT_EQ(last_cache_bytes(folder_, first_processors(4)), 8 * kMiB);
}

TEST_F(LastCache, is_none_where_the_system_does_not_describe_it) {
  EXPECT_EQ(last_cache_bytes(folder_, first_processors(4)), 0u);
  EXPECT_EQ(last_cache_bytes(folder_ / "absent", first_processors(4)), 0u);
}

TEST_F(LastCache, of_this_machine_is_one_that_is_believed) {
  EXPECT_GE(last_cache_bytes(), kLeastLastCache);
  EXPECT_LE(last_cache_bytes(), kMostLastCache);
}

struct Arrays {
  std::uint64_t written, all;       // MiB
  bool past_32, past_64, past_128;  // whether they are stored past caches of so many MiB
};

TEST(Caches, are_outgrown_by_large_results_of_calls_whose_arrays_do_not_fit_together) {
  const Arrays cases[] = {
      {8, 16, false, false, false},    // a copy
      {16, 32, true, false, false},    //
      {32, 64, true, true, false},     //
      {63, 126, true, true, false},    //
      {64, 128, true, true, true},     //
      {10, 30, false, false, false},   // a ^ b
      {16, 48, true, false, false},    //
      {22, 66, true, true, false},     //
      {43, 129, true, true, true},     //
      {4, 1024, false, false, false},  // a small result of a large array
      {16, 1024, true, true, false},   //
  };
  for (const Arrays& each : cases) {
    const auto outgrows = [&](std::uint64_t caches) { return outgrows_caches(each.written * kMiB, each.all * kMiB, caches * kMiB); };
    EXPECT_EQ(outgrows(32), each.past_32) << each.written << " of " << each.all;
    EXPECT_EQ(outgrows(64), each.past_64) << each.written << " of " << each.all;
    EXPECT_EQ(outgrows(128), each.past_128) << each.written << " of " << each.all;
  }
}

}  // namespace
}  // namespace vyre::run
