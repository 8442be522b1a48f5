// Checked execution finds what was planted into random programs, where it was planted, and nothing in those that have no defect.
#include "vyre/fuzz/checked.hpp"

#include <gtest/gtest.h>

#include "vyre/fuzz/generate.hpp"
#include "vyre/ir/text/print.hpp"

namespace vyre::fuzz {
namespace {

const run::Schedule kSchedules[] = {{}, {.order = run::Schedule::Order::Reversed}, {.order = run::Schedule::Order::Random, .seed = 11}};

void expect_right(const Options& options, std::uint64_t seeds) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const Case that = generate(seed, options);
    const auto wrong = misjudged(that, options, check_case(that, kSchedules[seed % std::size(kSchedules)]));
    ASSERT_FALSE(wrong.has_value()) << "seed " << seed << ": " << *wrong << "\n" << ir::to_text(that.program);
  }
}

TEST(CheckedPrograms, every_planted_defect_is_found_where_it_is) {
  for (const PlantInfo& row : kPlants) {
    SCOPED_TRACE(row.name);
    Options options;
    options.plant = row.plant;
    expect_right(options, 100);
  }
}

TEST(CheckedPrograms, clean_programs_have_no_findings) {
  Options options;
  options.clean = true;
  expect_right(options, 1000);
}

TEST(CheckedPrograms, race_free_programs_have_no_races) { expect_right({}, 1000); }

}  // namespace
}  // namespace vyre::fuzz
