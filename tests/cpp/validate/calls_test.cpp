#include <gtest/gtest.h>

#include "../support/found.hpp"
#include "../support/programs/programs.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/ir/text/procedure_parse.hpp"

namespace vyre {
namespace {

using namespace sample;
constexpr DataType U32 = DataType::U32;

ir::Program calling(ExprHandle value) { return Sample().add(let("v", std::move(value))).make(); }
ir::OpSpec increment() { return op_with("t.inc", {U32}, U32, {let("r", var("p0") + u32(1))}); }
// An operation of one input that calls another.
ir::OpSpec passing(const std::string& id, const std::string& callee) {
  return op_with(id, {U32}, U32, {let("r", call(callee, {var("p0")}))});
}
// t.1 calls nothing, t.2 calls t.1, and so on.
ir::OpTable chain(int depth) {
  std::vector<ir::OpSpec> specs{op_with("t.1", {U32}, U32, {let("r", var("p0"))})};
  for (int k = 2; k <= depth; ++k) specs.push_back(passing("t." + std::to_string(k), "t." + std::to_string(k - 1)));
  return table(std::move(specs));
}

TEST(V016, accepts_registered_operations_with_and_without_version) {
  EXPECT_EQ(found(calling(call("t.inc", {u32(1)})), table({increment()})), Found{});
  EXPECT_EQ(found(calling(call("t.inc@1", {u32(1)})), table({increment()})), Found{});
}
TEST(V016, rejects_unknown_operations) {
  EXPECT_EQ(found(calling(call("t.nowhere", {}))),
            Found{said("V016", "V016: unknown op `t.nowhere`", "use a registered op id or add the op to core::ops::*")});
  EXPECT_EQ(rules(calling(call("t.inc@2", {u32(1)})), table({increment()})), Found{"V016"});
}
TEST(V016, rejects_a_call_whose_body_reaches_an_unknown_operation) {
  const auto ops = table({passing("t.a", "t.b"), passing("t.b", "t.gone")});
  EXPECT_EQ(found(calling(call("t.a", {u32(1)})), ops),
            Found{said("V016", "V016: unknown op `t.gone`", "use a registered op id or add the op to core::ops::*")});
}
TEST(V016, leaves_the_type_of_the_call_unknown) {
  EXPECT_EQ(rules(Sample().out("o").add(store("o", u32(0), call("t.nowhere", {i32(1)}))).make()), Found{"V016"});
}

const std::string kCallDepth =
    said("V017", "V017: call depth exceeds maximum of 32", "reduce call nesting or mutually recursive operations");

TEST(V017, accepts_depth_32) { EXPECT_EQ(found(calling(call("t.32", {u32(1)})), chain(40)), Found{}); }
TEST(V017, accepts_nested_arguments_of_any_depth) {
  ExprHandle value = u32(1);
  for (int k = 0; k < 100; ++k) value = call("t.inc", {value});
  EXPECT_EQ(found(calling(value), table({increment()})), Found{});
}
TEST(V017, rejects_depth_33_once_a_call) {
  EXPECT_EQ(found(calling(call("t.33", {u32(1)})), chain(33)), Found{kCallDepth});
  EXPECT_EQ(found(calling(call("t.33", {call("t.40", {u32(1)})})), chain(40)), (Found{kCallDepth, kCallDepth}));
}
TEST(V017, rejects_a_call_that_statements_share_once) {
  const ExprHandle shared = call("t.33", {u32(1)}), other = call("t.33", {u32(1)});
  const ir::Program program = Sample().add({let("a", shared), let("b", shared), let("c", other)}).make();
  const validate::Verdict verdict = validate::validate(program, chain(33));
  ASSERT_EQ(verdict.diagnostics.size(), 2u);
  EXPECT_EQ(verdict.diagnostics[0].place.path, "entry[0].value");
  EXPECT_EQ(verdict.diagnostics[1].place.path, "entry[2].value");
}
TEST(V017, rejects_cycles_and_what_reaches_them) {
  const auto ops =
      table({passing("t.a", "t.b"), passing("t.b", "t.a"), passing("t.self", "t.self"), passing("t.to_a", "t.a"), increment()});
  for (const char* id : {"t.a", "t.b", "t.self", "t.to_a"}) EXPECT_EQ(found(calling(call(id, {u32(1)})), ops), Found{kCallDepth}) << id;
  EXPECT_EQ(found(calling(call("t.inc", {u32(1)})), ops), Found{});
}
TEST(V017, rejects_an_operation_that_can_only_be_called_too_deep) {
  EXPECT_EQ(found_in(passing("t.new", "t.31"), chain(32)), Found{});
  EXPECT_EQ(found_in(passing("t.new", "t.32"), chain(32)), Found{kCallDepth});
  EXPECT_EQ(found_in(passing("t.new", "t.new")), Found{kCallDepth});
}

TEST(V020, accepts_operations_with_a_body) { EXPECT_EQ(found(calling(call("t.inc", {u32(1)})), table({increment()})), Found{}); }
TEST(V020, rejects_operations_that_are_dispatched) {
  const auto ops = table({op_without_body("t.sort", {U32}, U32)});
  EXPECT_EQ(found(calling(call("t.sort", {u32(1)})), ops),
            Found{said("V020", "V020: call to non-inlinable op `t.sort` is rejected by validation",
                       "lower this operation through its dedicated backend path or rewrite the caller with explicit IR")});
}

TEST(V032, accepts_arguments_of_the_signature) {
  const auto ops = table({op_with("t.mix", {U32, DataType::Bool, DataType::Vec2U32}, DataType::Vec2U32, {let("r", var("p2"))})});
  EXPECT_EQ(found(calling(call("t.mix", {u32(1), boolean(true), pack(DataType::Vec2U32, {u32(1), u32(2)})})), ops), Found{});
}
TEST(V032, rejects_other_numbers_of_arguments) {
  const auto ops = table({increment()});
  EXPECT_EQ(found(calling(call("t.inc", {i32(1), u32(2)})), ops),
            Found{said("V032", "call to `t.inc` has 2 arguments", "pass 1 arguments to t.inc")});
  EXPECT_EQ(found(calling(call("t.inc", {})), ops), Found{said("V032", "call to `t.inc` has 0 arguments", "pass 1 arguments to t.inc")});
}
TEST(V032, rejects_arguments_of_another_type) {
  const auto ops = table({op_with("t.add", {U32, U32}, U32, {let("r", var("p0") + var("p1"))})});
  EXPECT_EQ(found(calling(call("t.add", {u32(1), boolean(true)})), ops),
            Found{said("V032", "argument 1 of `t.add` must be `u32`, got `bool`",
                       "insert Cast { target: U32, value } or call an op with a Bool input")});
}
TEST(V032, gives_the_call_its_output_type) {
  const auto ops = table({op_with("t.wide", {U32}, DataType::U64, {let("r", cast(DataType::U64, var("p0")))})});
  EXPECT_EQ(rules(Sample().out("o").add(store("o", u32(0), call("t.wide", {u32(1)}))).make(), ops), Found{"V028"});
}

TEST(V034, accepts_a_body_of_statements_and_calls) {
  const auto ops = table({increment()});
  EXPECT_EQ(found_in(op_with("t.op", {U32}, U32,
                             {let("t", call("t.inc", {var("p0")})),
                              loop("k", u32(0), var("t"), {if_(var("k") < u32(3), {assign("t", var("t") + var("k"))}, {block({})})}),
                              assign("p0", var("t")), let("r", var("p0"))}),
                     ops),
            Found{});
}
TEST(V034, rejects_buffer_access) {
  const std::string sentence =
      said("V034", "buffer access in scalar call `t.op`", "expose the required value as an argument or compose at Program level");
  EXPECT_EQ(found_in(op_with("t.op", {}, U32, {let("r", load("a", i32(0)))})), Found{sentence});
  EXPECT_EQ(found_in(op_with("t.op", {}, U32, {let("r", len("a"))})), Found{sentence});
  EXPECT_EQ(found_in(op_with("t.op", {}, U32, {store("a", i32(0), u32(1)), let("r", u32(1))})), Found{sentence});
}
TEST(V034, rejects_what_belongs_to_the_caller) {
  auto sentence = [](const std::string& what) {
    return Found{said("V034", what + " in operation `t.op`", "compute it in the caller and pass it as an argument")};
  };
  EXPECT_EQ(found_in(op_with("t.op", {}, U32, {barrier(), let("r", u32(1))})), sentence("barrier"));
  EXPECT_EQ(found_in(op_with("t.op", {}, U32, {return_(), let("r", u32(1))})), sentence("return"));
  for (const ExprHandle& id : {gid(0), wid(1), lid(7)}) {
    EXPECT_EQ(found_in(op_with("t.op", {}, U32, {let("r", id)})), sentence("invocation id"));
  }
  EXPECT_EQ(found_in(op_with("t.op", {}, U32, {let("r", atomic(AtomicOp::Add, "a", u32(0), u32(1)))})), sentence("atomic"));
}
TEST(V034, rejects_declared_buffers) {
  ir::OpSpec spec = increment();
  spec.function().body = Sample().in("a").add(let("r", var("p0"))).make();
  EXPECT_EQ(found_in(spec), Found{said("V034", "buffer access in scalar call `t.inc`",
                                       "expose the required value as an argument or compose at Program level")});
}
TEST(V034, rejects_a_body_without_result) {
  const Found sentence{said("V034", "operation `t.op` has no result", "end its body with the Let that computes it")};
  EXPECT_EQ(found_in(op_with("t.op", {}, U32, {})), sentence);
  EXPECT_EQ(found_in(op_with("t.op", {}, U32, {let("r", u32(1)), assign("r", u32(2))})), sentence);
  EXPECT_EQ(found_in(op_with("t.op", {}, U32, {block({let("r", u32(1))})})), sentence);
}
TEST(V034, rejects_a_result_of_another_type) {
  EXPECT_EQ(found_in(op_with("t.op", {}, DataType::Bool, {let("r", u32(1))})),
            Found{said("V034", "result of `t.op` must be `bool`, got `u32`", "cast or rewrite the result to produce Bool")});
}
TEST(V034, rejects_parameters_that_do_not_fit_the_signature) {
  ir::OpSpec spec = increment();
  spec.function().parameters.push_back("extra");
  EXPECT_EQ(found_in(spec), Found{said("V034", "operation `t.inc` has 2 parameters for 1 inputs", "name one parameter for each input")});
}
TEST(V034, is_not_asked_of_operations_without_body) { EXPECT_EQ(found_in(op_without_body("t.sort", {}, U32)), Found{}); }

TEST(V020, rejects_a_procedure_whatever_its_arguments_are) {
  ir::OpSpec whole;
  whole.id = "t.whole";
  whole.work = ir::parse_procedure("vyre 1\nprocedure \"whole\"\nin_out x: u32[]\nclear x\n");
  const auto ops = table({whole});
  const Found rejected{said("V020", "V020: call to non-inlinable op `t.whole` is rejected by validation",
                            "lower this operation through its dedicated backend path or rewrite the caller with explicit IR")};
  EXPECT_EQ(found(calling(call("t.whole", {})), ops), rejected);
  EXPECT_EQ(found(calling(call("t.whole", {i32(1), u32(2)}) + u32(1)), ops), rejected);
}

TEST(Bodies, keep_the_rules_of_programs) {
  EXPECT_EQ(found_in(op_with("t.op", {U32}, U32, {let("p0", u32(1)), let("x", var("y")), let("r", i32(1) + u32(1))})),
            (Found{said("V008", "duplicate local binding `p0`", "choose a unique local name; shadowing is not allowed"),
                   said("V006", "reference to undeclared variable `y`", "add `let y = ...;` before this use"),
                   said("V021", "binary operation left operand must be `u32`, got `i32`", "cast or rewrite the operand to produce U32")}));
  ir::OpSpec twice = op_with("t.op", {U32, U32}, U32, {let("r", var("a"))});
  twice.function().parameters = {"a", "a"};
  EXPECT_EQ(found_in(twice), Found{said("V008", "duplicate local binding `a`", "choose a unique local name; shadowing is not allowed")});
}
TEST(Bodies, that_break_a_rule_are_reported_at_the_call) {
  const auto ops = table({op_with("t.bad", {U32}, U32, {let("r", i32(1) + var("p0"))}), passing("t.over", "t.bad")});
  EXPECT_EQ(found(calling(call("t.over", {u32(1)})), ops),
            Found{said("V021", "binary operation left operand must be `u32`, got `i32`", "cast or rewrite the operand to produce U32")});
  EXPECT_EQ(places(calling(call("t.over", {u32(1)})), ops), Found{"V021 at entry[0].value"});
}
TEST(Bodies, may_call_an_older_version_of_themselves) {
  ir::OpSpec newer = passing("t.inc", "t.inc@1");
  newer.version = 2;
  EXPECT_EQ(found_in(newer, table({increment()})), Found{});
  ir::OpSpec circular = passing("t.inc", "t.inc");
  circular.version = 2;
  EXPECT_EQ(found_in(circular, table({increment()})), Found{kCallDepth});
}

}  // namespace
}  // namespace vyre
