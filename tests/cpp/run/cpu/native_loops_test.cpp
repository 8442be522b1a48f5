// Machine code makes what no turn of a loop changes before the loop, gives the reference's bytes for every way to leave one, and knows
// loops that wait for one gather after the other.
#if VYRE_NATIVE
#include <gtest/gtest.h>

#include <algorithm>

#include "support/kernel_builder.hpp"
#include "support/native_code.hpp"
#include "vyre/fuzz/generate.hpp"
#include "vyre/fuzz/operations.hpp"
#include "vyre/lower/lower.hpp"
#include "vyre/run/cpu/native/analysis/analyse.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::test {
namespace {

using namespace ir;
using namespace sample;
using lower::Instruction;
using lower::Opcode;
using run::cpu::native::hoist_loop_invariants;
using run::cpu::native::Hoisted;

// The opcodes that stand before the first Loop.
std::vector<Opcode> before_loop(const lower::Kernel& kernel) {
  std::vector<Opcode> found;
  for (const Instruction& instruction : kernel.code) {
    if (instruction.op == Opcode::Loop) return found;
    found.push_back(instruction.op);
  }
  return found;
}

bool has(const std::vector<Opcode>& opcodes, Opcode op) { return std::ranges::count(opcodes, op) != 0; }

// out[i] = the sum over a loop of what `add` makes in it from the loop's variable.
template <class Add>
lower::Kernel summing(bool writable, const Add& add) {
  KernelBuilder k({64, 1, 1});
  const std::uint32_t in = k.buffer(1, writable), out = k.buffer(1, true);
  const std::uint32_t sum = k.variable();
  const auto zero = k.constant(0), turns = k.constant(9), i = k.leaf(Opcode::InvocationId, 0);
  k.add({.op = Opcode::WriteVariable, .imm = sum, .a = zero});
  const auto turn = k.loop(zero, turns);
  const auto made = add(k, in, i, turn);
  const auto now = k.add({.op = Opcode::ReadVariable, .lanes = 1, .imm = sum});
  k.add({.op = Opcode::WriteVariable, .imm = sum, .a = k.op(Opcode::Add, now, made)});
  k.end_loop();
  const auto result = k.add({.op = Opcode::ReadVariable, .lanes = 1, .imm = sum});
  k.store(out, i, result);
  return k.finish();
}

TEST(LoopInvariants, a_division_moves_with_its_operands) {
  const auto kernel = summing(false, [](KernelBuilder& k, std::uint32_t, auto i, auto) {
    const auto seven = k.constant(7);
    return k.op(Opcode::Div, k.op(Opcode::Mul, i, i), k.op(Opcode::Add, i, seven));
  });
  const std::optional<Hoisted> hoisted = hoist_loop_invariants(kernel);
  ASSERT_TRUE(hoisted);
  for (const Opcode op : {Opcode::Div, Opcode::Mul}) {
    EXPECT_FALSE(has(before_loop(kernel), op));
    EXPECT_TRUE(has(before_loop(hoisted->kernel), op));
  }
}

// Whether machine code of a loop that sums what `add` makes waits for one gather after the other.
template <class Add>
bool chains_gathers(const Add& add) {
  run::cpu::native::Refusal refusal;
  const std::optional<run::cpu::native::Analysis> found =
      run::cpu::native::analyse(summing(false, add), run::cpu::native::Vectors::Avx2, refusal);
  EXPECT_TRUE(found) << refusal.reason;
  return found && found->chains_gathers;
}

TEST(GatherChains, a_walk_over_a_table_is_one) {
  const auto walks = [](KernelBuilder& k, std::uint32_t in, auto i, auto turn) {
    const auto state = k.add({.op = Opcode::ReadVariable, .lanes = 1, .imm = 0});
    return k.load(in, k.op(Opcode::Add, k.op(Opcode::Xor, state, i), turn));
  };
  EXPECT_TRUE(chains_gathers(walks));
}

TEST(GatherChains, gathers_that_do_not_wait_for_each_other_are_none) {
  const auto sums = [](KernelBuilder& k, std::uint32_t in, auto i, auto turn) { return k.load(in, k.op(Opcode::Mul, i, turn)); };
  EXPECT_FALSE(chains_gathers(sums));
  const auto looks_up_rows = [](KernelBuilder& k, std::uint32_t in, auto i, auto turn) {
    return k.op(Opcode::Add, k.load(in, i), k.load(in, k.op(Opcode::Mul, i, turn)));
  };
  EXPECT_FALSE(chains_gathers(looks_up_rows));
  const auto of_one_lane = [](KernelBuilder& k, std::uint32_t in, auto, auto turn) { return k.load(in, k.load(in, turn)); };
  EXPECT_FALSE(chains_gathers(of_one_lane));
}

TEST(GatherChains, a_table_of_places_makes_one) {
  const auto looks_up = [](KernelBuilder& k, std::uint32_t in, auto i, auto turn) {
    return k.load(in, k.load(in, k.op(Opcode::Mul, i, turn)));
  };
  EXPECT_TRUE(chains_gathers(looks_up));
}

TEST(LoopInvariants, origins_are_the_places_in_the_kernel_that_was_given) {
  const auto kernel = summing(false, [](KernelBuilder& k, std::uint32_t, auto i, auto turn) {
    return k.op(Opcode::Add, k.op(Opcode::Mul, turn, turn), k.op(Opcode::Div, i, k.constant(7)));
  });
  const std::optional<Hoisted> hoisted = hoist_loop_invariants(kernel);
  ASSERT_TRUE(hoisted);
  ASSERT_EQ(hoisted->origin.size(), kernel.code.size());
  for (std::size_t position = 0; position < kernel.code.size(); ++position) {
    const Instruction &now = hoisted->kernel.code[position], &then = kernel.code[hoisted->origin[position]];
    EXPECT_EQ(now.op, then.op);
    EXPECT_EQ(now.imm, then.imm);
    for (const auto member : {&Instruction::a, &Instruction::b, &Instruction::c, &Instruction::d}) {
      ASSERT_EQ((now.*member).valid(), (then.*member).valid());
      if (!(now.*member).valid()) continue;
      EXPECT_LT((now.*member).index, position);
      EXPECT_EQ(hoisted->origin[(now.*member).index], (then.*member).index);
    }
  }
  EXPECT_EQ(hoisted->kernel.partner, lower::partners(hoisted->kernel.code));
}

TEST(LoopInvariants, what_a_turn_changes_stays) {
  EXPECT_FALSE(
      hoist_loop_invariants(summing(false, [](KernelBuilder& k, std::uint32_t, auto i, auto turn) { return k.op(Opcode::Div, i, turn); })));
  EXPECT_FALSE(hoist_loop_invariants(summing(false, [](KernelBuilder& k, std::uint32_t, auto i, auto) {
    return k.op(Opcode::Div, i, k.add({.op = Opcode::ReadVariable, .lanes = 1, .imm = 0}));
  })));
}

TEST(LoopInvariants, a_load_moves_from_memory_that_nothing_writes_and_is_bounded_then) {
  const auto loads = [](KernelBuilder& k, std::uint32_t in, auto i, auto) { return k.load(in, i); };
  EXPECT_FALSE(hoist_loop_invariants(summing(true, loads)));
  const std::optional<Hoisted> hoisted = hoist_loop_invariants(summing(false, loads));
  ASSERT_TRUE(hoisted);
  const auto load = std::ranges::find(hoisted->kernel.code, Opcode::LoadBuffer, &Instruction::op);
  ASSERT_NE(load, hoisted->kernel.code.end());
  EXPECT_TRUE(load->bounded);
  EXPECT_LT(load, std::ranges::find(hoisted->kernel.code, Opcode::Loop, &Instruction::op));
}

// It would take a register through the loop, or a load in each turn.
TEST(LoopInvariants, a_sum_stays_whose_operands_the_loop_needs_anyway) {
  EXPECT_FALSE(hoist_loop_invariants(summing(false, [](KernelBuilder& k, std::uint32_t, auto i, auto turn) {
    return k.op(Opcode::Mul, k.op(Opcode::Add, i, i), k.op(Opcode::Xor, i, turn));
  })));
}

TEST(LoopInvariants, a_value_of_the_outer_loop_stands_before_the_inner_one) {
  KernelBuilder k({64, 1, 1});
  const std::uint32_t out = k.buffer(1, true);
  const auto zero = k.constant(0), turns = k.constant(5), i = k.leaf(Opcode::InvocationId, 0);
  const auto outer = k.loop(zero, turns);
  const auto inner = k.loop(zero, turns);
  k.store(out, inner, k.op(Opcode::Div, i, outer));
  k.end_loop();
  k.end_loop();
  const std::optional<Hoisted> hoisted = hoist_loop_invariants(k.finish());
  ASSERT_TRUE(hoisted);
  std::vector<Opcode> order;
  for (const Instruction& instruction : hoisted->kernel.code) {
    if (instruction.op == Opcode::Loop || instruction.op == Opcode::Div) order.push_back(instruction.op);
  }
  EXPECT_EQ(order, (std::vector{Opcode::Loop, Opcode::Div, Opcode::Loop}));
}

// Every operator that divides or multiplies, of values that no turn changes, zeros among the divisors; in loops that turn never, a few
// times, or until a Break.
TEST(NativeLoops, what_no_turn_changes_has_the_same_bytes) {
  const auto i = gid(0), x = load("a", i), y = load("b", i);
  for (const BinOp op : {BinOp::Div, BinOp::Mod, BinOp::MulHigh, BinOp::Mul, BinOp::RotateLeft}) {
    const ExprHandle value = bin(op, x + load("p", u32(0)), y), uniform = bin(op, load("p", u32(1)), load("p", u32(2)));
    const Program program =
        Sample()
            .in("a")
            .in("b")
            .uniform("p")
            .out("out")
            .size(64)
            .add(let("sum", u32(0)))
            .add(loop("k", u32(0), bin(BinOp::Mod, y, u32(4)), {assign("sum", var("sum") * u32(3) + value + var("k"))}))
            .add(loop("m", u32(0), load("p", u32(3)),
                      {if_(u32(90) < bin(BinOp::Mod, var("sum"), u32(100)), {break_()}),
                       loop("n", u32(0), u32(2), {assign("sum", var("sum") + value * var("m") + uniform)}),
                       if_(bin(BinOp::BitAnd, x, u32(1)) < u32(1), {assign("sum", var("sum") ^ bin(op, y, load("p", u32(1))))})}))
            .add(store("out", i, var("sum")))
            .make();
    Words divisors = numbers(200, 40503);
    for (std::size_t k = 0; k < divisors.size(); k += 3) divisors[k] = static_cast<std::uint32_t>(k % 5);
    for (const Words& parameters : {Words{5, 77, 3, 6}, Words{0, 77, 0, 6}, Words{1, 0, 0xFFFFFFFF, 0}}) {
      for (const std::uint32_t groups : {1u, 3u}) expect_same(program, {numbers(200), divisors, parameters, Words(200)}, {groups, 1, 1});
    }
  }
}

// The load is out of range where the If around it is not taken.
TEST(NativeLoops, a_guarded_load_is_not_made_out_of_range) {
  const auto i = gid(0), index = i * u32(5);
  const Program program = Sample()
                              .in("a")
                              .out("out")
                              .size(64)
                              .add(let("sum", u32(0)))
                              .add(loop("k", u32(0), u32(3), {if_(index < len("a"), {assign("sum", var("sum") + load("a", index))})}))
                              .add(store("out", i, var("sum")))
                              .make();
  for (const std::size_t length : {1u, 16u, 100u, 321u}) expect_same(program, {numbers(length), Words(128)}, {2, 1, 1});
}

// What the random tests of the cpu backend run has such values.
TEST(NativeLoops, many_generated_programs_have_values_that_move) {
  std::size_t moved = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto generated = fuzz::generate(seed);
    const validate::Verdict verdict = validate::validate(generated.program, fuzz::op_table());
    ASSERT_TRUE(verdict.program) << seed;
    const lower::Kernel kernel = lower::lower(*verdict.program, {}, lower::kCpuTarget);
    moved += hoist_loop_invariants(kernel) ? 1 : 0;
  }
  EXPECT_GE(moved, 40u);
}

}  // namespace
}  // namespace vyre::test
#endif
