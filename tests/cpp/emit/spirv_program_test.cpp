// From programs to words: samples and random programs are valid SPIR-V, and a few listings are kept as they are.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/programs/programs.hpp"
#include "support/programs/sample_programs.hpp"
#include "support/run_program.hpp"
#include "support/small_stack.hpp"
#include "support/spirv.hpp"
#include "vyre/fuzz/generate.hpp"
#include "vyre/fuzz/operations.hpp"
#include "vyre/ir/semantics.hpp"
#include "vyre/ir/text/parse.hpp"
#include "vyre/lower/lower.hpp"

namespace vyre {
namespace {

using namespace sample;
using test::valid_words;

TEST(SpirvProgram, every_valid_sample_gives_valid_words) {
  std::size_t valid = 0;
  for (const test::SampleProgram& sample : test::sample_programs()) {
    SCOPED_TRACE(sample.name);
    const validate::Verdict verdict = validate::validate(sample.program, fuzz::op_table());
    if (!verdict.program) continue;
    ++valid;
    const auto words = valid_words(lower::lower(*verdict.program));
    EXPECT_EQ(words, spirv::emit(lower::lower(*verdict.program)));
    valid_words(lower::lower(*verdict.program, {.passes = false}));
  }
  EXPECT_GT(valid, 0u);
}

TEST(SpirvProgram, random_programs_give_valid_words) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const validate::Verdict verdict = validate::validate(fuzz::generate(seed, {.statements = 30}).program, fuzz::op_table());
    ASSERT_TRUE(verdict.program);
    // The rows that decide what a kernel is, each way in turn.
    lower::Options options;
    options.passes = seed % 4 < 2;
    options.proofs = seed % 2 == 0;
    const auto words = valid_words(lower::lower(*verdict.program, options));
    ASSERT_EQ(words, spirv::emit(lower::lower(*verdict.program, options)));
    if (const auto coarse = lower::lower_coarsened(*verdict.program, 4, options)) valid_words(*coarse);
  }
}

TEST(SpirvProgram, a_variable_of_two_words_is_hidden_as_no_single_word) {
  // Comparisons of what is this deep count as those of the variable.
  std::string deep = "given[0]", wide = "cast(u64, given[0])";
  for (int k = 0; k < 20; ++k) {
    deep = "select(given[1] == 9, given[2], " + deep + ")";
    wide = "select(given[1] == 9, cast(u64, given[2]), " + wide + ")";
  }
  std::string text =
      "vyre 1\nworkgroup_size 1 1 1\nbuffer out: read_write u32 binding 0\nbuffer given: read u32 binding 1\n\nlet v = cast(u64, 0)\n";
  for (const std::string end : {"0i32", "5i32"}) text += "if slt(cast(i32, " + deep + "), " + end + ") {\n  v = " + wide + "\n}\n";
  text += "out[0] = max(0, cast(u32, smin(0i32, cast(i32, max(cast(u32, v), 0)))))\n";
  valid_words(lower::lower(test::valid(ir::parse(text)), {.passes = false, .proofs = false, .straightening = false}));
}

// VYRE_UPDATE_GOLDEN=1 writes the listings anew.
void is_as_kept(const std::string& name, const ir::Program& program) {
  const std::string listing = spirv::disassemble(valid_words(lower::lower(test::valid(program))));
  const std::filesystem::path path = std::filesystem::path(VYRE_GOLDEN_DIR) / (name + ".spvasm");
  if (std::getenv("VYRE_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << listing;
  }
  std::ifstream file(path);
  const std::string kept{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(listing, kept) << "If this is meant, run the test with VYRE_UPDATE_GOLDEN=1 and look at the difference.";
}

TEST(SpirvProgram, listings_are_as_kept) {
  is_as_kept("xor", test::xor_program());
  is_as_kept("histogram", Sample()
                              .in("data")
                              .out("bins")
                              .size(256)
                              .add({if_(bin(BinOp::Ge, gid(0), len("data")), {return_()}),
                                    let("old", atomic(AtomicOp::Add, "bins", bin(BinOp::Mod, load("data", gid(0)), len("bins")), u32(1)))})
                              .make());
  is_as_kept("workgroup_sum",
             Sample()
                 .in("data")
                 .out("sums")
                 .shared("part", 64)
                 .size(64)
                 .add({store("part", lid(0), load("data", gid(0))), barrier(),
                       loop("k", u32(0), u32(6),
                            {let("half", bin(BinOp::Shr, u32(32), var("k"))),
                             if_(lid(0) < var("half"), {store("part", lid(0), load("part", lid(0)) + load("part", lid(0) + var("half")))}),
                             barrier()}),
                       if_(bin(BinOp::Eq, lid(0), u32(0)), {store("sums", wid(0), load("part", u32(0)))})})
                 .make());
}

// The scale programs of the issue, on little stack. Drivers and spirv-val are superlinear, so the words are not validated.
TEST(SpirvProgram, scale_words_grow_with_the_program) {
  const validate::Options no_limits{.limits = false};
  const auto size = [&](std::uint32_t n, auto&& statement) {
    List entry;
    for (std::uint32_t k = 0; k < n; ++k) entry.push_back(statement(k));
    const validate::ValidProgram program = test::valid(Sample().out("out").add(entry).make(), no_limits);
    std::size_t words = 0;
    test::on_small_stack([&] { words = spirv::emit(lower::lower(program, {.passes = false})).size(); });
    return words;
  };
  const auto grows = [&](std::uint32_t n, auto&& statement) { EXPECT_LE(size(n, statement), size(n / 50, statement) * 51); };
  grows(50'000, [](std::uint32_t) { return if_(gid(0), {}); });
  grows(33'000, [](std::uint32_t) { return store("out", gid(0), u32(1)); });
  grows(49'000, [](std::uint32_t k) { return store("out", gid(0), u32(77 * k)); });
  grows(33'000, [](std::uint32_t k) { return let("x" + std::to_string(k), atomic(AtomicOp::Add, "out", gid(0), u32(k))); });
}

TEST(SpirvProgram, scale_chains_of_98000_expressions) {
  const validate::ValidProgram program = test::valid(test::chain(49'000));
  test::on_small_stack([&] { spirv::emit(lower::lower(program, {.passes = false})); });
}

}  // namespace
}  // namespace vyre
