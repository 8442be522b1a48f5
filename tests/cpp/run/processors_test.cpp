// The processors that quotas of control groups pay for, in folders that are made as the kernel makes them, and those of the process.
#include "vyre/run/host/processors.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support/affinity.hpp"

namespace vyre::run {
namespace {

class Quota : public testing::Test {
 protected:
  Quota() : root_(std::filesystem::path(testing::TempDir()) / ("vyre-quota-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(root_);
  }
  ~Quota() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void write_version_1(const std::string& group, const std::string& quota) const {
    write(group + "/cpu.cfs_quota_us", quota + "\n");
    write(group + "/cpu.cfs_period_us", "100000\n");
  }
  unsigned of(std::string_view groups) const { return processors_of_quota(root_, groups); }

 private:
  std::filesystem::path root_;
};

TEST_F(Quota, of_version_2_is_that_of_the_group_rounded_up) {
  write("a/cpu.max", "max 100000\n");
  EXPECT_EQ(of("0::/a\n"), 0u);
  write("a/cpu.max", "200000 100000\n");
  EXPECT_EQ(of("0::/a\n"), 2u);
  write("a/cpu.max", "150000 100000\n");
  EXPECT_EQ(of("0::/a\n"), 2u);
  write("a/cpu.max", "1000 100000\n");
  EXPECT_EQ(of("0::/a\n"), 1u);
  write("a/cpu.max", "75000 25000\n");
  EXPECT_EQ(of("0::/a\n"), 3u);
}

TEST_F(Quota, of_a_group_around_it_counts_too) {
  write("a/cpu.max", "300000 100000\n");
  write("a/b/cpu.max", "400000 100000\n");
  write("a/b/c/cpu.max", "max 100000\n");
  EXPECT_EQ(of("0::/a/b/c\n"), 3u);
  write("a/b/c/cpu.max", "200000 100000\n");
  EXPECT_EQ(of("0::/a/b/c\n"), 2u);
  EXPECT_EQ(of("0::/a\n"), 3u);
}

TEST_F(Quota, of_a_container_is_at_the_root) {
  write("cpu.max", "500000 100000\n");
  EXPECT_EQ(of("0::/\n"), 5u);
  EXPECT_EQ(of("0::/of/the/host\n"), 5u);
}

TEST_F(Quota, of_version_1_is_where_the_controller_cpu_is) {
  write_version_1("cpu/a", "250000");
  write_version_1("cpu/unlimited", "-1");
  EXPECT_EQ(of("12:memory:/a\n5:cpu,cpuacct:/a\n1:name=systemd:/a\n"), 3u);
  EXPECT_EQ(of("5:cpuacct,cpu:/a\n"), 3u);
  EXPECT_EQ(of("5:cpu,cpuacct:/unlimited\n"), 0u);
  EXPECT_EQ(of("5:cpuset:/a\n6:cpuacct:/a\n"), 0u);
}

TEST_F(Quota, of_both_versions_is_the_smaller_one) {
  write_version_1("cpu/a", "400000");
  write("a/cpu.max", "700000 100000\n");
  EXPECT_EQ(of("5:cpu,cpuacct:/a\n0::/a\n"), 4u);
}

TEST_F(Quota, that_cannot_be_read_limits_nothing) {
  EXPECT_EQ(of(""), 0u);
  EXPECT_EQ(of("0::/a\n"), 0u);
  for (const char* text : {"", "\n", "100000", "x y\n", "0 100000\n", "100000 0\n", "-5 100000\n"}) {
    write("a/cpu.max", text);
    EXPECT_EQ(of("0::/a\n"), 0u) << text;
  }
  write("cpu/a/cpu.cfs_quota_us", "100000\n");  // and no period
  EXPECT_EQ(of("5:cpu:/a\nno colons\n:\n"), 0u);
}

TEST(Processors, are_no_more_than_the_affinity_allows) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_GE(usable_processors(), 1u);
  EXPECT_LE(usable_processors(), static_cast<unsigned>(CPU_COUNT(&before)));
  const cpu_set_t one = one_of(before);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_processors(), 1u);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

// The nodes of memory and the sizes of caches are read once for all threads, perhaps by one that is kept to a processor.
TEST(Processors, of_the_process_are_those_of_its_main_thread_whichever_thread_asks) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  std::vector<unsigned> expected;
  for (unsigned each = 0; each < CPU_SETSIZE; ++each) {
    if (CPU_ISSET(each, &before)) expected.push_back(each);
  }
  EXPECT_EQ(usable_processor_numbers(), expected);
  std::thread([&] {
    const cpu_set_t one = one_of(before);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(usable_processors(), 1u);
    EXPECT_EQ(usable_processor_numbers(), expected);
  }).join();
}

}  // namespace
}  // namespace vyre::run
