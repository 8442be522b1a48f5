// What vyre.bisect stands on: a traced program does what its program does, and every backend tells the same about it.
#include "vyre/transform/trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "vyre/fuzz/compare.hpp"
#include "vyre/fuzz/generate.hpp"
#include "vyre/fuzz/operations.hpp"
#include "vyre/ir/data_type.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::fuzz {
namespace {

constexpr std::uint64_t kSeeds = 150;

std::vector<std::byte> bytes_of(const std::vector<std::uint32_t>& words) {
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

// Up to a limit on the phases; one of 0 lets nothing be told and nothing have an effect.
Case traced_case(const Case& that, const transform::Traced& traced, std::uint32_t phases = ~0u) {
  Case result = that;
  result.program = traced.program.program();
  const auto [x, y, z] = that.program.workgroup_size();
  const std::size_t invocations = std::size_t{that.grid[0]} * that.grid[1] * that.grid[2] * x * y * z;
  result.arrays.push_back({traced.limits, bytes_of({phases, phases, that.grid[0], that.grid[1], phases})});
  result.arrays.push_back({traced.record, bytes_of(std::vector<std::uint32_t>(invocations * transform::kRecordWords)), true});
  return result;
}

class TraceProgram : public testing::TestWithParam<transform::TraceDensity> {};

TEST_P(TraceProgram, does_what_the_program_does_and_every_backend_tells_the_same) {
  run::Backend* const interpreter = run::find_backend("reference");
  const Way reference{interpreter, {}, {}, false}, cpu{run::find_backend("cpu"), {}, {}, true};
  const Way reversed{interpreter, {}, {run::Schedule::Order::Reversed, 0}, false};
  const Way random{interpreter, {}, {run::Schedule::Order::Random, 1}, false};
  std::size_t told = 0, compared = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Options options;
    options.statements = 60;
    const Case that = generate(seed, options);
    const validate::Verdict verdict = validate::validate(that.program, op_table());
    ASSERT_TRUE(verdict.program.has_value()) << "seed " << seed;
    transform::TraceOptions trace_options;
    trace_options.density = GetParam();
    // Each statement has its turn as the one that is looked at closely.
    trace_options.detail = NodeId{static_cast<std::uint32_t>(seed % that.program.nodes().size())};
    const transform::Traced traced = transform::trace(*verdict.program, op_table(), trace_options);
    const Case with_record = traced_case(that, traced);

    std::vector<Array> expected = run_case(that, *verdict.program, reference);
    const std::vector<Array> got = run_case(with_record, traced.program, reference);
    const auto difference = first_difference(expected, std::span(got).first(expected.size()));
    ASSERT_FALSE(difference.has_value()) << "seed " << seed << ", buffer " << difference->buffer << "\n" << ir::to_text(that.program);

    // What an atomic gives may depend on the order of invocations though the program's bytes do not.
    if (run_case(with_record, traced.program, reversed) != got || run_case(with_record, traced.program, random) != got) continue;
    ++compared;
    const auto told_differently = first_difference(got, run_case(with_record, traced.program, cpu));
    ASSERT_FALSE(told_differently.has_value()) << "seed " << seed << ", buffer " << told_differently->buffer;
    for (const std::byte byte : got.back().bytes) told += byte != std::byte{};
  }
  EXPECT_GT(compared, kSeeds / 2);
  EXPECT_GT(told, compared * 100);
}

INSTANTIATE_TEST_SUITE_P(, TraceProgram,
                         testing::Values(transform::TraceDensity::Stores, transform::TraceDensity::Statements,
                                         transform::TraceDensity::Effects, transform::TraceDensity::Branches),
                         [](const auto& that) { return std::to_string(static_cast<int>(that.param)); });

// A Bool that is stored again is 0 or 1; all other words stay as they were.
std::vector<Array> with_canonical_bools(const ir::Program& program, std::vector<Array> arrays) {
  for (Array& array : arrays) {
    const auto declares = [&](const ir::BufferDecl& decl) { return decl.name == array.buffer && decl.element == ir::DataType::Bool; };
    if (std::ranges::none_of(program.buffers(), declares)) continue;
    for (std::size_t at = 0; at + 4 <= array.bytes.size(); at += 4) {
      const auto word = std::span(array.bytes).subspan(at, 4);
      const bool truth = std::ranges::any_of(word, [](std::byte byte) { return byte != std::byte{}; });
      std::ranges::fill(word, std::byte{});
      word[0] = std::byte{truth};
    }
  }
  return arrays;
}

TEST(TraceEffects, change_nothing_past_the_limits) {
  const Way reference{run::find_backend("reference"), {}, {}, false};
  std::size_t changed = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Options options;
    options.statements = 60;
    const Case that = generate(seed, options);
    const validate::Verdict verdict = validate::validate(that.program, op_table());
    ASSERT_TRUE(verdict.program.has_value()) << "seed " << seed;
    const std::vector<Array> before = with_canonical_bools(that.program, that.arrays);
    changed += with_canonical_bools(that.program, run_case(that, *verdict.program, reference)) != before;
    for (const transform::TraceDensity density : {transform::TraceDensity::Effects, transform::TraceDensity::Branches}) {
      transform::TraceOptions trace_options;
      trace_options.density = density;
      const transform::Traced traced = transform::trace(*verdict.program, op_table(), trace_options);
      std::vector<Array> after = run_case(traced_case(that, traced, 0), traced.program, reference);
      after.resize(before.size());
      const auto difference = first_difference(before, with_canonical_bools(that.program, std::move(after)));
      ASSERT_FALSE(difference.has_value()) << "seed " << seed << ", buffer " << difference->buffer << "\n" << ir::to_text(that.program);
    }
  }
  EXPECT_GT(changed, kSeeds / 2);
}

}  // namespace
}  // namespace vyre::fuzz
