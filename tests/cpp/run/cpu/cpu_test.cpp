// The cpu backend, with every instruction set of this processor, against the table of expected values and the reference.
#include "vyre/run/cpu/cpu.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <string>

#include "support/conformance.hpp"
#include "support/errors.hpp"
#include "support/found.hpp"
#include "support/programs/programs.hpp"
#include "support/run_program.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/run/cpu/lanes.hpp"
#include "vyre/run/cpu/pace.hpp"
#include "vyre/run/reference/reference.hpp"

namespace vyre::test {
namespace {

using ir::BinOp;
using ir::Program;
using ir::to_text;

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const run::cpu::Lanes* lanes : run::cpu::available_lanes()) names.emplace_back(lanes->name);
  return names;
}

// Every call runs as machine code, where the instruction set has it.
run::Optimize compiled(run::Optimize optimize = run::Optimize()) {
  optimize.compilation = optimize.everywhere = true;
  return optimize;
}

class CpuConformance : public testing::TestWithParam<std::size_t> {};

TEST_P(CpuConformance, gives_the_expected_words) {
  const ConformanceCase& given = conformance_cases()[GetParam()];
  const validate::ValidProgram program = valid(given.program);
  for (const std::string& set : instruction_sets()) {
    const auto backend = run::make_cpu_backend({.threads = 1, .instructions = set});
    for (const run::Optimize& optimize : {run::Optimize(), run::Optimize{{.passes = false}}, compiled(), compiled(run::all_off())}) {
      const std::vector<Words> got = run_program(*backend, program, given.given, given.grid, {}, optimize);
      ASSERT_EQ(got.size(), given.expected.size());
      for (std::size_t slot = 0; slot < got.size(); ++slot) EXPECT_EQ(got[slot], given.expected[slot]) << set << ", buffer " << slot;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, CpuConformance, testing::Range(std::size_t{0}, conformance_cases().size()),
                         [](const auto& param) { return conformance_cases()[param.param].name; });

// Runs on the reference and, with every instruction set, several threads or one, on the cpu.
void expect_same(const Program& program, const std::vector<Words>& arrays, run::Grid grid, const std::vector<unsigned>& counts = {1, 3}) {
  const validate::ValidProgram checked = valid(program);
  const std::vector<Words> expected = run_program(*run::make_reference_backend(), checked, arrays, grid);
  for (const std::string& set : instruction_sets()) {
    for (const unsigned threads : counts) {
      const auto cpu = run::make_cpu_backend({.threads = threads, .instructions = set});
      for (const run::Optimize& options :
           {run::Optimize{}, run::Optimize{{.passes = false}}, run::all_off(), compiled(), compiled(run::all_off())}) {
        EXPECT_EQ(run_program(*cpu, checked, arrays, grid, {}, options), expected) << set << ", " << threads << " threads\n"
                                                                                   << to_text(program);
      }
    }
  }
}

using namespace vyre::sample;

TEST(Cpu, parts_lanes_at_nested_conditions_and_loops) {
  const auto i = gid(0);
  expect_same(
      Sample()
          .out("out")
          .size(7)
          .add(let("acc", i))
          .add(if_(
              bin(BinOp::BitAnd, i, u32(1)),
              {loop("k", u32(0), bin(BinOp::Mod, i, u32(9)),
                    {if_(bin(BinOp::Eq, var("k"), u32(3)), {assign("acc", var("acc") + u32(100))}, {assign("acc", var("acc") * u32(3))})})},
              {if_(i < u32(50), {assign("acc", var("acc") + u32(7))})}))
          .add(store("out", i, var("acc")))
          .make(),
      {Words(91)}, {13, 1, 1});
}

// What is written into a variable is made where the variable lies, also when it is used besides.
TEST(Cpu, keeps_values_apart_from_the_variables_that_they_are_written_into) {
  const auto i = gid(0), x = var("x"), y = var("y"), v = var("v"), w = var("w"), k = var("k");
  const auto same = [&](const List& body) {
    expect_same(Sample()
                    .out("out")
                    .size(7)
                    .add(let("x", i))
                    .add(let("y", i * u32(5)))
                    .add(loop("k", u32(0), u32(5), body))
                    .add(store("out", i, x * u32(31) + y))
                    .make(),
                {Words(91)}, {13, 1, 1});
  };
  // Used until the variable is written again.
  same({let("v", x + k), assign("x", v), assign("y", y ^ v), assign("x", v * u32(3))});
  // Used after that.
  same({let("v", x + k), assign("x", v), assign("x", v * u32(3)), assign("y", y ^ v)});
  // Used after what is written next was made.
  same({let("v", x + k), assign("x", v), let("w", v * u32(3)), assign("y", y ^ v), assign("x", w), assign("y", y + w)});
  // Written into two variables.
  same({let("v", x + k), assign("x", v), assign("y", v), assign("x", x * u32(3) + y)});
  // Used where some lanes have written the variable.
  same(
      {let("v", x + k), assign("x", v), if_(bin(BinOp::BitAnd, i, u32(1)), {assign("x", u32(7)), store("out", i, v)}), assign("y", y + v)});
}

TEST(Cpu, goes_on_without_the_lanes_that_returned) {
  const auto i = gid(0);
  expect_same(Sample()
                  .out("out")
                  .size(40)
                  .add(if_(bin(BinOp::Eq, bin(BinOp::Mod, i, u32(5)), u32(2)), {store("out", i, u32(1)), return_()}))
                  .add(loop("k", u32(0), u32(6),
                            {if_(bin(BinOp::Eq, var("k") + u32(30), i), {return_()}), store("out", i, var("k") + u32(10)),
                             if_(bin(BinOp::Lt, i, u32(20)), {if_(bin(BinOp::Eq, var("k"), u32(4)), {return_()})},
                                 {store("out", i, var("k") + u32(50))})}))
                  .add(store("out", i, load("out", i) + u32(1000)))
                  .make(),
              {Words(80)}, {2, 1, 1});
}

TEST(Cpu, returns_from_loops_whose_bounds_differ) {
  const auto i = gid(0);
  expect_same(
      Sample()
          .out("out")
          .size(33)
          .add(let("n", u32(0)))
          .add(loop(
              "a", bin(BinOp::BitAnd, i, u32(3)), bin(BinOp::BitAnd, i, u32(15)),
              {loop("b", u32(0), var("a"),
                    {assign("n", var("n") + u32(1)), if_(bin(BinOp::Eq, var("n"), u32(20)), {store("out", i, var("b")), return_()})})}))
          .add(store("out", i, var("n") + u32(1000)))
          .make(),
      {Words(66)}, {2, 1, 1});
}

TEST(Cpu, a_lane_that_returned_takes_no_part_in_later_rounds) {
  const auto i = gid(0);
  expect_same(
      Sample()
          .out("out")
          .size(33)
          .add(loop("k", u32(0), bin(BinOp::Mod, i, u32(7)),
                    {store("out", i, var("k") + u32(10)), if_(bin(BinOp::Eq, var("k"), bin(BinOp::BitAnd, i, u32(3))), {return_()})}))
          .add(store("out", i, load("out", i) + u32(100)))
          .make(),
      {Words(66)}, {2, 1, 1});
}

TEST(Cpu, a_return_of_all_ends_a_workgroup_and_not_the_next) {
  expect_same(Sample()
                  .out("out")
                  .shared("s", 4)
                  .size(4)
                  .add(store("s", lid(0), gid(0)))
                  .add(barrier())
                  .add(if_(bin(BinOp::Eq, wid(0), u32(1)), {return_()}))
                  .add(loop("k", u32(0), u32(3), {barrier(), if_(bin(BinOp::Eq, var("k") + wid(0), u32(4)), {return_()})}))
                  .add(store("out", gid(0), load("s", u32(3) - lid(0)) + u32(1)))
                  .make(),
              {Words(24)}, {6, 1, 1});
}

TEST(Cpu, gives_ids_on_all_axes_with_and_without_barriers) {
  for (const bool whole : {false, true}) {
    Sample sample;
    sample.out("out").size(3, 2, 5);
    if (whole) sample.add(barrier());
    const auto index = (gid(2) * u32(4) + gid(1)) * u32(9) + gid(0);
    const auto hash = [](const ExprHandle& a, const ExprHandle& b) { return a * u32(31) + b; };
    sample.add(store("out", index, hash(hash(hash(hash(hash(wid(0), wid(1)), wid(2)), lid(0)), lid(1)), lid(2))));
    expect_same(sample.make(), {Words(9 * 4 * 10)}, {3, 2, 2});
  }
}

TEST(Cpu, gives_ids_in_batches_that_begin_within_a_row) {
  // Rows of 21 invocations, more of them than one batch has.
  const auto index = (gid(2) * u32(120) + gid(1)) * u32(21) + gid(0);
  expect_same(Sample()
                  .out("out")
                  .size(7, 3, 1)
                  .add(store("out", index, gid(0) + gid(1) * u32(1000) + gid(2) * u32(1'000'000) + lid(0) * u32(10'000'000)))
                  .make(),
              {Words(21 * 120 * 2)}, {3, 40, 2});
}

// Batches within a row, across the ends of rows, and of workgroups that are a line or none. The arrays go on beyond a row, where nobody
// writes, and what each invocation has loaded is told apart.
TEST(Cpu, indexes_by_ids_in_rows_and_across_their_ends) {
  const std::pair<ir::WorkgroupSize, run::Grid> shapes[] = {
      {{64, 1, 1}, {40, 1, 1}}, {{7, 1, 1}, {5, 60, 1}}, {{8, 4, 1}, {30, 2, 1}}, {{1, 16, 2}, {33, 1, 2}}};
  for (const bool whole : {false, true}) {
    for (const auto& [size, grid] : shapes) {
      const std::uint32_t row = size[0] * grid.x, rows = size[1] * grid.y;
      Words words(4 * row);
      for (std::size_t k = 0; k < words.size(); ++k) words[k] = static_cast<std::uint32_t>(k * k + 7);
      const auto flat = (gid(2) * u32(rows) + gid(1)) * u32(row) + gid(0);
      Sample sample;
      sample.in("a").out("by_row").out("by_line").out("loaded").size(size[0], size[1], size[2]);
      if (whole) sample.add(barrier());
      sample.add(store("by_row", gid(0), load("a", gid(0)) * u32(3)));
      sample.add(store("by_line", lid(0), load("a", lid(0)) + u32(1)));
      sample.add(store("loaded", flat, load("a", gid(0)) ^ load("a", lid(0)) * u32(5)));
      // Rows write the same words to the same places: a race, which several threads would have too.
      expect_same(sample.make(), {words, Words(4 * row), Words(4 * row), Words(std::size_t{row} * rows * size[2] * grid.z)}, grid, {1});
    }
  }
}

TEST(Cpu, keeps_bounds_in_rows_and_out_of_them) {
  // Forwards beyond the end, backwards, spread, and at indices whose byte offsets wrap.
  const auto i = gid(0);
  for (const ExprHandle& index : {i, u32(99) - i, i * u32(3), i + u32(0x40000000), i + u32(0xFFFFFFF0)}) {
    expect_same(Sample()
                    .in("a")
                    .out("out")
                    .out("far")
                    .out("wide", DataType::Vec4U32)
                    .size(50)
                    .add(store("out", i, load("a", index) + u32(1)))
                    .add(store("far", index, i))
                    .add(store("wide", index, cast(DataType::Vec4U32, load("a", i))))
                    .add(if_(bin(BinOp::BitAnd, i, u32(1)), {store("out", i, load("a", index + u32(1)) + u32(5))}))
                    .make(),
                {[] {
                   Words words(60);
                   for (std::size_t k = 0; k < words.size(); ++k) words[k] = static_cast<std::uint32_t>(k * k + 1);
                   return words;
                 }(),
                 Words(100), Words(120), Words(40)},
                {2, 1, 1});
  }
}

TEST(Cpu, keeps_bounds_where_all_lanes_have_one_index_and_in_shared_memory) {
  const auto i = gid(0), l = lid(0);
  for (const ExprHandle& index : {u32(3), u32(4), u32(40), u32(0xFFFFFFFF), wid(0) * u32(3)}) {
    expect_same(Sample()
                    .in("a", DataType::U64)
                    .out("out", DataType::U64)
                    .out("cells")
                    .shared("s", 4)
                    .size(10)
                    .add(store("s", l + index, i + u32(1)))
                    .add(barrier())
                    .add(store("out", index, load("a", index)))
                    .add(if_(bin(BinOp::BitAnd, i, u32(1)), {store("out", i + u32(1), load("a", index))}))
                    .add(store("cells", i, load("s", u32(0)) + load("s", l) + load("s", index)))
                    .make(),
                {Words{1, 2, 3, 4, 5, 6, 7, 8}, Words(8), Words(30)}, {1, 1, 1});
  }
}

TEST(Cpu, gives_zero_for_an_element_that_is_not_whole) {
  // Five words are two elements, and the fifth word lies behind them.
  const Words five{1, 2, 3, 4, 77};
  for (const ExprHandle& index : {gid(0), u32(2)}) {
    const Program program =
        Sample().in("a", DataType::U64).out("out", DataType::U64).size(4).add(store("out", gid(0), load("a", index))).make();
    expect_same(program, {five, Words(8, 9)}, {1, 1, 1});
    const auto cpu = run::make_cpu_backend();
    EXPECT_EQ(run_program(*cpu, valid(program), {five, Words(8, 9)}, {1, 1, 1}).at(1).at(4), 0u);
  }
}

TEST(Cpu, takes_arrays_that_are_empty_or_tiny) {
  expect_same(Sample().in("a").out("out").size(5).add(store("out", gid(0), load("a", gid(0)) + load("a", u32(0)) + len("a"))).make(),
              {Words{}, Words(3)}, {1, 1, 1});
  expect_same(Sample().in("a").out("out").size(5).add(store("out", gid(0), load("a", gid(0)) + load("a", u32(0)) + len("a"))).make(),
              {Words{4}, Words{}}, {1, 1, 1});
}

TEST(Cpu, counts_every_atomic_of_all_threads) {
  const validate::ValidProgram program =
      valid(Sample()
                .out("count")
                .out("most")
                .size(64)
                .add(let("x", atomic(AtomicOp::Add, "count", bin(BinOp::BitAnd, gid(0), u32(1)), u32(1))))
                .add(let("y", atomic(AtomicOp::Max, "most", u32(0), gid(0))))
                .add(let("z", atomic(AtomicOp::Add, "count", u32(0xFFFFFFFF), u32(1))))
                .make());
  for (const unsigned threads : {1u, 4u}) {
    const std::vector<Words> got = run_program(*run::make_cpu_backend({.threads = threads}), program, {Words(2), Words(1)}, {20000, 1, 1});
    EXPECT_EQ(got, (std::vector<Words>{{640000, 640000}, {1279999}})) << threads;
  }
}

TEST(Cpu, does_a_grid_with_several_threads) {
  const std::uint32_t n = 3'000'001;
  const validate::ValidProgram program = valid(
      Sample().out("out").size(64).add(loop("k", u32(0), u32(8), {store("out", gid(0), load("out", gid(0)) * u32(3) + gid(0))})).make());
  Words expected(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    for (int k = 0; k < 8; ++k) expected[i] = expected[i] * 3 + i;
  }
  EXPECT_EQ(run_program(*run::make_cpu_backend({.threads = 4}), program, {Words(n)}, {(n + 63) / 64, 1, 1})[0], expected);
}

TEST(Cpu, takes_host_arrays_at_any_address) {
  const validate::ValidProgram program =
      valid(Sample().in("a").out("out").size(8).add(store("out", gid(0), load("a", gid(0)) + u32(1))).make());
  std::vector<std::byte> bytes(100);
  for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<std::byte>(k);
  const run::BufferView views[] = {{std::span(bytes).subspan(1, 32), 8}, {std::span(bytes).subspan(51, 32), 8}};
  run::make_cpu_backend()->prepare(program, std::nullopt)->run(views, {}, {});
  for (std::size_t k = 0; k < 8; ++k) {
    std::uint32_t given, got;
    std::memcpy(&given, &bytes[1 + 4 * k], 4);
    std::memcpy(&got, &bytes[51 + 4 * k], 4);
    EXPECT_EQ(got, given + 1);
  }
  EXPECT_EQ(bytes[50], std::byte{50});
  EXPECT_EQ(bytes[83], std::byte{83});
}

TEST(Cpu, times_out_and_can_be_interrupted_and_leaves_the_arrays_alone) {
  const Program program =
      Sample()
          .out("out")
          .size(64)
          .add(store("out", u32(0), u32(1)))
          .add(let("x", u32(0)))
          .add(loop("k", u32(0), u32(0xFFFFFFFF), {assign("x", var("x") * u32(3) + var("k")), store("out", u32(0), var("x"))}))
          .make();
  for (const unsigned threads : {1u, 3u}) {
    const auto executable = run::make_cpu_backend({.threads = threads})->prepare(valid(program), std::nullopt);
    Words out{7};
    const run::BufferView views[] = {{std::as_writable_bytes(std::span(out)), 1}};
    run::RunOptions options;
    options.timeout = std::chrono::milliseconds(20);
    EXPECT_EQ(message_of<DispatchTimeoutError>([&] {
                executable->run(views, {1u << 20, 1, 1}, options);
              }),
              "the cpu backend did not finish within 0.02 s. Fix: raise the time-out, or give each dispatch less work.");
    EXPECT_EQ(out, Words{7});
    int polls = 0;
    options = {};
    options.interrupted = [&] { return ++polls == 3; };
    EXPECT_THROW(executable->run(views, {1u << 20, 1, 1}, options), Interrupted);
    EXPECT_EQ(out, Words{7});
  }
}

// Machine code without a loop never looks at the deadline itself. Such a call would go on for hours.
TEST(Cpu, a_large_grid_without_loops_times_out_and_can_be_interrupted) {
  const auto writes = [](std::uint32_t shared) {
    Sample sample = Sample().out("out").size(64);
    if (shared != 0) sample.shared("cells", 64).add(store("cells", lid(0), gid(0))).add(barrier());
    return sample.add(store("out", bin(BinOp::BitAnd, gid(0), u32(15)), shared != 0 ? load("cells", u32(63) - lid(0)) : u32(1))).make();
  };
  for (const std::uint32_t shared : {0u, 1u}) {
    for (const unsigned threads : {1u, 3u}) {
      const auto executable = run::make_cpu_backend({.threads = threads})->prepare(valid(writes(shared)), std::nullopt, compiled());
      Words out(16, 7);
      const run::BufferView views[] = {{std::as_writable_bytes(std::span(out)), 16}};
      run::RunOptions options;
      options.timeout = std::chrono::milliseconds(20);
      EXPECT_THROW(executable->run(views, {~0u, 1u << 10, 1}, options), DispatchTimeoutError);
      int polls = 0;
      options = {};
      options.interrupted = [&] { return ++polls == 3; };
      EXPECT_THROW(executable->run(views, {~0u, 1u << 10, 1}, options), Interrupted);
      EXPECT_EQ(out, Words(16, 7));
    }
  }
}

TEST(Cpu, a_pace_looks_about_once_an_interval_and_at_most_twice_as_late_as_before) {
  using run::cpu::Pace;
  const Deadline::Clock::time_point start{};
  Pace pace(start);
  std::uint64_t done = 1, looks = 0;
  const auto piece = std::chrono::microseconds(5);  // 4,000 of them take an interval
  for (; done <= 100'000; ++done) {
    if (!pace.is_due(done)) continue;
    pace.looked(done, start + piece * done);
    ++looks;
  }
  EXPECT_EQ(looks, 12u + 24u);  // 1, 2, 4 to 2,048, and from 4,096 on every 4,000
  Pace slow(start);
  for (done = 1; done <= 5; ++done) {
    EXPECT_TRUE(slow.is_due(done));
    slow.looked(done, start + std::chrono::seconds(done));
  }
}

TEST(Cpu, refuses_what_it_cannot_do) {
  const auto cpu = run::make_cpu_backend();
  const validate::ValidProgram program = valid(Sample().size(2).make());
  EXPECT_EQ(message_of<ArgumentError>([&] { cpu->prepare(program, 1); }),
            "device 1 of backend `cpu` does not exist. Fix: use 0, its only device.");
  EXPECT_EQ(message_of<CapabilityError>([&] { cpu->prepare(valid(Sample().size(1u << 16, 2).make()), 0); }),
            "131072 invocations a workgroup exceeds the limit of invocations of the cpu backend, which allows 65536. Fix: use a smaller "
            "workgroup_size, or use another device.");
  EXPECT_EQ(
      message_of<CapabilityError>([&] { cpu->prepare(valid(Sample().shared("s", 1u << 27).add(store("s", u32(0), u32(1))).make()), 0); }),
      "536870912 bytes of workgroup memory exceeds the limit of workgroup memory of the cpu backend, which allows 268435456. Fix: declare "
      "smaller workgroup buffers, or use another device.");
  run::RunOptions options;
  options.schedule.order = run::Schedule::Order::Reversed;
  EXPECT_EQ(message_of<ArgumentError>([&] { cpu->prepare(program, 0)->run({}, {}, options); }),
            "backend `cpu` has no choice of schedule: its device decides. Fix: leave the schedule out, or run on the reference.");
  EXPECT_THROW(run::make_cpu_backend({.instructions = "mmx"}), ArgumentError);
}

}  // namespace
}  // namespace vyre::test
