// What the cpu backend's compiler makes of programs: one instruction of the machine for what the machine can do at once.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/programs/programs.hpp"
#include "support/run_program.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/lower/lower.hpp"
#include "vyre/run/cpu/code.hpp"

namespace vyre::run::cpu {
namespace {

using namespace sample;

// Every choice of what lowering does for speed.
std::vector<lower::Options> choices() {
  std::vector<lower::Options> all;
  for (const bool passes : {true, false}) {
    for (const bool proofs : {true, false}) {
      for (const bool straightening : {true, false}) all.push_back({.passes = passes, .proofs = proofs, .straightening = straightening});
    }
  }
  return all;
}

Code compiled(const ir::Program& program, const lower::Options& options = {}) {
  return compile(lower::lower(test::valid(program), options, lower::kCpuTarget));
}

// The instructions in order, without copies: how often a value lies where it is needed is the business of registers.
std::vector<Op> ops(const Code& code) {
  std::vector<Op> found;
  for (const Instruction& it : code.instructions) {
    if (it.op != Op::VectorCopy && it.op != Op::ScalarCopy) found.push_back(it.op);
  }
  return found;
}

bool all_bounded(const Code& code) {
  return std::ranges::all_of(code.instructions, [](const Instruction& it) { return it.bounded || it.op == Op::Stop; });
}

TEST(CpuCompile, a_bounded_access_is_one_instruction) {
  for (const lower::Options& options : choices()) {
    const Code each = compiled(Sample().in("a").out("out").add(store("out", gid(0), load("a", gid(0)))).make(), options);
    EXPECT_EQ(ops(each), (std::vector{Op::Load, Op::Store, Op::Stop}));
    EXPECT_TRUE(all_bounded(each));
    const Code once = compiled(Sample().in("a").out("out").add(store("out", u32(7), load("a", u32(9)))).make(), options);
    EXPECT_EQ(ops(once), (std::vector{Op::ScalarLoad, Op::ScalarStore, Op::Stop}));
    EXPECT_TRUE(all_bounded(once));
    const Code shared = compiled(
        Sample().shared("cells", 8).out("out").size(16).add(store("cells", lid(0), lid(0))).add(store("out", gid(0), u32(1))).make(),
        options);
    EXPECT_EQ(ops(shared), (std::vector{Op::StoreShared, Op::Store, Op::Stop}));
    EXPECT_TRUE(all_bounded(shared));
  }
}

TEST(CpuCompile, a_bounded_atomic_is_one_instruction_whatever_stands_around_it) {
  const auto old = [](const char* name, AtomicOp op, const ExprHandle& index, const ExprHandle& value) {
    return let(name, atomic(op, "cells", index, value));
  };
  const auto p = var("p"), q = var("q"), r = var("r");
  const ir::Program chain = Sample()
                                .out("cells")
                                .out("out")
                                .add(old("p", AtomicOp::Add, gid(0), u32(1)))
                                .add(old("q", AtomicOp::Xor, p, p))
                                .add(old("r", AtomicOp::Max, q, p))
                                .add(store("out", gid(0), r))
                                .make();
  const ir::Program among_variables =
      Sample()
          .out("cells")
          .out("out")
          .add(let("sum", u32(0)))
          .add(if_(gid(0), {assign("sum", u32(3))}))
          .add(let("s", compare_exchange("cells", gid(0), var("sum"), u32(5))))
          .add(assign("sum", var("s") + var("sum")))
          .add(loop("k", u32(0), gid(1), {assign("sum", atomic(AtomicOp::Exchange, "cells", var("sum"), var("k")))}))
          .add(store("out", gid(0), var("sum")))
          .make();
  for (const lower::Options& options : choices()) {
    const Code three = compiled(chain, options);
    EXPECT_EQ(ops(three), (std::vector{Op::Atomic, Op::Atomic, Op::Atomic, Op::Store, Op::Stop}));
    EXPECT_TRUE(all_bounded(three));
    const Code mixed = compiled(among_variables, options);
    EXPECT_EQ(std::ranges::count(mixed.instructions, Op::Atomic, &Instruction::op), 2);
    // The condition of the program is the only one, or none where it became a select.
    EXPECT_LE(std::ranges::count(mixed.instructions, Op::If, &Instruction::op), 1);
  }
}

TEST(CpuCompile, a_store_that_the_program_keeps_in_its_buffer_is_one_instruction) {
  const auto guarded = [](const ExprHandle& condition, std::vector<NodeHandle> otherwise = {}) {
    return ops(compiled(Sample().in("a").out("out").add(if_(condition, {store("out", gid(0), gid(1))}, std::move(otherwise))).make()));
  };
  EXPECT_EQ(guarded(gid(0) < len("out")), (std::vector{Op::Store, Op::Stop}));
  // The bound of another buffer or index, or an Else, is no such guard.
  const std::vector kIf{Op::Vector2, Op::If, Op::Store, Op::EndIf, Op::Stop};
  EXPECT_EQ(guarded(gid(0) < len("a")), kIf);
  EXPECT_EQ(guarded(gid(1) < len("out")), kIf);
  EXPECT_EQ(guarded(gid(0) < len("out"), {store("out", u32(0), u32(1))}).at(1), Op::If);
}

TEST(CpuCompile, a_rotation_is_one_instruction_however_it_is_spelled) {
  const auto x = load("a", gid(0)), n = load("a", u32(0));
  const auto shifts = [&](BinOp first, std::uint32_t by, BinOp second, std::uint32_t rest) {
    return bin(BinOp::BitOr, bin(first, x, u32(by)), bin(second, x, u32(rest)));
  };
  // The functions of two operands that the code computes lane by lane.
  const auto functions = [](const ExprHandle& value) {
    std::vector<lower::Opcode> found;
    for (const Instruction& it : compiled(Sample().in("a").out("out").add(store("out", gid(0), value)).make()).instructions) {
      if (it.op == Op::Vector2) found.push_back(static_cast<lower::Opcode>(it.function));
    }
    return found;
  };
  using enum lower::Opcode;
  for (const ExprHandle& amount : {u32(7), n}) {
    EXPECT_EQ(functions(bin(BinOp::RotateLeft, x, amount)), std::vector{RotateLeft});
    EXPECT_EQ(functions(bin(BinOp::RotateRight, x, amount)), std::vector{RotateRight});
  }
  EXPECT_EQ(functions(shifts(BinOp::Shl, 7, BinOp::Shr, 25)), std::vector{RotateLeft});
  EXPECT_EQ(functions(shifts(BinOp::Shr, 25, BinOp::Shl, 7)), std::vector{RotateLeft});
  // These are no rotations.
  EXPECT_EQ(functions(shifts(BinOp::Shl, 7, BinOp::Shr, 24)), (std::vector{Shl, Shr, Or}));
  EXPECT_EQ(functions(shifts(BinOp::Shl, 7, BinOp::Shl, 25)), (std::vector{Shl, Shl, Or}));
}

}  // namespace
}  // namespace vyre::run::cpu
