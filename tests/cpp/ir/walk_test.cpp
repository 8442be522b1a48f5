#include "vyre/ir/walk.hpp"

#include <gtest/gtest.h>

#include "support/programs/sample_programs.hpp"
#include "support/small_stack.hpp"
#include "vyre/ir/builder.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre::ir {
namespace {

std::vector<std::uint32_t> evaluated(const Program& program, NodeId id, PostOrder& walk) {
  std::vector<std::uint32_t> order;
  for_each_evaluated(program, program.node(id), walk, [&](ExprId expr) { order.push_back(expr.index); });
  return order;
}
std::vector<std::uint32_t> evaluated(const Program& program, NodeId id) {
  PostOrder walk(program.exprs().size());
  return evaluated(program, id, walk);
}

TEST(PostOrder, visits_operands_first_from_left_to_right) {
  ProgramBuilder builder;
  const ExprId a = builder.add(Literal::u32(1)), b = builder.add(Literal::u32(2)), c = builder.add(Literal::u32(3));
  const ExprId sum = builder.add(Binary{BinOp::Add, b, c});
  builder.store(builder.name("out"), builder.add(Select{a, sum, b}), c);
  // Canonical: 1, 2, 3, sum, select.
  EXPECT_EQ(evaluated(builder.finish(), NodeId{0}), (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
}

TEST(PostOrder, visits_what_a_later_statement_reaches_in_its_own_order) {
  ProgramBuilder builder;
  const ExprId a = builder.add(Var{builder.name("a")}), b = builder.add(Var{builder.name("b")});
  builder.let(builder.name("x"), builder.add(Binary{BinOp::Sub, a, b}));
  builder.let(builder.name("y"), builder.add(Binary{BinOp::Sub, b, a}));
  const Program program = builder.finish();
  PostOrder walk(program.exprs().size());
  EXPECT_EQ(evaluated(program, NodeId{0}, walk), (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(evaluated(program, NodeId{1}, walk), (std::vector<std::uint32_t>{1, 0, 3}));
}

TEST(PostOrder, visits_an_expression_used_by_both_roots_once) {
  ProgramBuilder builder;
  const ExprId a = builder.add(Var{builder.name("a")});
  builder.store(builder.name("out"), a, builder.add(Binary{BinOp::Add, a, a}));
  EXPECT_EQ(evaluated(builder.finish(), NodeId{0}), (std::vector<std::uint32_t>{0, 1}));
}

TEST(PostOrder, visits_64_doublings_as_65_expressions) {
  const Program program = test::doublings(64);
  EXPECT_EQ(evaluated(program, NodeId{0}).size(), 66u);  // and the index of the store
}

TEST(PostOrder, walks_a_chain_of_100000_on_a_small_stack) {
  test::on_small_stack([] { EXPECT_EQ(evaluated(test::chain(100000), NodeId{0}).size(), 100002u); });
}

}  // namespace
}  // namespace vyre::ir
