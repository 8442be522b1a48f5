// Programs as large as a user can make them: linear time, no recursion. V017, V018 and V019 at their limits.
#include <gtest/gtest.h>
#include <pthread.h>

#include <ctime>

#include "../support/found.hpp"
#include "../support/patience.hpp"
#include "../support/programs/programs.hpp"
#include "vyre/ir/builder.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre {
namespace {

using namespace sample;
constexpr DataType U32 = DataType::U32;

const std::string kNodeCount = said("V019", "V019: program has more than 100000 statement nodes",
                                    "split the program into smaller kernels or run an optimization pass before lowering");
std::string nesting(std::uint32_t depth) {
  return said("V018", "V018: program nesting depth " + std::to_string(depth) + " exceeds max 64",
              "flatten nested If/Loop/Block structures or split the program before lowering");
}

// A chain of that many expressions.
ExprHandle chain(std::uint32_t length, ExprHandle end = u32(1)) {
  for (std::uint32_t k = 1; k < length; ++k) end = un(UnOp::BitNot, end);
  return end;
}
ir::Program nested(std::uint32_t depth) {
  ir::ProgramBuilder builder;
  for (std::uint32_t k = 0; k < depth; ++k) builder.block();
  for (std::uint32_t k = 0; k < depth; ++k) builder.end();
  return builder.finish();
}

// Fails when the rest of its scope takes more than 2 s of processor time: quadratic work on these programs takes minutes.
class Quick {
 public:
  ~Quick() { EXPECT_LT(std::clock() - start_, 2 * test::patience() * CLOCKS_PER_SEC); }

