// What each pass does, and the traps that it must not fall into. That the rules of simplify hold, and are applied, is proven row by row in
// tests/py/program/test_proofs.py.
#include "vyre/transform/passes.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <vector>

#include "support/patience.hpp"
#include "support/programs/sample_programs.hpp"
#include "vyre/ir/handles/handle.hpp"
#include "vyre/ir/handles/resolve.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/ops/standard.hpp"

namespace vyre::transform {
namespace {

using namespace ir;
using namespace ir::expr;
using validate::ValidProgram;

constexpr DataType kU32 = DataType::U32;

ExprHandle sum(ExprHandle a, ExprHandle b) { return binary(BinOp::Add, std::move(a), std::move(b)); }
ExprHandle counted() { return atomic(AtomicOp::Add, "count", u32(0), {}, u32(1)); }

Program program(std::vector<NodeHandle> entry) {
  return make_program({BufferDecl::read("in", 0, kU32), BufferDecl::read_write("out", 1, kU32), BufferDecl::read_write("count", 2, kU32)},
                      {4, 1, 1}, entry);
}

ValidProgram valid(const Program& program) {
  const validate::Verdict verdict = validate::validate(program, ops::standard_ops());
  for (const Diagnostic& diagnostic : verdict.diagnostics) ADD_FAILURE() << to_string(diagnostic);
  return verdict.program.value();
}

void expect(Pass pass, std::vector<NodeHandle> entry, std::vector<NodeHandle> expected) {
  EXPECT_EQ(to_text(pass(valid(program(std::move(entry)))).program()), to_text(program(std::move(expected))));
}
void expect_unchanged(Pass pass, std::vector<NodeHandle> entry) {
  const ValidProgram before = valid(program(std::move(entry)));
  EXPECT_EQ(&pass(before).program(), &before.program()) << to_text(pass(before).program());
}
NodeHandle store(ExprHandle value) { return node::store("out", u32(0), std::move(value)); }

TEST(BindEffects, binds_atomics_and_loads_of_writable_memory_in_evaluation_order) {
  const ExprHandle loaded = load("out", gid(0)), fixed = load("in", gid(0));
  expect(bind_effects, {store(sum(sum(loaded, counted()), fixed))},
         {node::let("__bound0", loaded), node::let("__bound1", counted()),
          store(sum(sum(var("__bound0"), var("__bound1")), load("in", gid(0))))});
}

TEST(FoldConstants, computes_with_the_definitions) {
  expect(fold_constants, {store(binary(BinOp::Div, u32(7), u32(0)))}, {store(u32(0))});
  expect(fold_constants, {store(binary(BinOp::Shl, u32(1), u32(32)))}, {store(u32(1))});
  expect(fold_constants, {store(cast(kU32, binary(BinOp::SDiv, i32(INT32_MIN), i32(-1))))}, {store(u32(0x80000000))});
  expect(fold_constants, {store(lane(cast(DataType::U64, i32(-2)), 1))}, {store(u32(0xFFFFFFFF))});
  expect(fold_constants, {store(lane(pack(DataType::Vec4U32, {u32(1), u32(2), u32(3), u32(4)}), 2))}, {store(u32(3))});
}

TEST(FoldConstants, takes_the_branch_that_a_literal_decides) {
  expect(fold_constants, {store(select(boolean(true), gid(0), u32(3)))}, {store(gid(0))});
  expect(fold_constants, {store(select(sum(u32(1), u32(0)), counted(), gid(1)))}, {store(counted())});
}

TEST(FoldConstants, keeps_a_branch_with_an_effect) { expect_unchanged(fold_constants, {store(select(boolean(true), u32(1), counted()))}); }

TEST(Simplify, drops_only_what_cannot_be_noticed) {
  expect(simplify, {store(binary(BinOp::Mul, gid(0), u32(0)))}, {store(u32(0))});
  const ExprHandle atomic = counted();
  expect_unchanged(simplify, {store(binary(BinOp::BitXor, atomic, atomic))});
  // (out[1] - out[1]) + (count++ in out's place) + out[1]: without the first use, the load would come after the atomic.
  const ExprHandle loaded = load("count", u32(0));
  expect_unchanged(simplify, {store(sum(sum(binary(BinOp::Sub, loaded, loaded), counted()), loaded))});
}

// One node, two statements, and a name that means a U32 at the first and an I32 at the second.
TEST(Simplify, knows_a_type_only_where_all_statements_agree) {
  const ExprHandle bits = cast(kU32, var("x"));
  expect_unchanged(simplify, {node::block({node::let("x", gid(0)), store(bits)}), node::block({node::let("x", i32(-1)), store(bits)})});
}

TEST(Simplify, follows_a_variable_through_another_only_to_what_is_not_assigned_meanwhile) {
  const auto entry = [](bool assigned, ExprHandle stored) {
    std::vector<NodeHandle> statements = {node::let("x", gid(0)), node::let("y", sum(var("x"), u32(1))),
                                          node::let("z", sum(var("y"), u32(2)))};
    if (assigned) statements.push_back(node::assign("x", u32(5)));
    statements.push_back(store(std::move(stored)));
    return statements;
  };
  const auto difference = [] { return binary(BinOp::Sub, var("z"), sum(sum(var("x"), u32(1)), u32(2))); };
  expect_unchanged(simplify, entry(true, difference()));
  expect(simplify, entry(false, difference()), entry(false, u32(0)));
}

TEST(Simplify, knows_that_zero_divided_by_itself_is_zero) { expect_unchanged(simplify, {store(binary(BinOp::Div, gid(0), gid(0)))}); }

TEST(MergeDuplicates, makes_equal_expressions_one) {
  const ExprHandle x = sum(gid(0), u32(1));
  expect(merge_duplicates, {store(binary(BinOp::Mul, sum(gid(0), u32(1)), sum(gid(0), u32(1))))}, {store(binary(BinOp::Mul, x, x))});
}

TEST(MergeDuplicates, leaves_effects_and_changing_memory) {
  const ExprHandle zero = u32(0), one = u32(1);
  expect_unchanged(merge_duplicates, {store(sum(load("out", one), load("out", one)))});
  const auto count = [&] { return atomic(AtomicOp::Add, "count", one, {}, one); };
  expect_unchanged(merge_duplicates, {store(sum(count(), count()))});
}

TEST(PropagateLets, moves_a_value_to_its_single_use) {
  expect(propagate_lets, {node::let("x", load("in", gid(0))), node::let("y", sum(var("x"), u32(1))), store(var("y"))},
         {store(sum(load("in", gid(0)), u32(1)))});
}

TEST(PropagateLets, copies_literals_and_variables) {
  const ExprHandle x = var("x"), five = u32(5);
  expect(propagate_lets,
         {node::let("x", gid(0)), node::let("y", var("x")), node::let("z", u32(5)), store(sum(var("y"), var("z"))),
          store(sum(var("y"), var("z")))},
         {node::let("x", gid(0)), store(sum(x, five)), store(sum(x, five))});
}

TEST(PropagateLets, keeps_what_may_change_or_would_be_repeated) {
  expect_unchanged(propagate_lets, {node::let("x", load("out", u32(0))), store(u32(1)), store(var("x"))});
  expect_unchanged(propagate_lets, {node::let("x", counted()), store(var("x"))});
  expect_unchanged(propagate_lets, {node::let("x", gid(0)), node::assign("x", u32(2)), store(var("x"))});
  expect_unchanged(propagate_lets,
                   {node::let("a", gid(0)), node::let("x", sum(var("a"), u32(1))), node::assign("a", u32(2)), store(var("x"))});
  expect_unchanged(propagate_lets, {node::let("x", gid(0)), node::loop("k", u32(0), u32(9), {store(var("x"))})});
  expect_unchanged(propagate_lets, {node::let("x", gid(0)), store(var("x")), store(var("x"))});
}

TEST(RemoveUnused, removes_what_nothing_depends_on) {
  expect(remove_unused,
         {node::let("x", load("out", gid(0))), node::let("y", sum(var("x"), u32(1))), node::assign("y", sum(var("y"), u32(1))),
          node::loop("k", u32(0), var("x"), {node::assign("y", var("k"))}), node::if_(var("y"), {node::block({})}), store(u32(1))},
         {store(u32(1))});
}

TEST(RemoveUnused, keeps_effects_and_what_they_depend_on) {
  expect_unchanged(remove_unused, {node::let("x", counted())});
  // x is never read, but an assigned variable must have been declared.
  expect_unchanged(remove_unused, {node::let("x", u32(0)), node::assign("x", counted())});
  expect_unchanged(remove_unused, {node::if_(counted(), {})});
  expect_unchanged(remove_unused, {node::if_(gid(0), {node::return_()}), store(u32(1))});
  // The value of one round is used in the next.
  expect_unchanged(remove_unused,
                   {node::let("x", u32(1)), node::loop("k", u32(0), u32(9), {store(var("x")), node::assign("x", var("k"))})});
}

TEST(RemoveUnused, takes_the_branch_that_a_literal_decides) {
  expect(remove_unused, {node::if_(boolean(true), {store(u32(1))}, {node::barrier()}), node::if_(u32(0), {store(counted())})},
         {node::block({store(u32(1))})});
  expect(remove_unused,
         {node::if_(u32(0), {store(u32(1))}, {node::let("x", gid(0)), store(var("x"))}), node::let("x", gid(1)), store(var("x"))},
         {node::block({node::let("x", gid(0)), store(var("x"))}), node::let("x", gid(1)), store(var("x"))});
  expect(remove_unused, {node::loop("k", u32(3), u32(3), {store(u32(1))})}, {});
}

TEST(Optimize, scales) {
  std::vector<NodeHandle> empty_ifs;
  for (int k = 0; k < 49'000; ++k) empty_ifs.push_back(node::if_(gid(0), {}));
  std::vector<NodeHandle> lets = {node::let("v0", gid(0))};
  for (int k = 1; k < 24'000; ++k) {
    lets.push_back(node::let("v" + std::to_string(k), sum(var("v" + std::to_string(k - 1)), u32(static_cast<std::uint32_t>(k)))));
  }
  lets.push_back(store(var("v23999")));
  std::vector<NodeHandle> guarded;
  for (std::uint32_t k = 0; k < 16'000; ++k) guarded.push_back(node::if_(gid(0), {node::store("out", u32(k), u32(k))}));
  for (const Program& big : {test::chain(49'000), test::doublings(49'000), program(empty_ifs), program(lets), program(guarded)}) {
    const ValidProgram before = valid(big);
    const std::clock_t start = std::clock();
    optimize(before);
    EXPECT_LT(std::clock() - start, test::patience() * CLOCKS_PER_SEC);  // a tenth of it in an optimised build
  }
}

}  // namespace
}  // namespace vyre::transform
