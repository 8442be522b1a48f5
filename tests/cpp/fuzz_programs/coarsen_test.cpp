// Coarsened programs give the bytes of the programs that they are made from, on a grid that is so many times shorter.
#include "vyre/transform/coarsen.hpp"

#include <gtest/gtest.h>

#include <string>

#include "vyre/fuzz/compare.hpp"
#include "vyre/fuzz/generate.hpp"
#include "vyre/fuzz/operations.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/transform/passes.hpp"

namespace vyre::fuzz {
namespace {

TEST(Coarsen, random_programs_keep_their_bytes_in_every_order) {
  constexpr std::uint64_t kFirst = 3'000'000, kSeeds = 1200;
  Options options;
  options.independent = true;
  options.statements = 40;
  Way plain;
  plain.backend = run::find_backend("reference");
  std::size_t coarsened = 0, in_turns = 0;
  for (std::uint64_t seed = kFirst; seed < kFirst + kSeeds; ++seed) {
    const Case that = generate(seed, options);
    const validate::Verdict verdict = validate::validate(that.program, op_table());
    ASSERT_TRUE(verdict.program.has_value()) << "seed " << seed << ": " << to_string(verdict.diagnostics.front());
    const std::vector<Array> expected = run_case(that, *verdict.program, plain);
    for (const bool optimise : {false, true}) {
      const validate::ValidProgram before = optimise ? transform::optimize(*verdict.program) : transform::inline_calls(*verdict.program);
      for (const std::uint32_t ways : {2u, 3u, 4u}) {
        if (that.grid[0] % ways != 0) continue;
        ++in_turns;
        const std::optional<validate::ValidProgram> coarse = transform::coarsen(before, ways);
        if (!coarse) continue;
        ++coarsened;
        Case shorter = that;
        shorter.grid[0] /= ways;
        Way way = plain;
        way.schedule = {static_cast<run::Schedule::Order>(seed % 3), seed};
        const auto difference = first_difference(expected, run_case(shorter, *coarse, way));
        ASSERT_FALSE(difference.has_value()) << "seed " << seed << ", " << ways << " ways, buffer `" << difference->buffer << "` word "
                                             << difference->word << ": expected " << difference->expected << ", got " << difference->got
                                             << "\n"
                                             << ir::to_text(before.program()) << "\n"
                                             << ir::to_text(coarse->program());
      }
    }
  }
  EXPECT_GE(coarsened, in_turns / 3) << "of " << in_turns;
  RecordProperty("coarsened", std::to_string(coarsened));
}

}  // namespace
}  // namespace vyre::fuzz
