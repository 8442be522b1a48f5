// Machine code takes the lanes that a condition names, and leaves those behind that have left a loop.
#if VYRE_NATIVE
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "support/native_code.hpp"
#include "vyre/lower/lower.hpp"
#include "vyre/run/cpu/native/native.hpp"

namespace vyre::test {
namespace {

using namespace ir;
using namespace sample;

// Conditions of several comparisons, of which each kind may be inverted, for Ifs, Selects and Breaks.
TEST(NativeControl, conditions_of_several_comparisons_have_the_same_bytes) {
  const auto i = gid(0), x = load("a", i), y = load("b", i);
  const auto both = [](ExprHandle a, ExprHandle b) { return bin(BinOp::And, std::move(a), std::move(b)); };
  const auto either = [](ExprHandle a, ExprHandle b) { return bin(BinOp::Or, std::move(a), std::move(b)); };
  const auto no = [](ExprHandle a) { return un(UnOp::LogicalNot, std::move(a)); };
  const auto low = [](ExprHandle a, std::uint32_t bits) { return bin(BinOp::BitAnd, std::move(a), u32(bits)); };
  const std::vector<ExprHandle> atoms = {low(x, 7) < low(y, 7), bin(BinOp::Eq, low(x, 3), low(y, 3)), bin(BinOp::Ne, low(x, 1), u32(0)),
                                         bin(BinOp::Ge, low(y, 15), u32(9))};
  for (std::size_t k = 0; k < 64; ++k) {
    const ExprHandle &a = atoms[k % 4], &b = atoms[k / 4 % 4], &c = atoms[(k / 16 + k) % 4];
    const ExprHandle left = k % 2 != 0 ? both(a, no(b)) : either(no(a), b);
    const ExprHandle right = k % 3 != 0 ? both(c, b) : no(c), whole = k % 5 != 0 ? either(left, right) : both(right, no(left));
    const Program program =
        Sample()
            .in("a")
            .in("b")
            .out("out")
            .size(64)
            .add(let("n", u32(0)))
            .add(if_(whole, {assign("n", u32(5))}, {assign("n", u32(9))}))
            .add(loop("k", u32(0), u32(8),
                      {if_(either(both(var("n") < var("k") * low(x, 3), left), right), {break_()}), assign("n", var("n") + u32(1))}))
            .add(store("out", i, var("n") * u32(16) + select(no(whole), u32(1), u32(2))))
            .make();
    expect_same(program, {numbers(150), numbers(150, 7919), Words(150)}, {3, 1, 1});
    if (HasFailure()) return;
  }
}

// The Else of an If that only breaks is run by the lanes that stay.
TEST(NativeControl, lanes_that_do_not_break_take_the_else) {
  const auto i = gid(0), x = load("a", i);
  const Program program =
      Sample()
          .in("a")
          .out("out")
          .size(64)
          .add(let("n", u32(0)))
          .add(loop("k", u32(0), u32(20),
                    {if_(bin(BinOp::Eq, var("k"), bin(BinOp::BitAnd, x, u32(15))), {break_()}, {assign("n", var("n") * u32(3) + var("k"))}),
                     assign("n", var("n") + x)}))
          .add(store("out", i, var("n")))
          .make();
  run::cpu::native::Refusal refusal;
  for (const run::cpu::native::InstructionSet& each : run::cpu::native::kInstructionSets) {
    EXPECT_TRUE(run::cpu::native::translate(lower::lower(valid(program), {}, lower::kCpuTarget), each.vectors, refusal)) << refusal.reason;
  }
  expect_same(program, {numbers(150), Words(150)}, {3, 1, 1});
}

// Lanes leave by Breaks at several places and depths, and some return; the variable of the loop is used as an index after the first left.
TEST(NativeControl, lanes_that_left_a_loop_do_not_come_back) {
  const auto i = gid(0), x = load("a", i);
  const auto low = [](ExprHandle a, std::uint32_t bits) { return bin(BinOp::BitAnd, std::move(a), u32(bits)); };
  for (const std::uint32_t size : {16u, 64u}) {
    const Program program =
        Sample()
            .in("a")
            .out("out")
            .size(size)
            .add(let("n", u32(0)))
            .add(loop("k", u32(0), u32(20),
                      {if_(bin(BinOp::Eq, var("k"), low(x, 7)), {break_()}),
                       if_(low(x, 8) < u32(1),
                           {assign("n", var("n") + load("a", var("k"))), if_(u32(5) < var("k"), {break_()}),
                            if_(bin(BinOp::Eq, low(x, 16), u32(16)), {assign("n", var("n") ^ u32(77)), return_()})},
                           {assign("n", var("n") + var("k"))}),
                       loop("m", var("k"), u32(20),
                            {if_(low(var("m") * x, 31) < u32(9), {break_()}), assign("n", var("n") + load("a", var("m")))}),
                       store("out", i, var("n"))}))
            .add(store("out", i, var("n") + u32(1000)))
            .make();
    expect_same(program, {numbers(300), Words(300)}, {5, 1, 1});
  }
}

}  // namespace
}  // namespace vyre::test
#endif
