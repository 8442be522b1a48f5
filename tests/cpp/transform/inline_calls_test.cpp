// What a call becomes (docs/semantics.md, Calls).
#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/patience.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/handles/handle.hpp"
#include "vyre/ir/handles/resolve.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/lower/lower.hpp"
#include "vyre/ops/standard.hpp"
#include "vyre/transform/passes.hpp"

namespace vyre::transform {
namespace {

using namespace ir;
using namespace ir::expr;
using validate::ValidProgram;

constexpr DataType kU32 = DataType::U32;

ExprHandle sum(ExprHandle a, ExprHandle b) { return binary(BinOp::Add, std::move(a), std::move(b)); }

OpTable::Spec op(std::string id, std::vector<std::string> parameters, std::vector<NodeHandle> body) {
  OpSpec spec;
  spec.id = std::move(id);
  spec.function().signature = {std::vector<DataType>(parameters.size(), kU32), kU32};
  spec.function().parameters = std::move(parameters);
  spec.function().body = make_program({}, {1, 1, 1}, body);
  return std::make_shared<const OpSpec>(std::move(spec));
}

// test.xor is one expression; test.twice has a local; test.clamp has control flow and assigns its parameter.
OpTable ops() {
  const ExprHandle a = var("a"), b = var("b"), t = var("t");
  return OpTable()
      .with(op("test.xor", {"a", "b"}, {node::let("r", binary(BinOp::BitXor, a, b))}))
      .with(op("test.first", {"a", "b"}, {node::let("r", a)}))
      .with(op("test.nested", {"a", "b"}, {node::let("r", unary(UnOp::Popcount, call("test.xor", {a, b})))}))
      .with(op("test.twice", {"a"}, {node::let("t", sum(a, a)), node::let("r", sum(t, u32(1)))}))
      .with(op("test.clamp", {"a"},
               {node::if_(binary(BinOp::Gt, a, u32(9)), {node::assign("a", u32(9))}), node::let("r", call("test.xor", {a, u32(1)}))}));
}

Program program(std::vector<NodeHandle> entry) {
  return make_program({BufferDecl::read("in", 0, kU32), BufferDecl::read_write("out", 1, kU32), BufferDecl::read_write("count", 2, kU32)},
                      {1, 1, 1}, entry);
}

ValidProgram valid(const Program& program, const OpTable& table) {
  const validate::Verdict verdict = validate::validate(program, table);
  for (const Diagnostic& diagnostic : verdict.diagnostics) ADD_FAILURE() << to_string(diagnostic);
  return verdict.program.value();
}

// Both programs, so that a test can say what a call becomes in the words of programs.
void expect_inlined(std::vector<NodeHandle> entry, std::vector<NodeHandle> expected) {
  const ValidProgram inlined = inline_calls(valid(program(std::move(entry)), ops()));
  EXPECT_EQ(to_text(inlined.program()), to_text(program(std::move(expected))));
}

ExprHandle counted() { return atomic(AtomicOp::Add, "count", u32(0), {}, u32(1)); }

TEST(InlineCalls, a_body_of_one_expression_takes_the_place_of_the_call) {
  expect_inlined({node::store("out", u32(0), call("test.xor", {load("in", u32(0)), load("in", u32(1))}))},
                 {node::store("out", u32(0), binary(BinOp::BitXor, load("in", u32(0)), load("in", u32(1))))});
  expect_inlined({node::store("out", u32(0), call("test.nested", {load("out", u32(0)), gid(0)}))},
                 {node::store("out", u32(0), unary(UnOp::Popcount, binary(BinOp::BitXor, load("out", u32(0)), gid(0))))});
}

TEST(InlineCalls, other_bodies_become_statements_with_fresh_names) {
  const ExprHandle a = var("__call0_a");
  expect_inlined({node::store("out", u32(0), call("test.twice", {gid(0)}))},
                 {node::let("__call0_a", gid(0)), node::let("__call0_t", sum(a, a)), node::let("__call0_r", sum(var("__call0_t"), u32(1))),
                  node::store("out", u32(0), var("__call0_r"))});
}

TEST(InlineCalls, a_user_may_have_our_names) {
  const ExprHandle a = var("__call2_a");
  expect_inlined({node::let("__call0_t", gid(1)), node::block({node::let("__call1_", gid(2))}),
                  node::store("out", var("__call0_t"), call("test.twice", {gid(0)}))},
                 {node::let("__call0_t", gid(1)), node::block({node::let("__call1_", gid(2))}), node::let("__call2_a", gid(0)),
                  node::let("__call2_t", sum(a, a)), node::let("__call2_r", sum(var("__call2_t"), u32(1))),
                  node::store("out", var("__call0_t"), var("__call2_r"))});
}

TEST(InlineCalls, an_assigned_parameter_is_a_copy_of_the_argument) {
  expect_inlined({node::let("x", gid(0)), node::store("out", call("test.clamp", {var("x")}), var("x"))},
                 {node::let("x", gid(0)), node::let("__call0_a", var("x")),
                  node::if_(binary(BinOp::Gt, var("__call0_a"), u32(9)), {node::assign("__call0_a", u32(9))}),
                  node::let("__call0_r", binary(BinOp::BitXor, var("__call0_a"), u32(1))), node::store("out", var("__call0_r"), var("x"))});
}

TEST(InlineCalls, effects_before_a_call_stay_before_its_statements) {
  // count++ + out[0] + twice(count++) + count++
  const ExprHandle a = var("__call3_a");
  expect_inlined({node::store("out", u32(0), sum(sum(sum(counted(), load("out", u32(0))), call("test.twice", {counted()})), counted()))},
                 {node::let("__call0_value", counted()), node::let("__call1_value", load("out", u32(0))),
                  node::let("__call2_value", counted()), node::let("__call3_a", var("__call2_value")), node::let("__call3_t", sum(a, a)),
                  node::let("__call3_r", sum(var("__call3_t"), u32(1))),
                  node::store("out", u32(0), sum(sum(sum(var("__call0_value"), var("__call1_value")), var("__call3_r")), counted()))});
}

TEST(InlineCalls, an_argument_that_the_body_ignores_still_happens) {
  expect_inlined({node::store("out", u32(0), call("test.first", {gid(0), counted()}))},
                 {node::let("__call0_value", counted()), node::let("__call1_a", gid(0)), node::let("__call1_b", var("__call0_value")),
                  node::let("__call1_r", var("__call1_a")), node::store("out", u32(0), var("__call1_r"))});
}

TEST(InlineCalls, a_dividend_happens_once_whatever_the_remainder_is) {
  const ExprHandle dividend = cast(DataType::U64, counted());
  for (const std::uint64_t divisor : {std::uint64_t{1}, std::uint64_t{8}, std::uint64_t{1} << 32}) {
    for (const char* operation : {"primitive.u64.div", "primitive.u64.mod"}) {
      const ExprHandle rest = cast(DataType::U32, call(operation, {dividend, ir::expr::u64(divisor)}));
      const ValidProgram inlined = inline_calls(valid(program({node::store("out", u32(0), rest)}), ops::standard_ops()));
      const std::string text = to_text(optimize(inlined).program());
      EXPECT_NE(text.find("atomic_add"), std::string::npos) << text;
      EXPECT_EQ(text.find("atomic_add"), text.rfind("atomic_add")) << text;
    }
  }
}

TEST(InlineCalls, a_call_that_two_users_share_is_expanded_once) {
  const ExprHandle shared = call("test.twice", {gid(0)});
  const ExprHandle a = var("__call0_a"), r = var("__call0_r");
  expect_inlined({node::store("out", shared, sum(shared, shared))},
                 {node::let("__call0_a", gid(0)), node::let("__call0_t", sum(a, a)), node::let("__call0_r", sum(var("__call0_t"), u32(1))),
                  node::store("out", r, sum(r, r))});
}

TEST(InlineCalls, loop_bounds_and_conditions_are_evaluated_in_front) {
  const ExprHandle a = var("__call0_a"), b = var("__call1_a");
  expect_inlined({node::loop("k", u32(0), call("test.twice", {gid(0)}), {node::if_(call("test.twice", {var("k")}), {})})},
                 {node::let("__call0_a", gid(0)), node::let("__call0_t", sum(a, a)), node::let("__call0_r", sum(var("__call0_t"), u32(1))),
                  node::loop("k", u32(0), var("__call0_r"),
                             {node::let("__call1_a", var("k")), node::let("__call1_t", sum(b, b)),
                              node::let("__call1_r", sum(var("__call1_t"), u32(1))), node::if_(var("__call1_r"), {})})});
}

TEST(InlineCalls, growth_beyond_the_limits_is_an_error_that_names_the_operation) {
  // Each level calls the one below twice: 2^31 expansions, of something or of nothing.
  for (const bool empty : {false, true}) {
    OpTable table;
    const ExprHandle a = var("a");
    table = table.with(op("test.level0", {"a"}, {node::let("r", empty ? a : sum(a, u32(1)))}));
    for (int level = 1; level < 32; ++level) {
      const std::string below = "test.level" + std::to_string(level - 1);
      table = table.with(op("test.level" + std::to_string(level), {"a"}, {node::let("r", call(below, {call(below, {a})}))}));
    }
    const ValidProgram deep = valid(program({node::store("out", u32(0), call("test.level31", {gid(0)}))}), table);
    const std::clock_t start = std::clock();
    EXPECT_EQ(test::message_of<LoweringError>([&] { inline_calls(deep); }),
              "expanding `test.level31` makes the program larger than 100000 statements and expressions. Fix: call it less often, "
              "or split the program.");
    EXPECT_LT(std::clock() - start, test::patience() * CLOCKS_PER_SEC);
  }
}

TEST(InlineCalls, growth_counts_an_argument_as_often_as_it_is_evaluated) {
  // One literal is the argument for all 2000 parameters: a node that is made once and evaluated by 2000 Lets a call.
  std::vector<std::string> parameters;
  for (int k = 0; k < 2000; ++k) parameters.push_back("p" + std::to_string(k));
  const OpTable table = OpTable().with(op("test.wide", parameters, {node::let("t", var("p0")), node::let("r", var("t"))}));
  const auto calls = [&](int count) {
    std::vector<NodeHandle> entry;
    for (int k = 0; k < count; ++k) {
      entry.push_back(node::store("out", u32(0), call("test.wide", std::vector<ExprHandle>(2000, u32(7)))));
    }
    return inline_calls(valid(program(std::move(entry)), table));
  };
  EXPECT_GT(calls(24).facts().steps.size(), 24u * 2000);
  EXPECT_THROW(calls(26), LoweringError);
}

TEST(InlineCalls, growth_is_found_in_time_when_operations_have_many_parameters) {
  std::vector<std::string> parameters;
  for (int k = 0; k < 2000; ++k) parameters.push_back("p" + std::to_string(k));
  OpTable table = OpTable().with(op("test.level0", parameters, {node::let("r", var("p0"))}));
  std::vector<ExprHandle> arguments(2000, var("p1"));
  for (int level = 1; level < 32; ++level) {
    const std::string below = "test.level" + std::to_string(level - 1);
    arguments[0] = call(below, std::vector<ExprHandle>(2000, var("p2")));
    table = table.with(op("test.level" + std::to_string(level), parameters, {node::let("r", call(below, arguments))}));
  }
  const std::vector<ExprHandle> ids(2000, gid(0));
  const ValidProgram deep = valid(program({node::store("out", u32(0), call("test.level31", ids))}), table);
  const std::clock_t start = std::clock();
  EXPECT_THROW(inline_calls(deep), LoweringError);
  EXPECT_LT(std::clock() - start, test::patience() * CLOCKS_PER_SEC);
}

TEST(InlineCalls, nesting_beyond_the_limit_is_an_error_that_names_the_operation) {
  std::vector<NodeHandle> body = {node::store("out", u32(0), call("test.clamp", {gid(0)}))};
  for (int depth = 0; depth < 64; ++depth) body = {node::block(std::move(body))};
  const ValidProgram deep = valid(program(std::move(body)), ops());
  EXPECT_EQ(test::message_of<LoweringError>([&] { inline_calls(deep); }),
            "expanding `test.clamp` nests statements deeper than 64. Fix: call it where fewer statements enclose it.");
}

TEST(InlineCalls, work_is_linear_in_shared_arguments) {
  // x = 3 x, each x handed to an operation that needs statements: what calls share must not be evaluated by each.
  ExprHandle x = gid(0), total = u32(0);
  for (int k = 0; k < 2000; ++k) {
    x = binary(BinOp::Mul, x, u32(3));
    total = sum(total, call("test.twice", {sum(x, u32(1))}));
  }
  const ValidProgram inlined = inline_calls(valid(program({node::store("out", u32(0), total)}), ops()));
  EXPECT_LT(inlined.facts().steps.size(), 60'000u);
}

// The same kernel as when the operator is written by hand.
TEST(ZeroCost, standard_operations_of_one_operator) {
  const std::vector<ExprHandle> values = {load("in", gid(0)), load("out", gid(0))};
  int found = 0;
  for (const OpTable::Spec& spec : ops::standard_ops().all()) {
    if (!spec->inlinable() || spec->function().body->nodes().size() != 1) continue;
    const Expr& root = spec->function().body->expr(std::get<Let>(spec->function().body->node(NodeId{0})).value);
    const OpInfo* op = operator_of(root);
    if (spec->function().body->exprs().size() != spec->function().parameters.size() + 1 || op == nullptr || !op->is_typed()) continue;
    const auto* binary_op = std::get_if<Binary>(&root);
    if (binary_op != nullptr && spec->function().body->expr(binary_op->left).index() != static_cast<std::size_t>(ExprKind::Var)) continue;
    ++found;
    std::vector<ExprHandle> arguments;
    for (std::size_t k = 0; k < spec->function().parameters.size(); ++k)
      arguments.push_back(cast(spec->function().signature.inputs[k], values[k]));
    const auto stored = [&](ExprHandle value) { return program({node::store("out", sum(gid(0), u32(1)), cast(kU32, std::move(value)))}); };
    const ExprHandle by_hand = expr::apply(*op, arguments);
    const auto kernel = [](const Program& program) { return lower::to_text(lower::lower(valid(program, ops::standard_ops()))); };
    EXPECT_EQ(kernel(stored(call(spec->id, arguments))), kernel(stored(by_hand))) << spec->id;
  }
  EXPECT_GE(found, 30);
}

TEST(ZeroCost, a_body_with_locals) {
  const ExprHandle x = load("in", gid(0));
  const ExprHandle twice = sum(x, x);
  const auto kernel = [](const ExprHandle& value) {
    return lower::to_text(lower::lower(valid(program({node::store("out", gid(0), value)}), ops())));
  };
  EXPECT_EQ(kernel(call("test.twice", {x})), kernel(sum(twice, u32(1))));
}

}  // namespace
}  // namespace vyre::transform
