// Memory of the host that is kept for arrays of the same size.
#include "vyre/run/host/host_memory.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace vyre::test
