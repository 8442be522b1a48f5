#include <gtest/gtest.h>

#include "../support/found.hpp"
#include "../support/programs/programs.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre {
namespace {

using namespace sample;

// With a ReadOnly buffer `a`, a ReadWrite buffer `o` and workgroup memory `s`.
Sample base() { return Sample().in("a").out("o").shared("s", 4).size(64); }
Found with(const List& entry) { return places(base().add(entry).make()); }
List guarded(ExprHandle condition) { return {if_(std::move(condition), {barrier()})}; }
const Found kOk{};
const Found kGuarded{"V010 at entry[0].then[0]"};

TEST(V010, accepts_barriers_in_uniform_control_flow) {
  EXPECT_EQ(with({barrier(), loop("k", u32(0), wid(0), {barrier()}), block({barrier()})}), kOk);
  EXPECT_EQ(with(guarded(u32(1))), kOk);
  EXPECT_EQ(with(guarded(boolean(true))), kOk);
  EXPECT_EQ(with(guarded(len("o"))), kOk);
  EXPECT_EQ(with(guarded(wid(2))), kOk);
  EXPECT_EQ(with(guarded(load("a", wid(0)))), kOk);
  EXPECT_EQ(with(guarded(select(wid(0), cast(DataType::U32, boolean(true)), len("a")) + u32(1))), kOk);
}
TEST(V010, accepts_ids_on_an_axis_of_size_1) {
  EXPECT_EQ(with(guarded(gid(1))), kOk);
  EXPECT_EQ(with(guarded(lid(2))), kOk);
}
TEST(V010, accepts_anything_in_workgroups_of_one) {
  EXPECT_EQ(found(Sample().out("o").add(guarded(load("o", gid(0)))).add(if_(gid(0), {return_()})).add(barrier()).make()), kOk);
}
TEST(V010, rejects_a_barrier_in_a_divergent_branch) {
  EXPECT_EQ(found(base().add(if_(lid(0) < u32(3), {barrier()})).make()),
            Found{said("V010", "barrier may be reached by only part of a workgroup", "move the barrier to uniform control flow")});
}
TEST(V010, rejects_divergent_conditions) {
  EXPECT_EQ(with(guarded(gid(0))), kGuarded);
  EXPECT_EQ(with(guarded(load("o", u32(0)))), kGuarded);
  EXPECT_EQ(with(guarded(load("s", u32(0)))), kGuarded);
  EXPECT_EQ(with(guarded(load("a", lid(0)))), kGuarded);
  EXPECT_EQ(with(guarded(atomic(AtomicOp::Add, "o", u32(0), u32(1)))), kGuarded);
  EXPECT_EQ(with(guarded(select(u32(1), gid(0), u32(1)))), kGuarded);
  EXPECT_EQ(with(guarded(cast(DataType::Bool, gid(0)))), kGuarded);
  EXPECT_EQ(with(guarded(lane(pack(DataType::U64, {u32(0), gid(0)}), 0))), kGuarded);
}
TEST(V010, rejects_a_divergent_else_and_nested_statements) {
  EXPECT_EQ(with({if_(gid(0), {}, {block({loop("k", u32(0), u32(2), {barrier()})})})}),
            Found{"V010 at entry[0].otherwise[0].body[0].body[0]"});
}
TEST(V010, rejects_loops_with_divergent_bounds) {
  EXPECT_EQ(with({loop("k", u32(0), lid(0), {barrier()}), barrier()}), Found{"V010 at entry[0].body[0]"});
  EXPECT_EQ(with({loop("k", gid(0), u32(9), {barrier()})}), Found{"V010 at entry[0].body[0]"});
}
TEST(V010, follows_variables) {
  EXPECT_EQ(with({let("x", wid(0)), if_(var("x"), {barrier()})}), kOk);
  EXPECT_EQ(with({let("x", gid(0)), let("y", var("x")), if_(var("y"), {barrier()})}), Found{"V010 at entry[2].then[0]"});
  EXPECT_EQ(with({loop("k", u32(0), u32(4), {if_(var("k"), {barrier()})})}), kOk);
  EXPECT_EQ(with({let("x", u32(0)), assign("x", gid(0)), if_(var("x"), {barrier()})}), Found{"V010 at entry[2].then[0]"});
}
TEST(V010, counts_an_assignment_under_divergent_control_flow_as_divergent) {
  EXPECT_EQ(with({let("x", u32(0)), if_(gid(0), {assign("x", u32(1))}), if_(var("x"), {barrier()})}), Found{"V010 at entry[2].then[0]"});
  EXPECT_EQ(with({let("x", u32(0)), if_(wid(0), {assign("x", u32(1))}), if_(var("x"), {barrier()})}), kOk);
  EXPECT_EQ(with({let("x", u32(0)), loop("k", u32(0), lid(0), {assign("x", var("k"))}), if_(var("x"), {barrier()})}),
            Found{"V010 at entry[2].then[0]"});
}
TEST(V010, carries_divergence_round_a_loop) {
  // In the first round x is uniform; y makes it divergent for the second one.
  EXPECT_EQ(with({let("x", u32(0)), let("y", u32(0)),
                  loop("k", u32(0), u32(4), {if_(var("x"), {barrier()}), assign("x", var("y")), assign("y", lid(0))})}),
            Found{"V010 at entry[2].body[0].then[0]"});
}
TEST(V010, takes_a_call_as_uniform_when_its_arguments_are) {
  const auto ops = table({op_with("t.inc", {DataType::U32}, DataType::U32, {let("r", var("p0") + u32(1))})});
  EXPECT_EQ(places(base().add(guarded(call("t.inc", {wid(0)}))).make(), ops), kOk);
  EXPECT_EQ(places(base().add(guarded(call("t.inc", {gid(0)}))).make(), ops), kGuarded);
}
TEST(V010, accepts_a_uniform_return_before_a_barrier) {
  EXPECT_EQ(with({if_(wid(0), {return_()}), barrier()}), kOk);
  EXPECT_EQ(with({loop("k", u32(0), u32(4), {barrier(), if_(var("k") < u32(2), {return_()})}), barrier()}), kOk);
}
TEST(V010, accepts_a_barrier_that_cannot_run_after_a_divergent_return) {
  EXPECT_EQ(with({barrier(), if_(gid(0), {return_()})}), kOk);
  EXPECT_EQ(with({if_(wid(0), {if_(gid(0), {return_()})}, {barrier()})}), kOk);
}
TEST(V010, rejects_every_barrier_after_a_divergent_return) {
  EXPECT_EQ(with({if_(gid(0), {return_()}), barrier(), loop("k", u32(0), u32(2), {barrier()})}),
            (Found{"V010 at entry[1]", "V010 at entry[2].body[0]"}));
  EXPECT_EQ(with({if_(wid(0), {if_(gid(0), {return_()})}, {barrier()}), barrier()}), Found{"V010 at entry[1]"});
}
TEST(V010, rejects_a_barrier_of_the_next_round_after_a_divergent_return) {
  EXPECT_EQ(with({loop("k", u32(0), u32(4), {barrier(), if_(gid(0), {return_()})})}), Found{"V010 at entry[0].body[0]"});
  EXPECT_EQ(with({loop("k", u32(0), u32(4), {if_(wid(0), {if_(gid(0), {return_()})}, {barrier()})})}),
            Found{"V010 at entry[0].body[0].otherwise[0]"});
  EXPECT_EQ(with({loop("i", u32(0), u32(4), {barrier(), loop("k", u32(0), u32(4), {if_(gid(0), {return_()})})})}),
            Found{"V010 at entry[0].body[0]"});
}
TEST(V010, accepts_barriers_in_a_loop_that_all_leave_together) {
  EXPECT_EQ(with({loop("k", u32(0), u32(4), {barrier(), if_(wid(0), {break_()}), barrier()}), barrier()}), kOk);
  EXPECT_EQ(with({loop("k", u32(0), u32(4), {barrier(), if_(var("k") < wid(0), {block({break_()})})}), barrier()}), kOk);
  EXPECT_EQ(with({loop("k", u32(0), u32(4), {barrier(), break_()}), barrier()}), kOk);
}
TEST(V010, accepts_barriers_after_a_loop_that_some_leave_early) {
  EXPECT_EQ(with({loop("k", u32(0), u32(4), {if_(gid(0), {break_()})}), barrier()}), kOk);
  EXPECT_EQ(with({loop("i", u32(0), u32(4), {loop("k", u32(0), u32(4), {if_(gid(0), {break_()})}), barrier()})}), kOk);
}
TEST(V010, rejects_every_barrier_of_a_loop_that_some_leave_early) {
  EXPECT_EQ(with({loop("k", u32(0), u32(4), {barrier(), if_(gid(0), {break_()}), block({barrier()})})}),
            (Found{"V010 at entry[0].body[0]", "V010 at entry[0].body[2].body[0]"}));
  EXPECT_EQ(with({loop("k", u32(0), u32(4), {if_(wid(0), {if_(gid(0), {break_()})}, {barrier()})})}),
            Found{"V010 at entry[0].body[0].otherwise[0]"});
  EXPECT_EQ(with({loop("i", u32(0), u32(4), {if_(gid(0), {break_()}), loop("k", u32(0), u32(4), {barrier()})})}),
            Found{"V010 at entry[0].body[1].body[0]"});
}
TEST(V010, counts_what_a_loop_that_some_leave_early_assigns_as_divergent) {
  EXPECT_EQ(
      with({let("x", u32(0)), loop("k", u32(0), u32(4), {assign("x", var("k")), if_(gid(0), {break_()})}), if_(var("x"), {barrier()})}),
      Found{"V010 at entry[2].then[0]"});
  EXPECT_EQ(
      with({let("x", u32(0)), loop("k", u32(0), u32(4), {assign("x", var("k")), if_(wid(0), {break_()})}), if_(var("x"), {barrier()})}),
      kOk);
}
TEST(V010, rejects_barriers_after_a_return_that_only_those_reach_who_stayed_in_the_loop) {
  EXPECT_EQ(with({loop("k", u32(0), u32(4), {if_(gid(0), {break_()}), if_(wid(0), {return_()})}), barrier()}), Found{"V010 at entry[1]"});
}
TEST(V010, is_left_out_for_checked_execution) {
  validate::Options options;
  options.uniformity = false;
  const validate::Verdict verdict = validate::validate(base().add(guarded(gid(0))).make(), {}, options);
  EXPECT_TRUE(verdict.diagnostics.empty());
  EXPECT_TRUE(verdict.program.has_value());
}
TEST(V010, takes_what_an_earlier_error_hides_as_uniform) {
  EXPECT_EQ(rules(base().add(guarded(var("nowhere"))).make()), Found{"V006"});
  EXPECT_EQ(rules(Sample().size(0, 2).add(guarded(gid(0))).make()), Found{"V003"});
  EXPECT_EQ(rules(Sample().size(0, 2).add(guarded(gid(1))).make()), (Found{"V003", "V010"}));
}

TEST(V026, accepts_a_return_at_the_end_of_a_list) {
  EXPECT_EQ(found(Sample().add(if_(u32(1), {return_()}, {return_()})).add(block({return_()})).add(return_()).make()), kOk);
}
TEST(V026, rejects_statements_after_a_return_once_a_list) {
  EXPECT_EQ(found(Sample().add({return_(), let("x", u32(1)), return_(), let("y", u32(1))}).make()),
            Found{said("V026", "statement after return is unreachable", "remove it or move it before the return")});
  EXPECT_EQ(places(Sample().add({return_(), block({return_(), barrier()}), let("y", u32(1))}).make()),
            (Found{"V026 at entry[1]", "V026 at entry[1].body[1]"}));
  EXPECT_EQ(places(Sample().add(if_(u32(1), {return_(), barrier()}, {return_(), barrier()})).make()),
            (Found{"V026 at entry[0].then[1]", "V026 at entry[0].otherwise[1]"}));
}

TEST(V038, accepts_a_break_at_the_end_of_a_list_in_a_loop) {
  EXPECT_EQ(found(Sample().add(loop("k", u32(0), u32(4), {if_(var("k"), {break_()}, {block({break_()})})})).make()), kOk);
  EXPECT_EQ(found(Sample().add(loop("k", u32(0), u32(4), {loop("j", u32(0), u32(4), {break_()}), let("x", u32(1)), break_()})).make()),
            kOk);
}
TEST(V038, rejects_a_break_outside_of_a_loop) {
  const std::string outside = said("V038", "break outside of a loop", "move it into a Loop body");
  EXPECT_EQ(found(Sample().add(break_()).make()), Found{outside});
  // It leaves nothing, so what follows it is reached.
  EXPECT_EQ(found(Sample().add({if_(u32(1), {break_(), let("x", u32(1))})}).make()), Found{outside});
  EXPECT_EQ(places(Sample().add({loop("k", u32(0), u32(4), {}), block({break_()}), break_()}).make()),
            (Found{"V038 at entry[1].body[0]", "V038 at entry[2]"}));
}
TEST(V038, rejects_statements_after_a_break_once_a_list) {
  EXPECT_EQ(found(Sample().add(loop("k", u32(0), u32(4), {break_(), let("x", u32(1)), break_(), let("y", u32(1))})).make()),
            Found{said("V038", "statement after break is unreachable", "remove it or move it before the break")});
  EXPECT_EQ(places(Sample().add(loop("k", u32(0), u32(4), {if_(u32(1), {break_(), barrier()}, {break_(), barrier()})})).make()),
            (Found{"V038 at entry[0].body[0].then[1]", "V038 at entry[0].body[0].otherwise[1]"}));
}
TEST(V038, rejects_what_follows_the_first_of_a_break_and_a_return) {
  EXPECT_EQ(places(Sample().add(loop("k", u32(0), u32(4), {break_(), return_()})).make()), Found{"V038 at entry[0].body[1]"});
  EXPECT_EQ(places(Sample().add(loop("k", u32(0), u32(4), {return_(), break_()})).make()), Found{"V026 at entry[0].body[1]"});
  EXPECT_EQ(places(Sample().add({return_(), break_()}).make()), Found{"V026 at entry[1]"});
}
TEST(V038, accepts_a_break_in_a_loop_of_an_operation) {
  const auto with_body = [](const List& body) {
    return found(Sample().add(let("x", call("t.op", {u32(1)}))).make(), table({op_with("t.op", {DataType::U32}, DataType::U32, body)}));
  };
  EXPECT_EQ(with_body({loop("k", u32(0), u32(9), {if_(var("p0"), {break_()})}), let("r", u32(1))}), Found{});
}

}  // namespace
}  // namespace vyre
