// How much work a kernel is thought to be, by hand-counted kernels.
#include <gtest/gtest.h>

#include <vector>

#include "vyre/run/cpu/work.hpp"

namespace vyre::run::cpu {
namespace {

using lower::Opcode;
using lower::ValueId;

constexpr std::uint64_t kUnknown = 50;

lower::Kernel kernel(std::vector<lower::Instruction> code) {
  lower::Kernel result;
  result.code = std::move(code);
  result.partner = lower::partners(result.code);
  return result;
}

lower::Instruction constant(std::uint32_t value) { return {.op = Opcode::Constant, .lanes = 1, .imm = value}; }
lower::Instruction id() { return {.op = Opcode::InvocationId, .lanes = 1}; }
lower::Instruction loop(std::uint32_t from, std::uint32_t to) {
  return {.op = Opcode::Loop, .lanes = 1, .a = ValueId{from}, .b = ValueId{to}};
}
lower::Instruction op(Opcode opcode) { return {.op = opcode}; }

std::uint64_t work(std::vector<lower::Instruction> code) { return work_of(kernel(std::move(code)), kUnknown); }

TEST(CpuWork, counts_instructions_and_the_turns_of_loops_between_constants) {
  EXPECT_EQ(work({}), 1u);
  EXPECT_EQ(work({id(), id()}), 3u);
  // One for each constant and both ends of the loop, and seven turns of one instruction.
  EXPECT_EQ(work({constant(3), constant(10), loop(0, 1), id(), op(Opcode::EndLoop)}), 1u + 4 + 7);
  EXPECT_EQ(work({constant(3), constant(10), loop(1, 0), id(), op(Opcode::EndLoop)}), 1u + 4);
  EXPECT_EQ(work({constant(0), constant(10), loop(0, 1), loop(0, 1), id(), op(Opcode::EndLoop), op(Opcode::EndLoop)}), 1u + 4 + 20 + 100);
}

TEST(CpuWork, takes_what_is_not_known_as_it_is_told) {
  EXPECT_EQ(work({constant(0), id(), loop(0, 1), id(), op(Opcode::EndLoop), id()}), 1u + 5 + kUnknown);
}

TEST(CpuWork, takes_the_literal_of_a_smaller_value_for_the_turns) {
  const lower::Instruction smaller = {.op = Opcode::Min, .lanes = 1, .a = ValueId{1}, .b = ValueId{2}};
  const lower::Instruction other_way = {.op = Opcode::Min, .lanes = 1, .a = ValueId{2}, .b = ValueId{1}};
  for (const lower::Instruction& least : {smaller, other_way}) {
    EXPECT_EQ(work({constant(0), id(), constant(10), least, loop(0, 3), id(), op(Opcode::EndLoop)}), 1u + 6 + 10);
  }
}

TEST(CpuWork, a_loop_that_is_left_early_turns_no_more_often_than_one_whose_turns_are_not_known) {
  for (const Opcode leaves : {Opcode::Break, Opcode::Return}) {
    const auto turns = [&](std::uint32_t most) {
      return work({constant(0),
                   constant(most),
                   loop(0, 1),
                   {.op = Opcode::If, .a = ValueId{0}},
                   op(leaves),
                   op(Opcode::EndIf),
                   op(Opcode::EndLoop)});
    };
    EXPECT_EQ(turns(0xFFFFFFFF), 1u + 4 + 3 * kUnknown);
    EXPECT_EQ(turns(9), 1u + 4 + 3 * 9);
  }
  // A Return leaves all loops around it, a Break one; loops before and after it are not left.
  const auto nested = [&](Opcode leaves) {
    return work({constant(0), constant(1000), loop(0, 1), op(Opcode::EndLoop), loop(0, 1), loop(0, 1), op(leaves), op(Opcode::EndLoop),
                 op(Opcode::EndLoop), loop(0, 1), id(), op(Opcode::EndLoop)});
  };
  EXPECT_EQ(nested(Opcode::Return), 1u + 8 + 1000 + 2 * kUnknown + kUnknown * kUnknown);
  EXPECT_EQ(nested(Opcode::Break), 1u + 8 + 1000 + 2 * 1000 + 1000 * kUnknown);
}

TEST(CpuWork, no_product_wraps) {
  std::vector<lower::Instruction> code = {constant(0), constant(0xFFFFFFFF)};
  for (int k = 0; k < 5; ++k) code.push_back(loop(0, 1));
  code.push_back(id());
  for (int k = 0; k < 5; ++k) code.push_back(op(Opcode::EndLoop));
  const std::uint64_t most = work(code);
  EXPECT_EQ(most, (std::uint64_t{1} << 48) - 1);
  const Grid all = {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF};
  EXPECT_EQ(words_of_call(most, all, {1024, 1, 1}, 512), (std::uint64_t{1} << 62) - 1);
  EXPECT_GT(words_of_call(1, all, {1, 1, 1}, 1), std::uint64_t{1} << 50);
}

TEST(CpuWork, of_a_call_is_lanes_and_dispatches_of_each_batch) {
  EXPECT_EQ(words_of_call(10, {16, 1, 1}, {64, 1, 1}, 512), kWordsOfCall + 10 * (1024 + 3 * kDispatchWords));
  EXPECT_EQ(words_of_call(10, {1, 1, 0}, {64, 1, 1}, 64), kWordsOfCall + 10 * kDispatchWords);
}

TEST(CpuWork, compiling_costs_more_the_more_instructions_there_are) {
  EXPECT_LT(words_of_compiling(10), words_of_compiling(1000));
  EXPECT_GT(words_of_compiling(0), words_of_call(10, {16, 1, 1}, {64, 1, 1}, 512));
}

}  // namespace
}  // namespace vyre::run::cpu
