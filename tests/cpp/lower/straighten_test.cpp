// Short branches become selects, variables values, and values stand late, where that changes nothing but the time that a driver's compiler
// takes.
#include "vyre/lower/straighten.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "support/programs/programs.hpp"
#include "support/run_program.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/lower/lower.hpp"
#include "vyre/lower/settle.hpp"
#include "vyre/run/cpu/cpu.hpp"
#include "vyre/run/reference/reference.hpp"

namespace vyre {
namespace {

using namespace sample;
using lower::Kernel;
using lower::Opcode;

ir::Program program(const List& entry) { return Sample().out("in").out("out").size(4).add(entry).make(); }

// Without the optimiser, so that what is seen is the lowering's own.
Kernel lowered(const List& entry, bool straightening = true) {
  return lower::lower(test::valid(program(entry)), {.passes = false, .straightening = straightening});
}

std::size_t count(const Kernel& kernel, Opcode op) {
  return static_cast<std::size_t>(std::ranges::count(kernel.code, op, &lower::Instruction::op));
}

const ExprHandle kX = var("x"), kCondition = gid(0) < u32(2);
NodeHandle let_x() { return let("x", gid(0)); }
// Where nothing is guarded.
NodeHandle result() { return if_(gid(0) < len("out"), {store("out", gid(0), kX)}); }

TEST(Straighten, an_if_that_only_assigns_becomes_a_select) {
  const List entry{let_x(), if_(kCondition, {assign("x", kX * u32(3))}), result()};
  const Kernel kernel = lowered(entry), before = lowered(entry, false);
  EXPECT_EQ(count(before, Opcode::If), 2u);
  EXPECT_EQ(before.variables.size(), 1u);
  EXPECT_EQ(count(kernel, Opcode::If), 1u);
  EXPECT_EQ(count(kernel, Opcode::Select), 1u);
  EXPECT_EQ(kernel.variables.size(), 0u);
}

TEST(Straighten, so_do_both_branches_and_the_ifs_in_them) {
  const Kernel kernel =
      lowered({let_x(), let("y", u32(1)),
               if_(kCondition, {assign("x", kX + u32(1)), if_(kX, {assign("y", kX)})}, {assign("y", var("y") + kX), assign("x", var("y"))}),
               assign("x", kX ^ var("y")), result()});
  EXPECT_EQ(count(kernel, Opcode::If), 1u);
  EXPECT_EQ(kernel.variables.size(), 0u);
}

TEST(Straighten, what_must_not_be_done_for_nothing_stays_in_its_branch) {
  const auto stays = [](const List& body) { return count(lowered({let_x(), if_(kCondition, body), result()}), Opcode::If) > 1; };
  EXPECT_FALSE(stays({assign("x", u32(5))}));
  EXPECT_TRUE(stays({assign("x", load("in", u32(0)))}));
  EXPECT_TRUE(stays({store("in", u32(0), kX), assign("x", u32(5))}));
  EXPECT_TRUE(stays({assign("x", atomic(AtomicOp::Add, "in", u32(0), u32(1)))}));
  EXPECT_TRUE(stays({assign("x", bin(BinOp::Div, u32(100), kX))}));
  EXPECT_TRUE(stays({loop("k", u32(0), u32(2), {assign("x", kX + var("k"))})}));
  EXPECT_TRUE(stays({assign("x", u32(5)), return_()}));
}

TEST(Straighten, a_branch_with_more_than_a_few_operations_stays) {
  const auto ifs = [](std::uint32_t operations) {
    ExprHandle value = kX;
    for (std::uint32_t k = 0; k < operations; ++k) value = value * u32(3);
    return count(lowered({let_x(), if_(kCondition, {assign("x", value)}), result()}), Opcode::If);
  };
  EXPECT_EQ(ifs(7), 1u);
  EXPECT_EQ(ifs(8), 2u);
}

TEST(Straighten, a_loop_keeps_the_variables_that_its_rounds_change) {
  const Kernel kernel = lowered({let_x(), let("y", u32(1)), loop("k", u32(0), u32(3), {assign("x", kX + var("y")), assign("y", kX)}),
                                 let("z", kX), assign("z", var("z") + u32(1)), assign("x", var("z")), result()});
  EXPECT_EQ(kernel.variables.size(), 2u);
  EXPECT_EQ(count(kernel, Opcode::Loop), 1u);
}

// Values that come to a place by several ways: read before and after writes, in both branches, in loops and after them.
TEST(Straighten, changes_no_byte) {
  const ExprHandle y = var("y");
  const List bodies[] = {
      {if_(kCondition, {assign("x", y), assign("y", kX)}, {assign("y", kX)})},
      {if_(kX, {if_(y, {assign("x", u32(7))}, {assign("x", kX + u32(1))})}), assign("y", kX)},
      {loop(
          "k", u32(0), u32(5),
          {if_(var("k") < kX, {assign("y", y + kX)}, {assign("x", kX + u32(1))}), if_(y, {assign("y", y * u32(3))}), assign("x", kX ^ y)})},
      {if_(kCondition, {store("in", gid(0), kX), assign("x", u32(9))}), if_(kX < u32(9), {assign("y", kX)})},
      {if_(kCondition, {assign("x", u32(9)), return_()}), assign("x", kX + u32(4))},
      {if_(kCondition, {store("in", gid(0), kX), assign("y", kX), if_(y, {assign("x", u32(3)), store("in", gid(0), y)})},
           {store("in", gid(0), y)}),
       if_(y < u32(4), {store("in", gid(0), kX + y)}, {assign("x", y + u32(2)), store("in", gid(0), kX)})},
      {loop("k", u32(0), kX, {assign("y", y + u32(1)), return_()}), assign("y", y * u32(5)), assign("x", y)},
      {if_(kCondition, {loop("k", u32(0), u32(3), {assign("y", y + kX)})}, {store("in", gid(0), y)}), assign("x", y)},
  };
  for (const List& body : bodies) {
    List entry{let_x(), let("y", load("in", gid(0)))};
    entry.insert(entry.end(), body.begin(), body.end());
    entry.push_back(assign("x", kX * u32(31) + y));
    entry.push_back(result());
    const validate::ValidProgram valid = test::valid(program(entry));
    const std::vector<std::vector<std::uint32_t>> arrays{{5, 0, 1, 7, 2, 0, 9, 3}, {1, 2, 3, 4, 5, 6, 7, 8}};
    const auto expected = test::run_program(*run::make_reference_backend(), valid, arrays, {2, 1, 1});
    for (const bool passes : {false, true}) {
      for (const bool straightening : {false, true}) {
        EXPECT_EQ(
            test::run_program(*run::make_cpu_backend(), valid, arrays, {2, 1, 1}, {}, {{.passes = passes, .straightening = straightening}}),
            expected);
      }
    }
  }
}

// The places of the instructions with this opcode.
std::vector<std::size_t> places(const Kernel& kernel, Opcode op) {
  std::vector<std::size_t> found;
  for (std::size_t at = 0; at < kernel.code.size(); ++at) {
    if (kernel.code[at].op == op) found.push_back(at);
  }
  return found;
}

TEST(Settle, a_value_is_made_where_it_is_first_needed) {
  // Three products and then their sum: each is made before it is added, not all before the first addition.
  const Kernel kernel = lowered({let("a", gid(0) * u32(3)), let("b", gid(0) * u32(5)), let("c", gid(0) * u32(7)), let("x", var("a")),
                                 assign("x", var("x") + var("b")), assign("x", var("x") + var("c")), result()});
  const auto products = places(kernel, Opcode::Mul), sums = places(kernel, Opcode::Add);
  ASSERT_EQ(products.size(), 3u);
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_LT(products[1], sums[0]);
  EXPECT_LT(sums[0], products[2]);
  EXPECT_LT(products[2], sums[1]);
}

TEST(Settle, no_read_moves_over_a_write) {
  const Kernel kernel = lowered({let("a", load("in", u32(0))), let("b", load("in", u32(1))), store("in", u32(0), u32(1)),
                                 let("x", load("in", u32(0)) + var("b") + var("a")), result()});
  const auto loads = places(kernel, Opcode::LoadBuffer), stores = places(kernel, Opcode::StoreBuffer);
  ASSERT_EQ(loads.size(), 3u);
  ASSERT_EQ(stores.size(), 2u);
  EXPECT_LT(loads[1], stores[0]);
  EXPECT_LT(stores[0], loads[2]);
}

TEST(Settle, no_value_moves_into_a_branch_or_a_round) {
  const Kernel branch =
      lowered({let("a", gid(0) * u32(3)), if_(kCondition, {store("in", u32(0), var("a"))}), let("x", var("a")), result()});
  EXPECT_LT(places(branch, Opcode::Mul).at(0), places(branch, Opcode::If).at(0));
  const Kernel round =
      lowered({let("a", gid(0) * u32(3)), loop("k", u32(0), u32(9), {store("in", var("k"), var("a"))}), let_x(), result()});
  EXPECT_LT(places(round, Opcode::Mul).at(0), places(round, Opcode::Loop).at(0));
}

TEST(Settle, takes_time_in_proportion_to_the_code) {
  // Each value is an operand of the next one twice; a walk over all ways would not end.
  using lower::ValueId;
  std::vector<lower::Instruction> code{{.op = Opcode::Constant, .lanes = 1}, {.op = Opcode::LoadBuffer, .lanes = 1, .a = ValueId{0}}};
  for (std::uint32_t k = 1; k <= 100'000; ++k) code.push_back({.op = Opcode::Add, .lanes = 1, .a = ValueId{k}, .b = ValueId{k}});
  code.push_back({.op = Opcode::StoreBuffer, .a = ValueId{0}, .b = ValueId{100'001}});
  EXPECT_EQ(lower::settle(code), code);
}

}  // namespace
}  // namespace vyre
