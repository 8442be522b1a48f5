// Machine code shifts and rotates each lane by its own amount, with the instructions of every set that this processor has.
#if VYRE_NATIVE
#include <gtest/gtest.h>

#include <functional>

#include "support/kernel_builder.hpp"
#include "support/native_code.hpp"
#include "support/programs/programs.hpp"
#include "support/run_program.hpp"
#include "vyre/run/cpu/cpu.hpp"
#include "vyre/run/cpu/native/native.hpp"
#include "vyre/run/cpu/native/vectors.hpp"

namespace vyre::test {
namespace {

using namespace ir;
using namespace sample;

// What the operators give, by arithmetic on 64 bits.
struct ShiftModel {
  BinOp op;
  std::function<std::uint64_t(std::uint64_t value, std::uint32_t amount)> result;  // of an amount below 32; the low 32 bits count
};
const ShiftModel kShiftModels[] = {
    {BinOp::Shl, [](std::uint64_t value, std::uint32_t amount) { return value << amount; }},
    {BinOp::Shr, [](std::uint64_t value, std::uint32_t amount) { return value >> amount; }},
    {BinOp::SShr, [](std::uint64_t value, std::uint32_t amount) { return (value | (value >> 31) * 0xFFFFFFFF00000000) >> amount; }},
    {BinOp::RotateLeft, [](std::uint64_t value, std::uint32_t amount) { return (value << 32 | value) >> (32 - amount); }},
    {BinOp::RotateRight, [](std::uint64_t value, std::uint32_t amount) { return (value << 32 | value) >> amount; }},
};

// All amounts from 0 to 255, and some whose upper bytes are not zero, of words with one bit, words without one bit, and others.
struct Operands {
  Words values, amounts;
};
Operands all_operands() {
  Words words = {0, 0xFFFFFFFF, 0x12345678, 0x89ABCDEF, 0x0000FFFF, 0xFFFF0000};
  for (std::uint32_t bit = 0; bit < 32; ++bit) words.insert(words.end(), {1u << bit, ~(1u << bit)});
  for (const std::uint32_t random : numbers(10)) words.push_back(random);
  Operands result;
  for (const std::uint32_t word : words) {
    for (std::uint32_t amount = 0; amount < 256; ++amount) {
      result.values.push_back(word);
      result.amounts.push_back(amount % 3 == 0 ? amount : amount | word << 8);
    }
  }
  return result;
}

ExprHandle as_u32(BinOp op, const ExprHandle& value, const ExprHandle& amount) {
  if (op != BinOp::SShr) return bin(op, value, amount);
  return cast(DataType::U32, bin(op, cast(DataType::I32, value), amount));
}

// The operands have registers of their own, are needed afterwards, or are in memory because there are more values than registers.
enum class Live { Operands, ValueAfterwards, AmountAfterwards, Many };

Program shifting(BinOp op, Live live) {
  const auto i = gid(0);
  Sample sample;
  sample.in("a").in("n").out("out").size(64).add(let("value", load("a", i))).add(let("amount", load("n", i)));
  const std::uint32_t others = live == Live::Many ? 24 : 0;
  for (std::uint32_t k = 0; k < others; ++k) sample.add(let("v" + std::to_string(k), var("value") ^ (var("amount") + u32(k))));
  sample.add(let("result", as_u32(op, var("value"), var("amount"))));
  ExprHandle result = var("result");
  if (live == Live::ValueAfterwards || live == Live::Many) result = result + var("value");
  if (live == Live::AmountAfterwards || live == Live::Many) result = result + var("amount");
  for (std::uint32_t k = 0; k < others; ++k) result = result * u32(3) + var("v" + std::to_string(k));
  return sample.add(if_(i < len("out"), {store("out", i, result)})).make();
}

std::uint32_t expected(const ShiftModel& model, Live live, std::uint32_t value, std::uint32_t amount) {
  auto result = static_cast<std::uint32_t>(model.result(value, amount % 32));
  if (live == Live::ValueAfterwards || live == Live::Many) result += value;
  if (live == Live::AmountAfterwards || live == Live::Many) result += amount;
  for (std::uint32_t k = 0; k < (live == Live::Many ? 24 : 0); ++k) result = result * 3 + (value ^ (amount + k));
  return result;
}

TEST(NativeShifts, of_lanes_by_all_amounts_are_arithmetic) {
  const Operands operands = all_operands();
  const auto count = static_cast<std::uint32_t>(operands.values.size());
  for (const run::cpu::native::Vectors vectors : run::cpu::native::available_vectors()) {
    const auto cpu = run::make_cpu_backend({.threads = 1, .instructions = std::string(run::cpu::native::name(vectors))});
    for (const ShiftModel& model : kShiftModels) {
      for (const Live live : {Live::Operands, Live::ValueAfterwards, Live::AmountAfterwards, Live::Many}) {
        const Words got = run_program(*cpu, valid(shifting(model.op, live)), {operands.values, operands.amounts, Words(count)},
                                      {(count + 63) / 64, 1, 1}, {}, compiled())
                              .back();
        std::uint32_t wrong = 0;
        for (std::uint32_t k = 0; k < count; ++k) wrong += got[k] != expected(model, live, operands.values[k], operands.amounts[k]);
        EXPECT_EQ(wrong, 0u) << run::cpu::native::name(vectors) << ", " << info(model.op).text << ", " << static_cast<int>(live);
      }
    }
  }
}

// The lanes that code for SSE4.1 runs at a time, of a kernel that has so many vectors of words at once and combines them by the operator.
int lanes_at_a_time(lower::Opcode op, std::uint32_t words) {
  KernelBuilder k({64, 1, 1});
  const std::uint32_t in = k.buffer(1, false), out = k.buffer(1, true);
  const auto i = k.leaf(lower::Opcode::InvocationId, 0);
  std::vector<lower::ValueId> values{k.load(in, i)};
  while (values.size() < words) values.push_back(k.op(lower::Opcode::Add, values.back(), values.front()));
  lower::ValueId all = values.back();
  for (const lower::ValueId value : values) all = k.op(op, all, value);
  k.store(out, i, all);
  run::cpu::native::Refusal refusal;
  const auto made = run::cpu::native::translate(k.finish(), run::cpu::native::Vectors::Sse41, refusal);
  EXPECT_TRUE(made) << refusal.reason;
  return made ? made->lanes : 0;
}

// SSE4.1 has nine registers for the values of two vectors of lanes.
TEST(NativeShifts, by_lanes_take_two_vectors_at_a_time_although_values_spill) {
  EXPECT_EQ(lanes_at_a_time(lower::Opcode::RotateLeft, 9), 8);
  EXPECT_EQ(lanes_at_a_time(lower::Opcode::SShr, 9), 8);
  EXPECT_EQ(lanes_at_a_time(lower::Opcode::Xor, 9), 4);
  EXPECT_EQ(lanes_at_a_time(lower::Opcode::RotateLeft, 10), 4);
}

TEST(NativeShifts, and_other_operators_take_two_vectors_at_a_time_if_at_most_one_spills) {
  EXPECT_EQ(lanes_at_a_time(lower::Opcode::Xor, 5), 8);
  EXPECT_EQ(lanes_at_a_time(lower::Opcode::Xor, 6), 4);
}

}  // namespace
}  // namespace vyre::test
#endif
