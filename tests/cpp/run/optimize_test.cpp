// What argument `optimize` switches.
#include "vyre/run/optimize.hpp"

#include <gtest/gtest.h>

#include "support/programs/programs.hpp"
#include "support/run_program.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/transform/passes.hpp"

namespace vyre::test {
namespace {

using namespace sample;
using run::Optimize;

// The reference page lists them in this order, and Python names them.
TEST(Optimize, each_row_is_one_switch) {
  std::vector<std::string_view> names;
  for (const run::Speedup& row : run::kSpeedups) {
    names.push_back(row.name);
    EXPECT_FALSE(row.meaning.empty());
    Optimize one = run::all_off();
    EXPECT_NE(one, Optimize());
    one.*row.chosen = true;
    EXPECT_EQ(one.passes, row.name == "passes");
    EXPECT_EQ(one.proofs, row.name == "proofs");
    EXPECT_EQ(one.coarsening, row.name == "coarsening");
    EXPECT_EQ(one.straightening, row.name == "straightening");
    EXPECT_EQ(one.specialization, row.name == "specialization");
    EXPECT_EQ(one.compilation, row.name == "compilation");
    EXPECT_EQ(one.narrow, row.name == "narrow");
    EXPECT_FALSE(one.everywhere || one.addresses);
  }
  EXPECT_EQ(names,
            (std::vector<std::string_view>{"passes", "proofs", "coarsening", "straightening", "specialization", "compilation", "narrow"}));
}

TEST(Optimize, the_reference_is_given_the_optimised_program_only_when_that_was_asked_for) {
  const validate::ValidProgram program = valid(Sample().out("out").add(store("out", u32(0), bin(ir::BinOp::Add, u32(1), u32(2)))).make());
  const ir::Program optimised = transform::optimize(program).program();
  ASSERT_FALSE(optimised == program.program());
  const auto given = [&](const char* backend, std::optional<Optimize> optimize) {
    return run::with_passes(program, *run::find_backend(backend), optimize).program();
  };
  EXPECT_EQ(given("reference", Optimize()), optimised);
  EXPECT_EQ(given("reference", std::nullopt), program.program());
  EXPECT_EQ(given("reference", Optimize{{.passes = false}}), program.program());
  // It runs them itself.
  EXPECT_EQ(given("cpu", Optimize()), program.program());
}

}  // namespace
}  // namespace vyre::test
