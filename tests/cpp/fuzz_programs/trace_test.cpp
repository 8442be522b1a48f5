// What vyre.bisect stands on: a traced program does what its program does, and every backend tells the same about it.
#include "vyre/transform/trace.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "vyre/fuzz/compare.hpp"
#include "vyre/fuzz/generate.hpp"
#include "vyre/fuzz/operations.hpp"
#include "vyre/ir/print.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::fuzz {
namespace {

constexpr std::uint64_t kSeeds = 150;

std::vector<std::byte> bytes_of(const std::vector<std::uint32_t>& words) {
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

// With every value told.
Case traced_case(const Case& that, const transform::Traced& traced) {
  Case result = that;
  result.program = traced.program.program();
  const auto [x, y, z] = that.program.workgroup_size();
  const std::size_t invocations = std::size_t{that.grid[0]} * that.grid[1] * that.grid[2] * x * y * z;
  result.arrays.push_back({traced.limits, bytes_of({~0u, ~0u, that.grid[0], that.grid[1]})});
  result.arrays.push_back({traced.record, bytes_of(std::vector<std::uint32_t>(invocations * transform::kRecordWords)), true});
  return result;
}

class TraceProgram : public testing::TestWithParam<transform::TraceDensity> {};

TEST_P(TraceProgram, does_what_the_program_does_and_every_backend_tells_the_same) {
  run::Backend* const interpreter = run::find_backend("reference");
  const Way reference{interpreter, {}, {}, false}, cpu{run::find_backend("cpu"), {}, {}, true};
  const Way reversed{interpreter, {}, {run::Schedule::Order::Reversed, 0}, false};
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
    if (run_case(with_record, traced.program, reversed) != got) continue;
    ++compared;
    const auto told_differently = first_difference(got, run_case(with_record, traced.program, cpu));
    ASSERT_FALSE(told_differently.has_value()) << "seed " << seed << ", buffer " << told_differently->buffer;
    for (const std::byte byte : got.back().bytes) told += byte != std::byte{};
  }
  EXPECT_GT(compared, kSeeds / 2);
  EXPECT_GT(told, compared * 100);
}

INSTANTIATE_TEST_SUITE_P(, TraceProgram, testing::Values(transform::TraceDensity::Stores, transform::TraceDensity::Statements),
                         [](const auto& that) { return that.param == transform::TraceDensity::Stores ? "Stores" : "Statements"; });

}  // namespace
}  // namespace vyre::fuzz
