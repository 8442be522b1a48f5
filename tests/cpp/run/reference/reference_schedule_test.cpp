// The orders in which the reference takes invocations: what must be the same in all of them, and that they differ where they may.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "support/errors.hpp"
#include "support/programs/programs.hpp"
#include "support/run_program.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/run/checks/checks.hpp"
#include "vyre/run/reference/reference.hpp"

namespace vyre::test {
namespace {

using namespace vyre::sample;
using Order = run::Schedule::Order;

constexpr validate::Options kChecked{.limits = true, .uniformity = false};
constexpr run::Schedule kReversed{.order = Order::Reversed};

run::Schedule random(std::uint64_t seed) { return {.order = Order::Random, .seed = seed}; }

std::vector<Words> run_in(const ir::Program& program, std::vector<Words> arrays, run::Schedule schedule, run::Grid grid = {},
                          const validate::Options& options = {}) {
  run::RunOptions run_options;
  run_options.schedule = schedule;
  return run_program(*run::make_reference_backend(), valid(program, options), std::move(arrays), grid, run_options);
}

// Every invocation writes its number at the place where it comes.
ir::Program arrivals(std::uint32_t x, std::uint32_t y = 1, std::uint32_t z = 1) {
  const ExprHandle number = (gid(2) * u32(10) + gid(1)) * u32(10) + gid(0);
  return Sample().out("next").out("order").size(x, y, z).add(store("order", atomic(AtomicOp::Add, "next", u32(0), u32(1)), number)).make();
}

TEST(Schedule, in_order_takes_workgroups_and_invocations_by_rising_id) {
  EXPECT_EQ(run_in(arrivals(2, 1, 2), {{0}, Words(8)}, {}, {2, 1, 1})[1], (Words{0, 1, 100, 101, 2, 3, 102, 103}));
}

TEST(Schedule, reversed_takes_workgroups_and_invocations_by_falling_id) {
  EXPECT_EQ(run_in(arrivals(2, 1, 2), {{0}, Words(8)}, kReversed, {2, 1, 1})[1], (Words{103, 102, 3, 2, 101, 100, 1, 0}));
}

TEST(Schedule, random_runs_every_invocation_of_the_grid_once) {
  const run::Grid grid{5, 1, 3};
  Words numbers;
  for (std::uint32_t z = 0; z < 6; ++z) {
    for (std::uint32_t y = 0; y < 3; ++y) {
      for (std::uint32_t x = 0; x < 10; ++x) numbers.push_back(100 * z + 10 * y + x);
    }
  }
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Words got = run_in(arrivals(2, 3, 2), {{0}, Words(numbers.size())}, random(seed), grid)[1];
    EXPECT_NE(got, numbers) << "seed " << seed;
    std::sort(got.begin(), got.end());
    EXPECT_EQ(got, numbers) << "seed " << seed;
  }
}

// The same on every machine: a replay from another one depends on it.
TEST(Schedule, random_is_the_same_for_a_seed_everywhere) {
  const auto order = [](std::uint64_t seed) { return run_in(arrivals(4), {{0}, Words(8)}, random(seed), {2, 1, 1})[1]; };
  EXPECT_EQ(order(7), order(7));
  EXPECT_EQ(order(7), (Words{1, 7, 5, 2, 4, 3, 6, 0}));
  EXPECT_EQ(order(8), (Words{7, 3, 1, 5, 4, 2, 6, 0}));
  std::set<Words> orders;
  for (std::uint64_t seed = 0; seed < 100; ++seed) orders.insert(order(seed));
  EXPECT_GT(orders.size(), 95u);
}

// Two workgroups that see each other's marks in either direction, and both: neither runs as a whole before the other.
TEST(Schedule, random_switches_between_workgroups_in_their_midst) {
  const ir::Program program =
      Sample().out("marks").out("seen").add({store("marks", wid(0), u32(1)), store("seen", wid(0), load("marks", u32(1) - wid(0)))}).make();
  std::set<Words> outcomes;
  for (std::uint64_t seed = 0; seed < 50; ++seed) outcomes.insert(run_in(program, {{0, 0}, {0, 0}}, random(seed), {2, 1, 1})[1]);
  EXPECT_EQ(outcomes, (std::set<Words>{{0, 1}, {1, 0}, {1, 1}}));
}

// Lost updates: between the load and the store of one statement, others come.
TEST(Schedule, random_switches_between_the_accesses_of_a_statement) {
  const ir::Program program = Sample().out("count").size(16).add(store("count", u32(0), load("count", u32(0)) + u32(1))).make();
  EXPECT_EQ(run_in(program, {{0}}, {})[0][0], 16u);
  bool lost = false;
  for (std::uint64_t seed = 0; seed < 10; ++seed) lost |= run_in(program, {{0}}, random(seed))[0][0] < 16;
  EXPECT_TRUE(lost);
}

TEST(Schedule, every_workgroup_has_zeroed_memory_of_its_own_in_every_schedule) {
  // Each workgroup sums its inputs in workgroup memory, which it expects to be zero.
  const ir::Program program =
      Sample()
          .in("in")
          .out("out")
          .shared("tile", 4)
          .size(4)
          .add({store("tile", lid(0), load("tile", lid(0)) + load("in", gid(0))), barrier(),
                if_(bin(BinOp::Lt, lid(0), u32(1)),
                    {loop("k", u32(0), u32(4), {store("out", wid(0), load("out", wid(0)) + load("tile", var("k")))})})})
          .make();
  Words in(80), sums(20);
  std::iota(in.begin(), in.end(), 3);
  for (std::size_t k = 0; k < in.size(); ++k) sums[k / 4] += in[k];
  EXPECT_EQ(run_in(program, {in, Words(20)}, {}, {20, 1, 1})[1], sums);
  EXPECT_EQ(run_in(program, {in, Words(20)}, kReversed, {20, 1, 1})[1], sums);
  for (std::uint64_t seed = 0; seed < 20; ++seed) EXPECT_EQ(run_in(program, {in, Words(20)}, random(seed), {20, 1, 1})[1], sums) << seed;
}

// A tree of sums in a loop with barriers: locals live across barriers, and none is passed before all have come.
TEST(Schedule, barriers_hold_in_every_schedule) {
  const ExprHandle half = bin(BinOp::Shr, u32(16), var("k"));
  const ir::Program program =
      Sample()
          .in("in")
          .out("out")
          .shared("tile", 32)
          .size(8, 4)
          .add({let("at", lid(1) * u32(8) + lid(0)), let("mine", load("in", wid(0) * u32(32) + var("at"))),
                store("tile", var("at"), var("mine")), barrier(),
                loop("k", u32(0), u32(5),
                     {let("half", half),
                      if_(var("at") < var("half"),
                          {store("tile", var("at"), load("tile", var("at")) + load("tile", var("at") + var("half")))}),
                      barrier()}),
                store("out", wid(0) * u32(32) + var("at"), load("tile", u32(0)) ^ var("mine"))})
          .make();
  Words in(7 * 32);
  std::iota(in.begin(), in.end(), 11);
  Words expected(in.size());
  for (std::size_t k = 0; k < in.size(); ++k) {
    const auto group = in.begin() + static_cast<std::ptrdiff_t>(k / 32 * 32);
    expected[k] = std::accumulate(group, group + 32, 0u) ^ in[k];
  }
  EXPECT_EQ(run_in(program, {in, Words(in.size())}, {}, {7, 1, 1})[1], expected);
  EXPECT_EQ(run_in(program, {in, Words(in.size())}, kReversed, {7, 1, 1})[1], expected);
  for (std::uint64_t seed = 0; seed < 20; ++seed) EXPECT_EQ(run_in(program, {in, Words(in.size())}, random(seed), {7, 1, 1})[1], expected);
}

TEST(Schedule, a_divergent_barrier_is_found_in_every_schedule) {
  const ir::Program program = Sample().out("out").size(4).add({if_(lid(0) < u32(2), {store("out", lid(0), u32(1)), barrier()})}).make();
  const char* const message =
      "barrier was reached by only part of a workgroup: invocation (0, 0, 0) waits at `entry[0].then[1]`, invocation (2, 0, 0) has run to "
      "the end of the program. Fix: move the barrier to uniform control flow.";
  for (const run::Schedule schedule : {run::Schedule{}, kReversed, random(0), random(1), random(2)}) {
    Words out{7};
    EXPECT_EQ(message_of<DivergentBarrierError>([&] { run_in(program, {out}, schedule, {3, 1, 1}, kChecked); }), message);
  }
}

TEST(Schedule, random_runs_65536_invocations_that_wait_for_each_other) {
  const ir::Program program =
      Sample()
          .out("out")
          .size(65'536)
          .add({let("old", atomic(AtomicOp::Add, "out", u32(0), u32(1))), barrier(), store("out", u32(1) + gid(0), var("old"))})
          .make();
  const Words got = run_in(program, {Words(65'537)}, random(3))[0];
  EXPECT_EQ(got[0], 65'536u);
  EXPECT_EQ(std::accumulate(got.begin() + 1, got.end(), std::uint64_t{0}), std::uint64_t{65'535} * 65'536 / 2);
}

TEST(Schedule, grids_of_zero_workgroups_run_nothing) {
  for (const run::Schedule schedule : {kReversed, random(0)}) {
    EXPECT_EQ(run_in(arrivals(2), {{7}, {8}}, schedule, {3, 0, 2}), (std::vector<Words>{{7}, {8}}));
  }
}

TEST(Schedule, every_schedule_can_be_interrupted_and_times_out) {
  const ir::Program in_loop = Sample().out("out").add({store("out", u32(0), u32(1)), loop("k", u32(0), u32(~0u), {})}).make();
  const ir::Program in_grid = Sample().out("out").add(store("out", u32(0), u32(1))).make();
  for (const run::Schedule schedule : {run::Schedule{}, kReversed, random(0)}) {
    for (const auto& [program, grid] : {std::pair{in_loop, run::Grid{}}, std::pair{in_grid, run::Grid{1u << 31, 1u << 31, 1u << 31}}}) {
      Words out{7};
      const run::BufferView views[] = {{std::as_writable_bytes(std::span(out)), 1}};
      const auto executable = run::make_reference_backend()->prepare(valid(program), std::nullopt);
      int polls = 0;
      run::RunOptions options;
      options.schedule = schedule;
      options.interrupted = [&] { return ++polls == 3; };
      EXPECT_THROW(executable->run(views, grid, options), Interrupted);
      options.interrupted = nullptr;
      options.timeout = std::chrono::milliseconds(5);
      EXPECT_THROW(executable->run(views, grid, options), DispatchTimeoutError);
      EXPECT_EQ(out, Words{7});
    }
  }
}

}  // namespace
}  // namespace vyre::test
