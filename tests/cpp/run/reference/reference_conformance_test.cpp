// The reference against the table of expected values.
#include <gtest/gtest.h>

#include "support/conformance.hpp"
#include "vyre/run/reference/reference.hpp"

namespace vyre::test {
namespace {

class ReferenceConformance : public testing::TestWithParam<std::size_t> {};

TEST_P(ReferenceConformance, gives_the_expected_words) {
  const ConformanceCase& given = conformance_cases()[GetParam()];
  const std::vector<Words> got = run_reference(given.program, given.given, given.grid);
  ASSERT_EQ(got.size(), given.expected.size());
  for (std::size_t slot = 0; slot < got.size(); ++slot) EXPECT_EQ(got[slot], given.expected[slot]) << "buffer " << slot;
}

INSTANTIATE_TEST_SUITE_P(Table, ReferenceConformance, testing::Range(std::size_t{0}, conformance_cases().size()),
                         [](const auto& param) { return conformance_cases()[param.param].name; });

}  // namespace
}  // namespace vyre::test
