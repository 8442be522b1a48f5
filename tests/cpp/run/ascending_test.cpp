// Finding where integers stop ascending, and the lengths between offsets, against the plain loop.
#include "vyre/run/host/ascending.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace vyre::test {
namespace {

template <class T>
class Ascending : public testing::Test {};

using Elements = testing::Types<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t, std::uint64_t>;
TYPED_TEST_SUITE(Ascending, Elements);

TYPED_TEST(Ascending, has_no_descent_where_elements_are_equal_or_rise_to_the_limits_of_the_type) {
  using Limits = std::numeric_limits<TypeParam>;
  for (const std::size_t size : {0, 1, 2, 1023, 1024, 1025, 5000}) {
    std::vector<TypeParam> values(size, Limits::min());
    std::fill(values.begin() + static_cast<std::ptrdiff_t>(size / 2), values.end(), Limits::max());
    EXPECT_EQ(run::first_descent(std::span<const TypeParam>(values)), std::nullopt);
  }
}

TYPED_TEST(Ascending, tells_the_first_of_several_descents) {
  using Limits = std::numeric_limits<TypeParam>;
  for (const std::size_t at : {1, 2, 1023, 1024, 1025, 2048, 4998}) {
    std::vector<TypeParam> values(5000, Limits::max());
    values[at] = Limits::min();
    values.back() = Limits::min();
    EXPECT_EQ(run::first_descent(std::span<const TypeParam>(values)), at);
  }
}

// So long that threads share it; one of the falls is at the beginning of a thread's part.
TEST(Ascending, tells_the_first_descent_of_a_long_array_wherever_it_is) {
  std::vector<std::uint32_t> values(std::size_t{5} << 20);
  std::iota(values.begin(), values.end(), 0u);
  EXPECT_EQ(run::first_descent(std::span<const std::uint32_t>(values)), std::nullopt);
  for (const std::size_t at : {values.size() - 1, std::size_t{3} << 20, std::size_t{5} << 19, std::size_t{1024}, std::size_t{1}}) {
    values[at] = 0;  // the later ones of before stay
    const auto expected = static_cast<std::size_t>(std::is_sorted_until(values.begin(), values.end()) - values.begin());
    EXPECT_EQ(run::first_descent(std::span<const std::uint32_t>(values)), expected);
  }
}

TEST(Spans, are_those_of_a_plain_loop) {
  std::mt19937 random(1);
  for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{3} << 20}) {
    std::vector<std::uint32_t> offsets{48}, wanted, lengths(count);
    for (std::size_t k = 0; k < count; ++k) {
      wanted.push_back(16 * (1 + random() % 40));
      offsets.push_back(offsets.back() + wanted.back());
    }
    const run::Spans found = run::spans_of(offsets, lengths.data());
    EXPECT_EQ(lengths, wanted);
    EXPECT_EQ(found.shortest, *std::ranges::min_element(wanted));
    EXPECT_EQ(found.longest, *std::ranges::max_element(wanted));
    EXPECT_EQ(run::spans_of(offsets, nullptr).longest, found.longest);
    EXPECT_EQ(found.starts, std::accumulate(offsets.begin(), offsets.end() - 1, 0u, std::bit_or<>()));
  }
}

TEST(Spans, of_one_offset_are_none) {
  const std::vector<std::uint32_t> offsets{5};
  const run::Spans found = run::spans_of(offsets, nullptr);
  EXPECT_EQ(found.starts + found.shortest + found.longest, 0u);
}

}  // namespace
}  // namespace vyre::test
