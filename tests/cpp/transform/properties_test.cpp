// What every pass promises, on random programs: the result is valid (the passes assert that), the bytes are the same, and a
// second run changes nothing.
#include <gtest/gtest.h>

#include <string>

#include "vyre/base/diagnostic.hpp"
#include "vyre/fuzz/compare.hpp"
#include "vyre/fuzz/generate.hpp"
#include "vyre/fuzz/operations.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/transform/passes.hpp"

namespace vyre::transform {
namespace {

using validate::ValidProgram;

constexpr std::uint64_t kSeeds = 400;
constexpr fuzz::Options kOptions{.statements = 30, .work = 20'000};

ValidProgram valid(const fuzz::Case& that) {
  const validate::Verdict verdict = validate::validate(that.program, fuzz::op_table());
  for (const Diagnostic& diagnostic : verdict.diagnostics) ADD_FAILURE() << to_string(diagnostic);
  return verdict.program.value();
}

void expect_same_bytes(const fuzz::Case& that, const ValidProgram& before, const ValidProgram& after) {
  const fuzz::Way reference = fuzz::plain_reference();
  EXPECT_EQ(run_case(that, before, reference), run_case(that, after, reference))
      << ir::to_text(before.program()) << ir::to_text(after.program());
}

bool has_calls(const ValidProgram& program) {
  for (const validate::Step& step : program.facts().steps) {
    if (step.op != ~0u) return true;
  }
  return false;
}

TEST(Passes, inlining_keeps_bytes_and_leaves_no_call) {
  for (std::uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const fuzz::Case that = fuzz::generate(seed, kOptions);
    const ValidProgram program = valid(that), inlined = inline_calls(program);
    EXPECT_FALSE(has_calls(inlined));
    expect_same_bytes(that, program, inlined);
    EXPECT_EQ(&inline_calls(inlined).program(), &inlined.program());
  }
}

TEST(Passes, each_keeps_bytes_and_is_done_after_one_run) {
  for (const PassInfo& pass : passes()) {
    for (std::uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
      SCOPED_TRACE(std::string(pass.name) + ", seed " + std::to_string(seed));
      const fuzz::Case that = fuzz::generate(seed, kOptions);
      const ValidProgram before = inline_calls(valid(that)), after = pass.run(before);
      expect_same_bytes(that, before, after);
      const ValidProgram again = pass.run(after);
      EXPECT_TRUE(again.program() == after.program()) << ir::to_text(after.program()) << ir::to_text(again.program());
      EXPECT_EQ(&again.program(), &after.program());
    }
  }
}

TEST(Passes, together_keep_bytes_and_are_done_after_one_run) {
  for (std::uint64_t seed = 0; seed < 2 * kSeeds && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const fuzz::Case that = fuzz::generate(seed, kOptions);
    const ValidProgram before = valid(that), after = optimize(before);
    expect_same_bytes(that, before, after);
    EXPECT_EQ(&optimize(after).program(), &after.program());
  }
}

}  // namespace
}  // namespace vyre::transform
