// V010 against the reference: barriers are put anywhere into generated programs, and what validation accepts never leaves one to a part
// of a workgroup.
#include <gtest/gtest.h>

#include <random>

#include "vyre/base/error.hpp"
#include "vyre/fuzz/compare.hpp"
#include "vyre/fuzz/generate.hpp"
#include "vyre/fuzz/operations.hpp"
#include "vyre/fuzz/random.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/transform/rebuild.hpp"

namespace vyre {
namespace {

ir::Program with_barriers(const validate::ValidProgram& valid, fuzz::Random random) {
  transform::Rebuild rebuild(valid);
  std::vector<ExprId> made;
  const auto copied = [&](ExprId id) { return made[id.index]; };
  for (std::uint32_t index = 0; index < valid.program().exprs().size(); ++index) made.push_back(rebuild.copy(ExprId{index}, copied));
  for (std::uint32_t index = 0; index < valid.program().nodes().size(); ++index) {
    if (random.chance(30)) rebuild.to().barrier();
    rebuild.copy(NodeId{index}, copied);
  }
  return rebuild.to().finish();
}

TEST(V010, accepts_only_what_never_splits_a_workgroup) {
  const std::uint64_t first_seed = std::random_device()();
  int accepted = 0, rejected = 0;
  for (std::uint64_t seed = first_seed; seed != first_seed + 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const fuzz::Case that = fuzz::generate(seed, {.statements = 30, .work = 5000});
    const ir::Program program = with_barriers(*validate::validate(that.program, fuzz::op_table()).program, fuzz::Random(~seed));
    const validate::Verdict verdict = validate::validate(program, fuzz::op_table());
    ++(verdict.program ? accepted : rejected);
    if (!verdict.program) continue;
    try {
      fuzz::run_case(that, *verdict.program, fuzz::plain_reference());
    } catch (const DivergentBarrierError& error) {
      ADD_FAILURE() << error.what() << "\n" << ir::to_text(program);
    }
  }
  EXPECT_GT(accepted, 100) << "seeds from " << first_seed;
  EXPECT_GT(rejected, 100) << "seeds from " << first_seed;
}

}  // namespace
}  // namespace vyre
