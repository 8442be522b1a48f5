#include <gtest/gtest.h>

#include "../support/found.hpp"
#include "../support/programs/programs.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre {
namespace {

using namespace sample;

TEST(V004, accepts_declared_buffers) {
  EXPECT_EQ(found(Sample().in("a").out("b").add(store("b", len("a"), load("a", u32(0)))).make()), Found{});
}
TEST(V004, rejects_load_from_unknown_buffer) {
  EXPECT_EQ(found(Sample().add(let("v", load("x", u32(0)))).make()),
            Found{said("V004", "load from unknown buffer `x`", "declare it in Program::buffers")});
}
TEST(V004, rejects_buflen_of_unknown_buffer) {
  EXPECT_EQ(found(Sample().add(let("v", len("x"))).make()),
            Found{said("V004", "buflen of unknown buffer `x`", "declare it in Program::buffers")});
}
TEST(V004, rejects_atomic_on_unknown_buffer) {
  EXPECT_EQ(found(Sample().add(let("v", atomic(AtomicOp::Add, "x", u32(0), u32(1)))).make()),
            Found{said("V004", "atomic on unknown buffer `x`", "declare it in Program::buffers")});
}
TEST(V004, rejects_store_to_unknown_buffer) {
  EXPECT_EQ(found(Sample().add(store("x", u32(0), i32(1))).make()),
            Found{said("V004", "store to unknown buffer `x`", "declare it in Program::buffers")});
}
TEST(V004, rejects_a_local_used_as_a_buffer) {
  EXPECT_EQ(rules(Sample().add(let("x", u32(1))).add(let("v", len("x"))).make()), Found{"V004"});
}

TEST(V006, accepts_a_variable_after_its_let_and_in_inner_blocks) {
  EXPECT_EQ(found(Sample().out("o").add(let("x", u32(1))).add(block({if_(var("x"), {store("o", var("x"), var("x"))})})).make()), Found{});
}
TEST(V006, accepts_a_loop_variable_in_its_body) {
  EXPECT_EQ(found(Sample().out("o").add(loop("k", u32(0), u32(4), {store("o", var("k"), var("k"))})).make()), Found{});
}
TEST(V006, rejects_reference_to_undeclared_variable) {
  EXPECT_EQ(found(Sample().add(let("y", var("x"))).make()),
            Found{said("V006", "reference to undeclared variable `x`", "add `let x = ...;` before this use")});
}
TEST(V006, rejects_every_occurrence) {
  EXPECT_EQ(places(Sample().add(let("y", var("x") + var("x"))).add(let("z", var("x"))).make()),
            (Found{"V006 at entry[0].value.left", "V006 at entry[0].value.right", "V006 at entry[1].value"}));
}
TEST(V006, rejects_assignment_to_undeclared_variable) {
  EXPECT_EQ(found(Sample().add(assign("x", u32(1))).make()),
            Found{said("V006", "assignment to undeclared variable `x`", "add `let x = ...;` before this assignment")});
}
TEST(V006, rejects_a_variable_in_its_own_initialiser) { EXPECT_EQ(rules(Sample().add(let("x", var("x"))).make()), Found{"V006"}); }
TEST(V006, rejects_a_variable_after_its_block) {
  EXPECT_EQ(rules(Sample().add(if_(u32(1), {let("x", u32(1))}, {let("y", var("x"))})).add(let("z", var("x"))).make()),
            (Found{"V006", "V006"}));
}
TEST(V006, rejects_a_loop_variable_in_its_bounds_and_after_the_loop) {
  EXPECT_EQ(places(Sample().add(loop("k", u32(0), var("k"), {})).add(let("z", var("k"))).make()),
            (Found{"V006 at entry[0].to", "V006 at entry[1].value"}));
}
TEST(V006, rejects_a_buffer_used_as_a_variable) { EXPECT_EQ(rules(Sample().in("a").add(let("x", var("a"))).make()), Found{"V006"}); }
TEST(V006, rejects_a_shared_expression_only_where_its_variable_is_out_of_scope) {
  const ExprHandle x = var("x");
  EXPECT_EQ(places(Sample().add(block({let("x", u32(1)), let("y", x)})).add(let("z", x)).make()), Found{"V006 at entry[1].value"});
}

TEST(V007, accepts_axes_0_to_2) { EXPECT_EQ(found(Sample().add(let("v", gid(0) + wid(1) + lid(2))).make()), Found{}); }
TEST(V007, rejects_other_axes_of_each_id) {
  EXPECT_EQ(found(Sample().add(let("v", gid(3) + wid(4) + lid(4294967295u))).make()),
            (Found{said("V007", "invocation/workgroup ID axis 3 out of range", "use 0 (x), 1 (y), or 2 (z)"),
                   said("V007", "invocation/workgroup ID axis 4 out of range", "use 0 (x), 1 (y), or 2 (z)"),
                   said("V007", "invocation/workgroup ID axis 4294967295 out of range", "use 0 (x), 1 (y), or 2 (z)")}));
}

TEST(V008, accepts_a_name_again_after_its_block) {
  EXPECT_EQ(found(Sample().add(block({let("x", u32(1))})).add(loop("x", u32(0), u32(1), {})).add(let("x", i32(1))).make()), Found{});
}
TEST(V008, rejects_a_second_let_of_a_live_name) {
  EXPECT_EQ(found(Sample().add(let("x", u32(1))).add(let("x", u32(2))).make()),
            Found{said("V008", "duplicate local binding `x`", "choose a unique local name; shadowing is not allowed")});
}
TEST(V008, rejects_a_let_in_an_inner_block) {
  EXPECT_EQ(places(Sample().add(let("x", u32(1))).add(block({let("x", u32(2))})).make()), Found{"V008 at entry[1].body[0]"});
}
TEST(V008, rejects_a_loop_variable_of_a_live_name) {
  EXPECT_EQ(rules(Sample().add(let("k", u32(1))).add(loop("k", u32(0), u32(2), {})).make()), Found{"V008"});
  EXPECT_EQ(rules(Sample().add(loop("k", u32(0), u32(2), {let("k", u32(1))})).make()), Found{"V008"});
}
TEST(V008, leaves_the_first_binding_in_force) {
  EXPECT_EQ(
      rules(Sample().add(let("x", u32(1))).add(block({let("x", i32(2)), let("y", var("x") + u32(1))})).add(assign("x", u32(3))).make()),
      Found{"V008"});
}

TEST(V011, accepts_assignment_to_a_let_from_within_a_loop) {
  EXPECT_EQ(found(Sample().add(let("sum", u32(0))).add(loop("k", u32(0), u32(9), {assign("sum", var("sum") + var("k"))})).make()), Found{});
}
TEST(V011, rejects_assignment_to_loop_variable) {
  EXPECT_EQ(found(Sample().add(loop("k", u32(0), u32(2), {assign("k", u32(1))})).make()),
            Found{said("V011", "assignment to loop variable `k`", "loop variables are immutable")});
}
TEST(V011, hides_V028) { EXPECT_EQ(rules(Sample().add(loop("k", u32(0), u32(2), {assign("k", i32(1))})).make()), Found{"V011"}); }

TEST(V033, accepts_any_other_name) {
  for (const char* name : {"main", "gl_in", "let", "a-b", "日本", "__call0_t", " ", "a\nb"}) {
    EXPECT_EQ(found(Sample().in(name).add(let(name, len(name))).make()), Found{}) << name;
  }
}
TEST(V033, rejects_an_empty_buffer_name) {
  EXPECT_EQ(found(Sample().in("a").in("").make()), Found{said("V033", "buffer 1 has an empty name", "give it a non-empty name")});
}
TEST(V033, rejects_empty_local_names_and_nothing_else_about_them) {
  EXPECT_EQ(found(Sample().add(let("", u32(1))).add(loop("", u32(0), var(""), {})).make()),
            (Found{said("V033", "local binding has an empty name", "give it a non-empty name"),
                   said("V033", "local binding has an empty name", "give it a non-empty name")}));
  EXPECT_EQ(rules(Sample().in("").out("").make()), (Found{"V033", "V033"}));
}
TEST(V033, rejects_NUL_in_names) {
  const std::string name("a\0b", 3);
  EXPECT_EQ(found(Sample().in(name).add(let(name, u32(1))).make()),
            (Found{said("V033", "name `a\\0b` contains NUL", "remove the NUL byte"),
                   said("V033", "name `a\\0b` contains NUL", "remove the NUL byte")}));
}

}  // namespace
}  // namespace vyre
