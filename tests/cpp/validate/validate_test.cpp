// What validate() hands on: facts, slots and the hash.
#include "vyre/validate/validate.hpp"

#include <gtest/gtest.h>

#include "../support/programs/programs.hpp"

namespace vyre {
namespace {

using namespace sample;
using validate::ValidProgram;

ValidProgram valid(const ir::Program& program, const ir::OpTable& ops = {}) {
  validate::Verdict verdict = validate::validate(program, ops);
  for (const Diagnostic& diagnostic : verdict.diagnostics) ADD_FAILURE() << to_string(diagnostic);
  return verdict.program.value();
}

TEST(Validate, gives_each_statement_its_steps_in_evaluation_order) {
  const ValidProgram program = valid(Sample().in("a").out("out").add(store("out", gid(0), load("a", gid(0)) + u32(1))).make());
  const auto steps = program.facts().steps_of(NodeId{0});
  ASSERT_EQ(steps.size(), 5u);
  const ir::ExprKind kinds[] = {ir::ExprKind::GridId, ir::ExprKind::GridId, ir::ExprKind::Load, ir::ExprKind::Literal,
                                ir::ExprKind::Binary};
  for (std::size_t k = 0; k < 5; ++k) EXPECT_EQ(ir::kind(program.program().expr(steps[k].expr)), kinds[k]);
  EXPECT_EQ(steps[2].buffer, BufferId{0});
  EXPECT_EQ(program.facts().statements[NodeId{0}].buffer, BufferId{1});
}

TEST(Validate, types_a_shared_expression_in_each_scope) {
  const ExprHandle x = var("x");
  const ValidProgram program =
      valid(Sample().add(block({let("x", u32(1)), let("y", x)})).add(block({let("x", i32(1)), let("y", x)})).make());
  // block, x, y, end, block, x, y
  EXPECT_EQ(program.facts().steps_of(NodeId{2})[0].expr, program.facts().steps_of(NodeId{6})[0].expr);
  EXPECT_EQ(program.facts().steps_of(NodeId{2})[0].type, DataType::U32);
  EXPECT_EQ(program.facts().steps_of(NodeId{6})[0].type, DataType::I32);
  EXPECT_NE(program.facts().steps_of(NodeId{2})[0].local, program.facts().steps_of(NodeId{6})[0].local);
}

TEST(Validate, tells_fixed_from_assigned_locals) {
  const ValidProgram program =
      valid(Sample().add(let("a", u32(1))).add(let("b", u32(2))).add(loop("k", u32(0), var("a"), {assign("b", var("k"))})).make());
  const auto& locals = program.facts().locals;
  ASSERT_EQ(locals.size(), 3u);
  EXPECT_FALSE(locals[LocalId{0}].assigned);
  EXPECT_TRUE(locals[LocalId{1}].assigned);
  EXPECT_TRUE(locals[LocalId{2}].loop_variable);
  EXPECT_EQ(program.facts().statements[NodeId{2}].local, LocalId{2});
  EXPECT_EQ(program.facts().statements[NodeId{3}].local, LocalId{1});
}

TEST(Validate, numbers_the_buffers_that_a_host_binds) {
  const ValidProgram program = valid(Sample().in("a").shared("tile", 4).out("out").make());
  EXPECT_EQ(program.bound(), (std::vector<BufferId>{{0}, {2}}));
}

TEST(Validate, hands_on_the_bodies_of_called_operations) {
  const auto ops = table({op_with("t.inc", {DataType::U32}, DataType::U32, {let("r", var("p0") + u32(1))}),
                          op_with("t.twice", {DataType::U32}, DataType::U32, {let("r", call("t.inc", {call("t.inc", {var("p0")})}))})});
  const ValidProgram program = valid(Sample().out("out").add(store("out", u32(0), call("t.twice", {u32(1)}))).make(), ops);
  ASSERT_EQ(program.facts().ops.size(), 1u);
  const validate::ValidOp& twice = *program.facts().ops[0];
  EXPECT_EQ(twice.spec().id, "t.twice");
  ASSERT_EQ(twice.facts().ops.size(), 1u);
  EXPECT_EQ(twice.facts().ops[0]->spec().id, "t.inc");
  EXPECT_EQ(twice.facts().locals[LocalId{0}].type, DataType::U32);
  EXPECT_EQ(twice.result(), LocalId{1});
}

TEST(Validate, hashes_the_bodies_that_a_program_reaches) {
  auto ops = [](std::uint32_t step) {
    return table({op_with("t.inc", {DataType::U32}, DataType::U32, {let("r", var("p0") + u32(step))}),
                  op_with("t.twice", {DataType::U32}, DataType::U32, {let("r", call("t.inc", {call("t.inc", {var("p0")})}))})});
  };
  const ir::Program program = Sample().out("out").add(store("out", u32(0), call("t.twice", {u32(1)}))).make();
  EXPECT_EQ(valid(program, ops(1)).hash(), valid(program, ops(1)).hash());
  EXPECT_NE(valid(program, ops(1)).hash(), valid(program, ops(2)).hash());
}

}  // namespace
}  // namespace vyre