 private:
  std::clock_t start_ = std::clock();
};

TEST(V018, accepts_depth_64) { EXPECT_EQ(found(nested(64)), Found{}); }
TEST(V018, accepts_else_beside_then) {
  List body;
  for (int k = 0; k < 64; ++k) body = {if_(u32(1), body, {let("x", u32(1))})};
  EXPECT_EQ(found(Sample().add(body).make()), Found{});
}
TEST(V018, rejects_depth_65_once_with_the_deepest) {
  EXPECT_EQ(found(nested(65)), Found{nesting(65)});
  EXPECT_EQ(found(nested(80)), Found{nesting(80)});
  const validate::Verdict verdict = validate::validate(nested(80), {});
  EXPECT_TRUE(verdict.diagnostics[0].place.path.ends_with("...body[0].body[0].body[0].body[0].body[0].body[0].body[0].body[0]"));
}
TEST(V018, counts_ifs_and_loops) {
  List body;
  for (int k = 0; k < 33; ++k) body = {if_(u32(1), {loop("i" + std::to_string(k), u32(0), u32(1), body)})};
  EXPECT_EQ(found(Sample().add(body).make()), Found{nesting(66)});
}
TEST(V018, rejects_a_million_nested_blocks) {
  const ir::Program program = nested(1'000'000);
  Quick quick;
  EXPECT_EQ(found(program), (Found{nesting(1'000'000), kNodeCount}));
}

TEST(V019, accepts_exactly_100000_nodes) { EXPECT_EQ(found(Sample().add(let("x", chain(99'999))).make()), Found{}); }
TEST(V019, rejects_100001_nodes) { EXPECT_EQ(found(Sample().add(let("x", chain(100'000))).make()), Found{kNodeCount}); }
TEST(V019, counts_statements_but_neither_else_nor_end) {
  auto program = [](std::uint32_t barriers) {
    Sample sample;  // 2 + 1 + 1 + barriers
    sample.add(if_(u32(1), {barrier()}, {barrier()}));
    for (std::uint32_t k = 0; k < barriers; ++k) sample.add(barrier());
    return sample.make();
  };
  EXPECT_EQ(found(program(99'996)), Found{});
  EXPECT_EQ(found(program(99'997)), Found{kNodeCount});
}
TEST(V019, counts_a_shared_expression_once_a_statement) {
  ExprHandle x = u32(1);
  for (int k = 0; k < 64; ++k) x = x + x;  // 65 nodes stand for 2^65
  auto program = [&](std::uint32_t statements) {
    Sample sample;
    for (std::uint32_t k = 0; k < statements; ++k) sample.add(block({let("x", x)}));  // 67 each
    return sample.make();
  };
  EXPECT_EQ(found(program(1)), Found{});
  EXPECT_EQ(found(program(1492)), Found{});
  EXPECT_EQ(found(program(1493)), Found{kNodeCount});
}
TEST(V019, stops_counting_when_many_statements_share_a_long_chain) {
  const ExprHandle shared = chain(90'000);
  Sample sample;
  sample.out("o");
  for (int k = 0; k < 90'000; ++k) sample.add(store("o", u32(0), shared));
  const ir::Program program = sample.make();
  Quick quick;
  EXPECT_EQ(found(program), Found{kNodeCount});
}
TEST(V019, leaves_declaration_rules_and_V018_only) {
  Sample sample;
  sample.in("a").in("a").in("").size(0).add(store("a", var("x"), i32(1)));
  for (int k = 0; k < 100'000; ++k) sample.add(barrier());
  EXPECT_EQ(rules(sample.make()), (Found{"V001", "V033", "V003", "V019"}));
}
TEST(V019, is_not_asked_of_our_own_passes) {
  validate::Options options;
  options.limits = false;
  EXPECT_TRUE(validate::validate(Sample().add(let("x", chain(200'000))).make(), {}, options).program.has_value());
  EXPECT_TRUE(validate::validate(nested(100), {}, options).program.has_value());
}

TEST(Scale, chains_of_99000_are_valid) {
  const ir::Program program = Sample().out("o").add(store("o", u32(0), chain(99'000))).make();
  Quick quick;
  EXPECT_EQ(found(program), Found{});
}
TEST(Scale, an_error_in_every_statement_is_reported) {
  Sample sample;
  for (int k = 0; k < 50'000; ++k) sample.add(assign("x", u32(1)));
  const ir::Program program = sample.make();
  Quick quick;
  EXPECT_EQ(found(program).size(), 50'000u);
}
TEST(Scale, a_long_name_is_shortened_where_it_is_said) {
  // Seen: 100,000 bytes of name in 4,000 statements gave 400 MB of sentences.
  std::string name = "x";
  for (int k = 0; k < 50'000; ++k) name += "\xC3\xA9";  // é, whose halves mean nothing
  name += "y";
  Sample sample;
  for (int k = 0; k < 4'000; ++k) sample.add(assign(name, u32(1)));
  const auto all = validate::validate(sample.make(), {}).diagnostics;
  ASSERT_EQ(all.size(), 4'000u);
  std::string end;
  for (int k = 0; k < 49; ++k) end += "\xC3\xA9";
  const std::string shown = "x" + end + "..." + end + "y";
  EXPECT_EQ(lines(all).front(),
            said("V006", "assignment to undeclared variable `" + shown + "`", "add `let " + shown + " = ...;` before this assignment"));
}
TEST(Scale, an_error_in_every_expression_of_one_statement_is_reported) {
  ExprHandle value = u32(1);
  for (int k = 0; k < 49'000; ++k) value = value + boolean(true);
  const ir::Program program = Sample().add(let("x", value)).make();
  Quick quick;
  EXPECT_EQ(found(program).size(), 49'000u);
}
TEST(Scale, an_error_at_every_depth_is_reported) {
  ir::ProgramBuilder builder;
  for (int k = 0; k < 45'000; ++k) {
    builder.block();
    builder.assign(builder.name("x"), builder.add(ir::Literal::u32(1)));
  }
  for (int k = 0; k < 45'000; ++k) builder.end();
  validate::Options options;
  options.limits = false;
  const ir::Program program = builder.finish();
  Quick quick;
  EXPECT_EQ(validate::validate(program, {}, options).diagnostics.size(), 45'000u);
}
TEST(Scale, a_list_that_names_one_operand_100000_times_may_be_shared) {
  const ExprHandle wide = pack(DataType::Vec4U32, std::vector<ExprHandle>(100'000, u32(1)));
  Sample sample;
  for (int k = 0; k < 33'000; ++k) sample.add(block({let("x", wide)}));
  EXPECT_EQ(rules(sample.make()), Found{"V019"});
  Sample fewer;
  for (int k = 0; k < 20'000; ++k) fewer.add(block({let("x", wide)}));
  const ir::Program program = fewer.make();
  Quick quick;
  const Found all = places(program);
  EXPECT_EQ(all.size(), 20'000u);
  EXPECT_EQ(all.front(), "V027 at entry[0].body[0].value");
}
TEST(Scale, divergence_is_followed_through_long_loops) {
  // Each variable takes the next one's value, so divergence needs as many rounds as there are variables.
  Sample sample;
  sample.size(64);
  const int count = 10'000;
  List body{if_(var("x0"), {barrier()})};
  for (int k = 0; k < count; ++k) sample.add(let("x" + std::to_string(k), u32(0)));
  for (int k = 0; k + 1 < count; ++k) body.push_back(assign("x" + std::to_string(k), var("x" + std::to_string(k + 1))));
  body.push_back(assign("x" + std::to_string(count - 1), lid(0)));
  const ir::Program program = sample.add(loop("k", u32(0), u32(9), body)).make();
  Quick quick;
  EXPECT_EQ(rules(program), Found{"V010"});
}
TEST(Scale, needs_little_stack) {
  ExprHandle value = var("x");
  for (int k = 0; k < 90'000; ++k) value = un(UnOp::BitNot, value);
  const ir::Program programs[] = {Sample().add(let("v", value)).make(), nested(1'000'000)};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 512 * 1024), 0);
  pthread_t thread;
  auto run = [](void* argument) -> void* {
    for (int k = 0; k < 2; ++k) EXPECT_FALSE(validate::validate(static_cast<const ir::Program*>(argument)[k], {}).diagnostics.empty());
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, const_cast<ir::Program*>(programs)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}
TEST(Scale, operations_with_2_to_the_32_call_paths_are_examined_once) {
  std::vector<ir::OpSpec> specs{op_with("t.1", {U32}, U32, {let("r", var("p0"))})};
  for (int k = 2; k <= 32; ++k) {
    const std::string below = "t." + std::to_string(k - 1);
    specs.push_back(op_with("t." + std::to_string(k), {U32}, U32, {let("r", call(below, {var("p0")}) + call(below, {var("p0")}))}));
  }
  const ir::OpTable ops = table(std::move(specs));
  const ir::Program program = Sample().add(let("v", call("t.32", {u32(1)}))).make();
  Quick quick;
  EXPECT_EQ(found(program, ops), Found{});
}
TEST(Scale, many_calls_of_an_operation_with_many_endless_calls) {
  const auto calls = [](const std::string& id) {
    List body;
    for (int k = 0; k < 49'000; ++k) body.push_back(let("v" + std::to_string(k), call(id, {})));
    return body;
  };
  const ir::OpTable ops =
      table({op_with("t.endless", {}, U32, {let("r", call("t.endless", {}))}), op_with("t.many", {}, U32, calls("t.endless"))});
  const ir::Program program = Sample().add(calls("t.many")).make();
  Quick quick;
  EXPECT_EQ(validate::validate(program, ops).diagnostics.size(), 49'000u);
}
TEST(Scale, a_chain_of_2000_operations_is_too_deep) {
  ir::OpTable ops;
  std::vector<ir::OpSpec> specs;
  for (int k = 0; k < 2'000; ++k) {
    specs.push_back(op_with("t." + std::to_string(k), {U32}, U32, {let("r", call("t." + std::to_string(k + 1), {var("p0")}))}));
  }
  specs.push_back(op_with("t.2000", {U32}, U32, {let("r", var("p0"))}));
  ops = table(std::move(specs));
  const ir::Program program = Sample().add(let("v", call("t.0", {u32(1)}))).make();
  Quick quick;
  EXPECT_EQ(rules(program, ops), Found{"V017"});
}

}  // namespace
}  // namespace vyre
