// Memory of the host that is kept for arrays of the same size.
#include "vyre/run/host/host_memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace vyre::test {
namespace {

using run::HostMemory;

std::uintptr_t place(const HostMemory& memory) { return reinterpret_cast<std::uintptr_t>(memory.data()); }

TEST(HostMemory, is_as_large_as_it_was_asked_for_where_smaller_memory_is_kept) {
  constexpr std::size_t kSmall = 8 << 20, kLarge = 32 << 20;
  std::uintptr_t kept = 0;
  {
    const HostMemory small = HostMemory::uninitialised(kSmall);
    kept = place(small);
  }
  const HostMemory large = HostMemory::uninitialised(kLarge);
  ASSERT_NE(large.data(), nullptr);
  // The kept memory stays mapped, so no larger memory may begin in it.
  EXPECT_FALSE(kept <= place(large) && place(large) < kept + kSmall);
  EXPECT_EQ(place(HostMemory::uninitialised(kSmall)), kept);
  std::fill_n(large.data(), kLarge, std::byte{1});
}

TEST(HostMemory, of_zeros_has_zeros_where_kept_memory_had_others) {
  for (const std::size_t size : {std::size_t{1} << 20, std::size_t{8} << 20}) {
    {
      const HostMemory written = HostMemory::uninitialised(size);
      std::fill_n(written.data(), size, std::byte{1});
    }
    const HostMemory zeros = HostMemory::zeroed(size - 5);
    EXPECT_EQ(std::count(zeros.data(), zeros.data() + size - 5, std::byte{0}), static_cast<std::ptrdiff_t>(size - 5));
  }
}

std::int64_t page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

TEST(HostMemory, of_two_arrays_of_a_megabyte_is_not_given_back_to_the_system) {
  constexpr std::size_t kSize = std::size_t{1} << 20, kPage = 4096;
  std::int64_t faults = 0;
  for (int turn = 0; turn < 5; ++turn) {
    const std::int64_t before = page_faults();
    const HostMemory first = HostMemory::uninitialised(kSize), second = HostMemory::uninitialised(kSize);
    std::fill_n(first.data(), kSize, std::byte{1});
    std::fill_n(second.data(), kSize, std::byte{2});
    faults = page_faults() - before;
  }
  EXPECT_LT(faults, static_cast<std::int64_t>(kSize / kPage));
}

}  // namespace
}  // namespace vyre::test
