// What every pass promises, on random programs: the result is valid (the passes assert that), the bytes are the same, and a
// second run changes nothing.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "support/programs/valid_program.hpp"
#include "vyre/base/diagnostic.hpp"
#include "vyre/ir/data_type.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/run/reference/reference.hpp"
#include "vyre/transform/passes.hpp"

namespace vyre::transform {
namespace {

using validate::ValidProgram;
using Memory = std::vector<std::vector<std::byte>>;

constexpr std::uint64_t kSeeds = 400;

ValidProgram valid(const ir::Program& program) {
  const validate::Verdict verdict = validate::validate(program, test::sample_ops());
  for (const Diagnostic& diagnostic : verdict.diagnostics) ADD_FAILURE() << to_string(diagnostic);
  if (!verdict.program) throw std::runtime_error(ir::to_text(program));
  return *verdict.program;
}

// Every buffer after the reference has run two workgroups.
Memory run(const ValidProgram& program) {
  Memory memory;
  std::vector<run::BufferView> views;
  memory.reserve(program.bound().size());
  for (const BufferId id : program.bound()) {
    const ir::BufferDecl& decl = program.program().buffers()[id.index];
    constexpr std::uint32_t kLength = 6;
    std::vector<std::uint32_t> words(kLength * ir::lanes(decl.element));
    for (std::size_t k = 0; k < words.size(); ++k) words[k] = static_cast<std::uint32_t>((k * 2654435761u) >> (k % 3 == 0 ? 29 : 0));
    std::vector<std::byte>& bytes = memory.emplace_back(words.size() * 4);
    std::memcpy(bytes.data(), words.data(), bytes.size());
    views.push_back({bytes, kLength});
  }
  run::make_reference_backend()->prepare(program, std::nullopt)->run(views, {2, 1, 1}, {});
  return memory;
}

bool has_calls(const ValidProgram& program) {
  for (const validate::Step& step : program.facts().steps) {
    if (step.op != ~0u) return true;
  }
  return false;
}

TEST(Passes, inlining_keeps_bytes_and_leaves_no_call) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const ValidProgram program = valid(test::random_valid_program(seed, 30));
    const ValidProgram inlined = inline_calls(program);
    EXPECT_FALSE(has_calls(inlined));
    EXPECT_EQ(run(program), run(inlined)) << ir::to_text(program.program()) << ir::to_text(inlined.program());
    EXPECT_EQ(&inline_calls(inlined).program(), &inlined.program());
    if (HasFailure()) break;
  }
}

TEST(Passes, each_keeps_bytes_and_is_done_after_one_run) {
  for (const PassInfo& pass : passes()) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      SCOPED_TRACE(std::string(pass.name) + ", seed " + std::to_string(seed));
      const ValidProgram before = inline_calls(valid(test::random_valid_program(seed, 30)));
      const ValidProgram after = pass.run(before);
      EXPECT_EQ(run(before), run(after)) << ir::to_text(before.program()) << ir::to_text(after.program());
      const ValidProgram again = pass.run(after);
      EXPECT_TRUE(again.program() == after.program()) << ir::to_text(after.program()) << ir::to_text(again.program());
      EXPECT_EQ(&again.program(), &after.program());
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(Passes, together_keep_bytes_and_are_done_after_one_run) {
  for (std::uint64_t seed = 0; seed < 2 * kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const ValidProgram before = valid(test::random_valid_program(seed, 40));
    const ValidProgram after = optimize(before);
    EXPECT_EQ(run(before), run(after)) << ir::to_text(before.program()) << ir::to_text(after.program());
    EXPECT_EQ(&optimize(after).program(), &after.program());
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace vyre::transform
