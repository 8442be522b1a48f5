// What checked execution finds in programs that do one thing wrong, and that it says nothing about those that do none.
#include <gtest/gtest.h>

#include "support/check_program.hpp"
#include "support/programs/programs.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre::test {
namespace {

using namespace vyre::sample;
using run::AccessKind;
using run::DivergentBarrier;
using run::Finding;
using run::Findings;
using run::OrderDependence;
using run::OutOfBounds;
using run::PromisedZero;
using run::Race;
using run::UninitialisedRead;
using Id = std::array<std::uint32_t, 3>;

Findings check(const ir::Program& program, std::vector<Words> arrays, run::Grid grid = {}, const run::CheckOptions& checks = {},
               run::Schedule schedule = {}) {
  return check_program(program, arrays, grid, checks, schedule);
}

template <class Kind>
Kind only(const Findings& findings) {
  EXPECT_EQ(findings.list.size(), 1u);
  EXPECT_TRUE(findings.complete);
  if (findings.list.empty() || !std::holds_alternative<Kind>(findings.list.front())) {
    ADD_FAILURE() << "another kind of finding";
    return {};
  }
  return std::get<Kind>(findings.list.front());
}

TEST(Checked, a_program_without_a_mistake_has_no_findings_and_the_bytes_of_a_run) {
  const ir::Program program =
      Sample()
          .in("in")
          .out("out")
          .shared("tile", 4)
          .size(4)
          .add({store("tile", lid(0), load("in", gid(0))), barrier(), store("out", gid(0), load("tile", u32(3) - lid(0)))})
          .make();
  for (const run::Schedule schedule : all_schedules()) {
    std::vector<Words> arrays{{1, 2, 3, 4, 5, 6, 7, 8}, Words(8)};
    const Findings findings = check_program(program, arrays, {2, 1, 1}, {}, schedule);
    EXPECT_TRUE(findings.list.empty());
    EXPECT_TRUE(findings.complete);
    EXPECT_EQ(arrays[1], (Words{4, 3, 2, 1, 8, 7, 6, 5}));
  }
}

TEST(Checked, two_invocations_that_write_one_lane_race) {
  const ir::Program program = Sample().out("out").size(4).add(store("out", bin(BinOp::Shr, lid(0), u32(1)), gid(0))).make();
  const Race race = only<Race>(check(program, {{0, 0}}));
  EXPECT_EQ(race.buffer, BufferId{0});
  EXPECT_EQ(race.index, 0u);
  EXPECT_EQ(race.count, 2u);
  EXPECT_EQ(race.first, (run::Witness{{0, 0, 0}, {0, 0, 0}, AccessKind::Write, {}, NodeId{0}, 0}));
  EXPECT_EQ(race.second, (run::Witness{{0, 0, 0}, {1, 0, 0}, AccessKind::Write, {}, NodeId{0}, 1}));
}

TEST(Checked, a_missing_barrier_is_a_race_of_a_write_and_a_read_in_every_schedule) {
  const ir::Program program = Sample()
                                  .out("out")
                                  .shared("tile", 4)
                                  .size(4)
                                  .add({store("tile", lid(0), gid(0) + u32(7)), store("out", gid(0), load("tile", u32(3) - lid(0)))})
                                  .make();
  run::CheckOptions checks;
  checks.uninitialised = false;
  for (const run::Schedule schedule : all_schedules()) {
    const Race race = only<Race>(check(program, {Words(4)}, {}, checks, schedule));
    EXPECT_EQ(race.buffer, BufferId{1});
    EXPECT_EQ(race.count, 4u);
    EXPECT_NE(race.first.access, race.second.access);
    EXPECT_EQ(race.first.statement.index + race.second.statement.index, 1u);
    EXPECT_NE(race.first.local, race.second.local);
  }
}

TEST(Checked, a_barrier_does_not_order_two_workgroups) {
  const ir::Program program = Sample().out("out").size(2).add({barrier(), store("out", lid(0), gid(0)), barrier()}).make();
  for (const run::Schedule schedule : all_schedules()) {
    const Race race = only<Race>(check(program, {{0, 0}}, {2, 1, 1}, {}, schedule));
    EXPECT_EQ(race.count, 2u);
    EXPECT_EQ(race.index, 0u);
    EXPECT_NE(race.first.workgroup, race.second.workgroup);
  }
}

TEST(Checked, a_read_of_one_workgroup_races_with_a_write_of_another_before_or_after_a_barrier) {
  const ir::Program program =
      Sample()
          .out("out")
          .out("sink")
          .add(if_(wid(0), {barrier(), store("sink", wid(0), load("out", u32(0)))}, {store("out", u32(0), u32(1)), barrier()}))
          .make();
  for (const run::Schedule schedule : all_schedules()) {
    const Race race = only<Race>(check(program, {{0}, {0, 0}}, {2, 1, 1}, {}, schedule));
    EXPECT_NE(race.first.access, race.second.access);
  }
}

TEST(Checked, atomics_do_not_race_with_each_other_but_with_plain_accesses) {
  const auto program = [](const ExprHandle& who, const NodeHandle& other) {
    return Sample()
        .out("out")
        .out("sink")
        .size(2)
        .add(if_(who, {let("old", atomic(AtomicOp::Add, "out", u32(0), u32(5)))}, {other}))
        .make();
  };
  const NodeHandle also = let("old", atomic(AtomicOp::Add, "out", u32(0), u32(3)));
  EXPECT_TRUE(check(program(lid(0), also), {{0}, {0}}).list.empty());
  for (const run::Schedule schedule : all_schedules()) {
    const Race write = only<Race>(check(program(lid(0), store("out", u32(0), u32(1))), {{0}, {0}}, {}, {}, schedule));
    EXPECT_NE(write.first.access, write.second.access);
    const Race read = only<Race>(check(program(lid(0), store("sink", u32(0), load("out", u32(0)))), {{0}, {0}}, {}, {}, schedule));
    EXPECT_NE(read.first.access, read.second.access);
  }
}

TEST(Checked, elements_of_several_lanes_do_not_race_with_each_other) {
  const ir::Program program = Sample()
                                  .out("out", DataType::Vec2U32)
                                  .size(4)
                                  .add(store("out", lid(0), pack(DataType::Vec2U32, {gid(0), lane(load("out", lid(0)), 1)})))
                                  .make();
  EXPECT_TRUE(check(program, {Words(8)}).list.empty());
}

TEST(Checked, a_race_on_several_lanes_is_one) {
  const ir::Program program =
      Sample().out("out", DataType::Vec2U32).size(2).add(store("out", u32(1), pack(DataType::Vec2U32, {gid(0), gid(0)}))).make();
  const Race race = only<Race>(check(program, {Words(4)}));
  EXPECT_EQ(race.index, 1u);
  EXPECT_EQ(race.second.value, 1u);
  EXPECT_EQ(race.count, 1u);
}

TEST(Checked, accesses_out_of_bounds_are_found_though_they_are_defined) {
  const ir::Program program = Sample()
                                  .in("in")
                                  .out("out")
                                  .size(4)
                                  .add({let("x", load("in", gid(0))), store("out", (u32(3) - gid(0)) * u32(2), var("x") + u32(9))})
                                  .make();
  const Findings findings = check(program, {{1, 2, 3}, {0, 0, 0, 0}});
  ASSERT_EQ(findings.list.size(), 2u);
  const auto& load = std::get<OutOfBounds>(findings.list[0]);
  EXPECT_EQ(load.index, 3u);
  EXPECT_EQ(load.length, 3u);
  EXPECT_EQ(load.count, 1u);
  EXPECT_EQ(load.witness, (run::Witness{{0, 0, 0}, {3, 0, 0}, AccessKind::Read, {}, NodeId{0}, 0}));
  const auto& store = std::get<OutOfBounds>(findings.list[1]);
  EXPECT_EQ(store.index, 6u);
  EXPECT_EQ(store.length, 4u);
  EXPECT_EQ(store.count, 2u);
  EXPECT_EQ(store.witness, (run::Witness{{0, 0, 0}, {0, 0, 0}, AccessKind::Write, {}, NodeId{1}, 10}));
}

TEST(Checked, reads_of_workgroup_memory_that_nobody_wrote_are_found_when_they_are_asked_for) {
  const ir::Program program = Sample()
                                  .out("out")
                                  .shared("tile", 4)
                                  .size(2)
                                  .add({store("tile", lid(0), u32(1)), barrier(), store("out", gid(0), load("tile", lid(0) * u32(2)))})
                                  .make();
  EXPECT_TRUE(check(program, {Words(4)}, {2, 1, 1}).list.empty());
  run::CheckOptions checks;
  checks.promised_zeros = true;
  const PromisedZero read = only<PromisedZero>(check(program, {Words(4)}, {2, 1, 1}, checks));
  EXPECT_EQ(read.buffer, BufferId{1});
  EXPECT_EQ(read.index, 2u);
  EXPECT_EQ(read.count, 2u);  // one in each workgroup: what one wrote, the next one has not
  EXPECT_EQ(read.witness, (run::Witness{{0, 0, 0}, {1, 0, 0}, AccessKind::Read, {}, NodeId{2}, 0}));
}

// Invocation k writes element k of its own array, and reads element 1.
TEST(Checked, reads_of_private_memory_are_found_that_the_same_invocation_did_not_write) {
  for (const DataType element : {DataType::U32, DataType::U8, DataType::U64}) {
    const ir::ExprHandle value = element == DataType::U64 ? ir::expr::literal({element, 7, 0}) : u32(7);
    const ir::Program program = Sample()
                                    .out("out", element)
                                    .own("mine", 2, element)
                                    .size(2)
                                    .add({store("mine", lid(0), value), barrier(), store("out", gid(0), load("mine", u32(1)))})
                                    .make();
    run::CheckOptions checks;
    checks.promised_zeros = true;
    for (const run::Schedule schedule : all_schedules()) {
      const PromisedZero read = only<PromisedZero>(check(program, {Words(8)}, {2, 1, 1}, checks, schedule));
      EXPECT_EQ(read.buffer, BufferId{1});
      EXPECT_EQ(read.index, 1u);
      EXPECT_EQ(read.count, 2u);  // one in each workgroup
      EXPECT_EQ(read.witness, (run::Witness{{0, 0, 0}, {0, 0, 0}, AccessKind::Read, {}, NodeId{2}, 0}));
      EXPECT_TRUE(check(program, {Words(8)}, {2, 1, 1}, {}, schedule).list.empty());
    }
  }
}

TEST(Checked, reads_of_a_buffer_that_the_host_gave_are_not_reads_of_what_nobody_wrote) {
  const ir::Program program = Sample().out("out").size(2).add(store("out", gid(0), load("out", gid(0)) + u32(1))).make();
  run::CheckOptions checks;
  EXPECT_TRUE(check(program, {Words(2)}, {}, checks).list.empty());
  checks.blank = {true};
  EXPECT_EQ(only<UninitialisedRead>(check(program, {Words(2)}, {}, checks)).count, 2u);
  checks.uninitialised = false;
  EXPECT_TRUE(check(program, {Words(2)}, {}, checks).list.empty());
}

// Counting up from zero is what zeros are for.
TEST(Checked, atomics_on_memory_that_nobody_wrote_are_no_mistake) {
  const ir::Program program =
      Sample().out("bins").size(8).add(let("old", atomic(AtomicOp::Add, "bins", bin(BinOp::BitAnd, gid(0), u32(1)), u32(1)))).make();
  run::CheckOptions checks;
  checks.blank = {true};
  EXPECT_TRUE(check(program, {Words(2)}, {}, checks).list.empty());
}

TEST(Checked, bytes_that_nothing_wrote_are_found_in_arrays_that_are_only_read_too_and_stores_write_them) {
  const ir::Program program = Sample().in("in").out("out").size(2).add(store("out", gid(0), load("in", gid(0)))).make();
  for (const run::Schedule schedule : all_schedules()) {
    // Of the second element one byte is missing; of the output nothing is written yet.
    std::vector<std::uint8_t> in{1, 1, 1, 1, 1, 1, 0, 1}, out(12, 0);
    run::CheckOptions checks;
    checks.written = {in, out};
    const UninitialisedRead read = only<UninitialisedRead>(check(program, {{5, 6}, Words(3)}, {}, checks, schedule));
    EXPECT_EQ(read.buffer, BufferId{0});
    EXPECT_EQ(read.index, 1u);
    EXPECT_EQ(read.count, 1u);
    EXPECT_EQ(out, (std::vector<std::uint8_t>{1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0}));
    EXPECT_EQ(in[6], 0);
  }
}

TEST(Checked, what_a_program_writes_it_may_read_and_marks_are_kept_also_where_reads_are_not_checked) {
  const ir::Program program =
      Sample().out("out").size(2).add({store("out", gid(0), u32(7)), store("out", gid(0), load("out", gid(0)) + u32(1))}).make();
  for (const bool checked : {false, true}) {
    std::vector<std::uint8_t> out(8, 0);
    run::CheckOptions checks;
    checks.uninitialised = checked;
    checks.written = {out};
    EXPECT_TRUE(check(program, {Words(2)}, {}, checks).list.empty());
    EXPECT_EQ(out, std::vector<std::uint8_t>(8, 1));
  }
}

// Of memory that may have any value an atomic makes another such value.
TEST(Checked, an_atomic_on_bytes_that_nothing_wrote_is_found) {
  const ir::Program program = Sample().out("bins").size(8).add(let("old", atomic(AtomicOp::Add, "bins", u32(0), u32(1)))).make();
  std::vector<std::uint8_t> bins(4, 0);
  run::CheckOptions checks;
  checks.written = {bins};
  const UninitialisedRead read = only<UninitialisedRead>(check(program, {Words(1)}, {}, checks));
  EXPECT_EQ(read.count, 1u);  // the first one; it leaves a value that the program has made
  EXPECT_EQ(read.witness.access, AccessKind::Atomic);
  EXPECT_EQ(bins, std::vector<std::uint8_t>(4, 1));
}

TEST(Checked, divergent_barriers_are_found_and_other_workgroups_go_on) {
  const ir::Program program =
      Sample().out("out").size(4).add({if_(bin(BinOp::Eq, gid(0), u32(5)), {barrier()}), store("out", gid(0), u32(1))}).make();
  for (const run::Schedule schedule : all_schedules()) {
    std::vector<Words> arrays{Words(12)};
    const Findings findings = check_program(program, arrays, {3, 1, 1}, {}, schedule);
    const DivergentBarrier barrier = only<DivergentBarrier>(findings);
    EXPECT_EQ(barrier.workgroup, (Id{1, 0, 0}));
    EXPECT_EQ(barrier.count, 1u);
    ASSERT_EQ(barrier.stops.size(), 2u);
    EXPECT_TRUE(barrier.stops[0].waits);
    EXPECT_EQ(barrier.stops[0].statement, NodeId{1});
    EXPECT_EQ(barrier.stops[0].invocations, 1u);
    EXPECT_EQ(barrier.stops[0].first, (Id{1, 0, 0}));
    EXPECT_FALSE(barrier.stops[1].waits);
    EXPECT_FALSE(barrier.stops[1].statement.valid());
    EXPECT_EQ(barrier.stops[1].invocations, 3u);
    EXPECT_EQ(barrier.stops[1].first, (Id{0, 0, 0}));
    EXPECT_EQ(arrays[0], (Words{1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1}));
  }
}

TEST(Checked, a_divergent_barrier_that_nobody_checks_is_the_error_of_a_run) {
  const ir::Program program = Sample().out("out").size(2).add({if_(lid(0), {barrier()})}).make();
  run::CheckOptions checks;
  checks.barriers = false;
  EXPECT_THROW(check(program, {{0}}, {}, checks), DivergentBarrierError);
}

TEST(Checked, a_result_of_an_atomic_that_changes_the_output_is_found) {
  const ir::Program program = Sample()
                                  .out("next")
                                  .out("out")
                                  .size(4)
                                  .add({let("unused", atomic(AtomicOp::Add, "next", u32(1), u32(1))),
                                        let("ticket", atomic(AtomicOp::Add, "next", u32(0), u32(1))), store("out", var("ticket"), gid(0))})
                                  .make();
  for (const run::Schedule schedule : all_schedules()) {
    const OrderDependence found = only<OrderDependence>(check(program, {{0, 0}, Words(4)}, {}, {}, schedule));
    EXPECT_EQ(found.buffer, BufferId{1});
    EXPECT_EQ(found.schedule, schedule);
    EXPECT_FALSE(found.other_schedule == schedule);
    EXPECT_EQ(found.atomics, std::vector<NodeId>{NodeId{1}});
    EXPECT_NE(found.value, found.other);
  }
  const OrderDependence found = only<OrderDependence>(check(program, {{0, 0}, Words(4)}));
  EXPECT_EQ(found.index, 0u);
  EXPECT_EQ(found.value, 0u);
  EXPECT_EQ(found.other, 3u);
  EXPECT_EQ(found.count, 4u);
}

TEST(Checked, results_of_atomics_that_change_nothing_are_no_mistake) {
  const ir::Program program =
      Sample()
          .out("next")
          .out("out")
          .size(4)
          .add({let("ticket", atomic(AtomicOp::Add, "next", u32(0), u32(1))), store("out", var("ticket"), var("ticket") * var("ticket"))})
          .make();
  EXPECT_TRUE(check(program, {{0}, Words(4)}).list.empty());
}

// A check that is asked for alone does not report a mistake that another check is for.
TEST(Checked, what_a_race_changes_is_no_dependence_on_the_order_of_atomics) {
  const ir::Program program = Sample()
                                  .out("next")
                                  .out("out")
                                  .size(4)
                                  .add({let("ticket", atomic(AtomicOp::Add, "next", u32(0), u32(1))), store("out", u32(0), var("ticket"))})
                                  .make();
  run::CheckOptions checks;
  only<Race>(check(program, {{0}, {0}}));
  checks.races = false;
  EXPECT_TRUE(check(program, {{0}, {0}}, {}, checks).list.empty());
}

TEST(Checked, atomics_that_do_not_commute_are_found) {
  const auto program = [](AtomicOp first, AtomicOp second) {
    return Sample()
        .out("out")
        .size(2)
        .add(if_(lid(0), {let("a", atomic(first, "out", u32(0), u32(3)))}, {let("b", atomic(second, "out", u32(0), u32(5)))}))
        .make();
  };
  EXPECT_TRUE(check(program(AtomicOp::Add, AtomicOp::Add), {{1}}).list.empty());
  EXPECT_TRUE(check(program(AtomicOp::Max, AtomicOp::Max), {{1}}).list.empty());
  EXPECT_EQ(only<OrderDependence>(check(program(AtomicOp::Add, AtomicOp::Xor), {{1}})).count, 1u);
  EXPECT_EQ(only<OrderDependence>(check(program(AtomicOp::Exchange, AtomicOp::Exchange), {{1}})).count, 1u);
}

TEST(Checked, only_what_was_asked_for_is_found) {
  const ir::Program program =
      Sample()
          .out("next")
          .out("out")
          .shared("tile", 2)
          .size(2)
          .add({let("ticket", atomic(AtomicOp::Add, "next", u32(0), u32(1))), store("out", u32(0), load("tile", u32(0))),
                store("out", gid(0) + u32(1), var("ticket")), if_(lid(0), {barrier()})})
          .make();
  const auto kinds = [&](run::CheckOptions checks) {
    std::vector<std::size_t> result;
    for (const Finding& finding : check(program, {{0}, {0, 0}}, {}, checks).list) result.push_back(finding.index());
    return result;
  };
  run::CheckOptions none;
#define CHECK(member, usual, name, meaning) none.member = false;
  VYRE_CHECKS(CHECK)
#undef CHECK
  EXPECT_THROW(kinds(none), DivergentBarrierError);
  none.barriers = true;
  EXPECT_EQ(kinds(none), (std::vector<std::size_t>{3}));
  run::CheckOptions some = none;
  some.races = true;
  EXPECT_EQ(kinds(some), (std::vector<std::size_t>{0, 3}));
  some = none;
  some.promised_zeros = true;
  EXPECT_EQ(kinds(some), (std::vector<std::size_t>{3, 5}));
  some = none;
  some.bounds = true;
  EXPECT_EQ(kinds(some), (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(kinds({}), (std::vector<std::size_t>{0, 2, 3}));
}

TEST(Checked, findings_are_bounded_and_say_when_there_are_more) {
  Sample sample;
  sample.out("out");
  for (std::uint32_t k = 0; k < 50; ++k) sample.add(store("out", u32(100 + k), u32(1)));
  run::CheckOptions checks;
  checks.max_findings = 7;
  const Findings findings = check(sample.make(), {{0}}, {}, checks);
  EXPECT_EQ(findings.list.size(), 7u);
  EXPECT_FALSE(findings.complete);
  checks.max_findings = 50;
  EXPECT_TRUE(check(sample.make(), {{0}}, {}, checks).complete);
}

TEST(Checked, a_check_can_be_interrupted_times_out_and_leaves_the_arrays_alone) {
  const ir::Program program = Sample().out("out").add({store("out", u32(0), u32(1)), loop("k", u32(0), u32(~0u), {})}).make();
  Words out{7};
  const run::BufferView views[] = {{std::as_writable_bytes(std::span(out)), 1}};
  run::RunOptions options;
  options.interrupted = [] { return true; };
  EXPECT_THROW(run::check(valid(program), views, {}, options, {}), Interrupted);
  options.interrupted = nullptr;
  options.timeout = std::chrono::milliseconds(5);
  EXPECT_THROW(run::check(valid(program), views, {}, options, {}), DispatchTimeoutError);
  EXPECT_EQ(out, Words{7});
}

TEST(Checked, grids_beyond_its_limit_are_refused_and_empty_ones_find_nothing) {
  const ir::Program program = Sample().out("out").add(store("out", u32(9), u32(1))).make();
  EXPECT_THROW(check(program, {{0}}, {65'536, 65'536, 1}), CapabilityError);
  EXPECT_THROW(check(program, {{0}}, {~0u, ~0u, ~0u}), CapabilityError);
  EXPECT_TRUE(check(program, {{0}}, {~0u, 0, ~0u}).list.empty());
}

}  // namespace
}  // namespace vyre::test
