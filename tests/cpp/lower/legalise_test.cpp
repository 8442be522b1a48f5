// What becomes of operators and accesses on targets that have or lack the opcodes for them.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/programs/programs.hpp"
#include "support/run_program.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/lower/lower.hpp"
#include "vyre/ops/body.hpp"
#include "vyre/run/reference/reference.hpp"
#include "vyre/transform/replace_operators.hpp"

namespace vyre {
namespace {

using namespace sample;
using lower::Kernel;
using lower::Opcode;
using lower::Target;

std::size_t count(const Kernel& kernel, Opcode op) {
  return static_cast<std::size_t>(std::ranges::count(kernel.code, op, &lower::Instruction::op));
}

// --- Opcodes ---

Kernel rotated(const Target& target, BinOp op, const ExprHandle& amount) {
  const auto program = Sample().in("in").out("out").add(store("out", gid(0), bin(op, load("in", gid(0)), amount))).make();
  return lower::lower(test::valid(program), {}, target);
}

TEST(Legalise, a_rotation_is_one_instruction_where_the_target_has_it) {
  for (const ExprHandle& amount : {u32(7), gid(1)}) {
    const Kernel left = rotated(lower::kCpuTarget, BinOp::RotateLeft, amount);
    EXPECT_EQ(count(left, Opcode::RotateLeft), 1u);
    const Kernel right = rotated(lower::kCpuTarget, BinOp::RotateRight, amount);
    EXPECT_EQ(count(right, Opcode::RotateRight), 1u);
    for (const Kernel* kernel : {&left, &right}) {
      for (const Opcode op : {Opcode::Shl, Opcode::Shr, Opcode::And, Opcode::Neg}) EXPECT_EQ(count(*kernel, op), 0u);
    }
    for (const BinOp op : {BinOp::RotateLeft, BinOp::RotateRight}) {
      const Kernel shader = rotated(lower::kShaderTarget, op, amount);
      EXPECT_EQ(count(shader, Opcode::RotateLeft) + count(shader, Opcode::RotateRight), 0u);
      EXPECT_EQ(count(shader, Opcode::Shl), 1u);
      EXPECT_EQ(count(shader, Opcode::Shr), 1u);
    }
  }
}

Kernel divided(const Target& target, const ExprHandle& a, const ExprHandle& b) {
  const ExprHandle quotient = call("primitive.u64.div", {a, b}), rest = call("primitive.u64.mod", {a, b});
  const auto out = Sample().in("in").out("out").add(store("out", gid(0), lane(quotient, 0) ^ lane(rest, 1) ^ lane(rest, 0)));
  return lower::lower(test::valid(out.make()), {}, target);
}

TEST(Legalise, a_64_bit_quotient_with_its_remainder_is_one_division_where_the_target_has_it) {
  const auto wide = [](std::uint32_t k) { return pack(ir::DataType::U64, {load("in", gid(0)), load("in", gid(0) + u32(k))}); };
  const Kernel native = divided(lower::kPtxTarget, wide(1), wide(2)), words = divided(lower::kShaderTarget, wide(1), wide(2));
  EXPECT_EQ(count(native, Opcode::WideDiv), 1u);
  EXPECT_EQ(count(native, Opcode::WideMod), 0u);
  EXPECT_EQ(count(words, Opcode::WideDiv) + count(words, Opcode::Loop), 0u);
  EXPECT_EQ(count(words, Opcode::Div), 3u);
  EXPECT_EQ(count(divided(lower::kPtxTarget, wide(1), ir::expr::u64(10)), Opcode::WideMulHigh), 1u);
}

TEST(Legalise, a_64_bit_division_of_numbers_below_2_32_is_one_of_32_bits) {
  const auto wide = [](std::uint32_t k) { return cast(ir::DataType::U64, load("in", gid(0) + u32(k))); };
  for (const ExprHandle& by : {wide(1), ir::expr::u64(10)}) {
    const Kernel kernel = divided(lower::kPtxTarget, wide(0), by);
    EXPECT_EQ(count(kernel, Opcode::Div) + count(kernel, Opcode::Mod), 2u);
    EXPECT_EQ(count(kernel, Opcode::WideDiv) + count(kernel, Opcode::WideMulHigh), 0u);
  }
}

// --- Bodies ---

ir::OpTable with_operations() {
  ir::OpTable table;
  // The high half of a product by halves of 16 bits, none of whose sums overflows.
  const auto high = [](ops::Body& body) {
    const auto half = [](const ExprHandle& value, bool upper) {
      return upper ? bin(BinOp::Shr, value, u32(16)) : bin(BinOp::BitAnd, value, u32(0xFFFF));
    };
    const ExprHandle a = body.parameter(0), b = body.parameter(1);
    const auto low = body.let("low", half(a, false) * half(b, false));
    const auto cross_a = body.let("cross_a", half(a, true) * half(b, false));
    const auto cross_b = body.let("cross_b", half(a, false) * half(b, true));
    const auto carry = body.let("carry", half(half(low, true) + half(cross_a, false) + half(cross_b, false), true));
    return half(a, true) * half(b, true) + half(cross_a, true) + half(cross_b, true) + carry;
  };
  table = table.with(ops::make_op({"test.mul_high", {{DataType::U32, DataType::U32}, DataType::U32}, "", {}, {}}, high));
  const auto negate = [](ops::Body& body) { return un(UnOp::BitNot, body.parameter(0)) + u32(1); };
  return table.with(ops::make_op({"test.negate", {{DataType::U32}, DataType::U32}, "", {}, {}}, negate));
}

class LegaliseBodies : public testing::Test {
 protected:
  const ir::OpTable operations_ = with_operations();
  const std::array<transform::OperatorBody, 2> bodies_{
      {{.op = BinOp::MulHigh, .operation = "test.mul_high"}, {.op = UnOp::Negate, .operation = "test.negate"}}};
  const Target target_{.name = "without mul_high and neg", .bodies = bodies_, .operations = &operations_};
  const validate::ValidProgram program_ = test::valid(
      Sample()
          .in("a")
          .in("b")
          .out("out")
          .add(if_(gid(0) < len("a"), {store("out", gid(0), un(UnOp::Negate, bin(BinOp::MulHigh, load("a", gid(0)), load("b", gid(0)))))}))
          .make());
};

TEST_F(LegaliseBodies, a_target_computes_the_operation_in_place_of_an_operator_that_it_lacks) {
  for (const bool passes : {true, false}) {
    const lower::Options options{.passes = passes};
    const Kernel with = lower::lower(program_, options), without = lower::lower(program_, options, target_);
    EXPECT_EQ(count(with, Opcode::MulHigh), 1u);
    EXPECT_EQ(count(with, Opcode::Neg), 1u);
    EXPECT_EQ(count(without, Opcode::MulHigh), 0u);
    EXPECT_EQ(count(without, Opcode::Neg), 0u);
    EXPECT_EQ(count(without, Opcode::Mul), 4u);
    EXPECT_EQ(count(without, Opcode::Not), 1u);
  }
  EXPECT_EQ(count(lower::lower_coarsened(program_, 4, {}, target_).value(), Opcode::MulHigh), 0u);
}

TEST_F(LegaliseBodies, the_operation_gives_the_bytes_of_the_operator) {
  const std::vector<std::uint32_t> edges{0, 1, 2, 0xFFFF, 0x10000, 0x10001, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF};
  std::vector<std::uint32_t> a, b, expected;
  for (const std::uint32_t left : edges) {
    for (const std::uint32_t right : edges) {
      a.push_back(left);
      b.push_back(right);
      expected.push_back(static_cast<std::uint32_t>(-(std::uint64_t{left} * right >> 32)));
    }
  }
  const validate::ValidProgram replaced = transform::replace_operators(program_, bodies_, operations_);
  const std::vector<test::Words> given{a, b, test::Words(a.size())};
  const auto size = static_cast<std::uint32_t>(a.size());
  EXPECT_EQ(test::run_program(*run::make_reference_backend(), replaced, given, {size, 1, 1}).at(2), expected);
}

TEST_F(LegaliseBodies, a_program_without_such_operators_stays_as_it_is) {
  const validate::ValidProgram program = test::valid(Sample().out("out").add(store("out", gid(0), gid(0) + u32(1))).make());
  EXPECT_EQ(&transform::replace_operators(program, bodies_, operations_).program(), &program.program());
}

}  // namespace
}  // namespace vyre
