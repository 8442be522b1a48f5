// Lowered programs have guards where they are needed and nowhere else, each constant once, and no unused value.
#include "vyre/lower/lower.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>

#include "support/lanewise.hpp"
#include "support/programs/programs.hpp"
#include "support/programs/sample_programs.hpp"
#include "support/run_program.hpp"
#include "support/small_stack.hpp"
#include "vyre/fuzz/generate.hpp"
#include "vyre/fuzz/operations.hpp"
#include "vyre/lower/operators.hpp"
#include "vyre/transform/coarsen.hpp"

namespace vyre {
namespace {

using namespace sample;
using lower::Kernel;
using lower::Opcode;

// Lowers without the optimiser by default, so that a test sees the work of lowering alone.
Kernel lowered(const ir::Program& program, bool optimize = false) { return lower::lower(test::valid(program), {.passes = optimize}); }

std::size_t count(const Kernel& kernel, Opcode op) {
  return static_cast<std::size_t>(
      std::count_if(kernel.code.begin(), kernel.code.end(), [op](const lower::Instruction& it) { return it.op == op; }));
}

TEST(Lower, a_cast_may_be_a_unary_operator) {
  lower::Writer writer({1, 1, 1});
  const lower::ValueId id = writer.add({.op = Opcode::InvocationId, .lanes = 1});
  const lower::ValueId cast = lower::lower_cast(writer, lower::kShaderTarget, ir::CastKind::Popcount, id, 1, ir::DataType::U32);
  EXPECT_EQ(writer.at(cast).op, Opcode::Popcount);
}

TEST(Lower, xor_of_two_buffers) {
  const Kernel kernel = lowered(test::xor_program());
  EXPECT_EQ(lower::to_text(kernel), R"(kernel 64 1 1
buffer b0: 1 lane
buffer b1: 1 lane
buffer b2: 1 lane, writable
  %0 = invocation_id x
  %1 = length b2
  %2 = constant 0
  %3 = length b0
  %4 = length b1
  %5 = lt %0 %1
  if %5
    %7 = lt %0 %3
    %8 = select %7 %0 %2
    %9 = load_buffer b0 %8
    %10 = select %7 %9 %2
    %11 = lt %0 %4
    %12 = select %11 %0 %2
    %13 = load_buffer b1 %12
    %14 = select %11 %13 %2
    %15 = xor %10 %14
    store_buffer b2 %0 %15
  end_if
)");
}

TEST(Lower, a_store_stands_under_its_guard) {
  EXPECT_EQ(lower::to_text(lowered(Sample().out("out").add(store("out", u32(7), u32(9))).make())), R"(kernel 1 1 1
buffer b0: 1 lane, writable
  %0 = constant 7
  %1 = constant 9
  %2 = length b0
  %3 = lt %0 %2
  if %3
    store_buffer b0 %0 %1
  end_if
)");
}

TEST(Lower, makes_variables_of_a_private_array_whose_indices_are_all_literals) {
  const auto kernel = [](ExprHandle index, bool optimize = true) {
    return lowered(Sample()
                       .out("out")
                       .own("four", 4)
                       .add({loop("k", u32(0), gid(0), {store("four", index, load("four", u32(1)) + var("k"))}),
                             store("out", load("four", u32(9)), load("four", u32(1)) + len("four"))})
                       .make(),
                   optimize);
  };
  EXPECT_TRUE(kernel(u32(1)).privates.empty());
  EXPECT_EQ(kernel(u32(1)).variables.size(), 1u);  // the elements that nothing reads are gone
  EXPECT_EQ(kernel(u32(5)).privates.size(), 0u);   // stored out of bounds: nowhere
  EXPECT_EQ(count(kernel(u32(1)), Opcode::LoadPrivate), 0u);
  EXPECT_EQ(kernel(var("k")).privates.size(), 1u);
  EXPECT_EQ(kernel(u32(1), false).privates.size(), 1u);
}

TEST(Lower, an_atomic_gives_zero_when_it_does_not_happen) {
  const auto program = Sample().out("cells").out("old").add(store("old", u32(0), compare_exchange("cells", gid(0), u32(1), u32(2)))).make();
  EXPECT_EQ(lower::to_text(lowered(program)), R"(kernel 1 1 1
buffer b0: 1 lane, writable, atomic
buffer b1: 1 lane, writable
variable v0: 1 lane
  %0 = constant 0
  %1 = invocation_id x
  %2 = constant 1
  %3 = constant 2
  %4 = length b0
  %5 = length b1
  %6 = lt %1 %4
  write v0 %0
  if %6
    %9 = atomic_compare_exchange b0 %1 %2 %3
    write v0 %9
  end_if
  %12 = read v0
  %13 = lt %0 %5
  if %13
    store_buffer b1 %0 %12
  end_if
)");
}

TEST(Lower, an_unused_result_of_an_atomic_needs_no_variable) {
  const Kernel kernel = lowered(Sample().out("cells").add(let("old", atomic(AtomicOp::Add, "cells", gid(0), u32(1)))).make());
  EXPECT_TRUE(kernel.variables.empty());
  EXPECT_EQ(count(kernel, Opcode::AtomicAdd), 1u);
}

TEST(Lower, a_let_is_a_value_unless_it_is_assigned) {
  const auto program = Sample()
                           .out("out")
                           .add({let("fixed", gid(0) + u32(1)), let("sum", var("fixed")),
                                 loop("k", u32(0), var("fixed"), {assign("sum", var("sum") + var("k"))}), store("out", u32(0), var("sum"))})
                           .make();
  EXPECT_EQ(lower::to_text(lowered(program)), R"(kernel 1 1 1
buffer b0: 1 lane, writable
variable v0: 1 lane
  %0 = invocation_id x
  %1 = constant 1
  %2 = constant 0
  %3 = length b0
  %4 = add %0 %1
  write v0 %4
  %6 = loop %2 %4
    %7 = read v0
    %8 = add %7 %6
    write v0 %8
  end_loop
  %11 = read v0
  %12 = lt %2 %3
  if %12
    store_buffer b0 %2 %11
  end_if
)");
}

TEST(Lower, vectors_and_truth_values) {
  const auto program = Sample()
                           .in("flags", DataType::Bool)
                           .out("out", DataType::U64)
                           .add(store("out", u32(0), select(load("flags", gid(0)), u64(0x200000001), cast(DataType::U64, i32(-1)))))
                           .make();
  EXPECT_EQ(lower::to_text(lowered(program)), R"(kernel 1 1 1
buffer b0: 1 lane
buffer b1: 2 lanes, writable
  %0 = constant 0
  %1 = invocation_id x
  %2 = length b0
  %3 = constant 1
  %4 = constant 2
  %5 = pack %3 %4
  %6 = constant 4294967295
  %7 = constant 31
  %8 = length b1
  %9 = lt %1 %2
  %10 = select %9 %1 %0
  %11 = load_buffer b0 %10
  %12 = select %9 %11 %0
  %13 = ne %12 %0
  %14 = sshr %6 %7
  %15 = pack %6 %14
  %16 = select %13 %5 %15
  %17 = lt %0 %8
  if %17
    store_buffer b1 %0 %16
  end_if
)");
}

TEST(Lower, division_is_guarded_unless_the_divisor_is_a_literal) {
  const auto divided_by = [](ExprHandle divisor) {
    return lowered(Sample().in("in").out("out").add(store("out", u32(0), bin(BinOp::Div, load("in", u32(0)), divisor))).make());
  };
  EXPECT_EQ(count(divided_by(gid(0)), Opcode::Eq), 1u);
  EXPECT_EQ(count(divided_by(u32(3)), Opcode::Eq), 0u);
  EXPECT_EQ(count(divided_by(u32(3)), Opcode::Div), 1u);
  EXPECT_EQ(count(divided_by(u32(0)), Opcode::Div), 0u);
}

TEST(Lower, shifts_are_masked_unless_the_amount_is_a_literal) {
  const auto shifted_by = [](BinOp op, ExprHandle amount) {
    return lowered(Sample().in("in").out("out").add(store("out", u32(0), bin(op, load("in", u32(0)), amount))).make());
  };
  EXPECT_EQ(count(shifted_by(BinOp::Shl, gid(0)), Opcode::And), 1u);
  EXPECT_EQ(count(shifted_by(BinOp::Shl, u32(40)), Opcode::And), 0u);
  EXPECT_EQ(count(shifted_by(BinOp::RotateLeft, gid(0)), Opcode::And), 2u);
  EXPECT_EQ(count(shifted_by(BinOp::RotateLeft, u32(40)), Opcode::And), 0u);
  EXPECT_EQ(count(shifted_by(BinOp::RotateRight, u32(32)), Opcode::Or), 0u);
}

// Interprets the lowered code of out[0] = value(gid x) for one x, and returns the stored word.
std::uint32_t stored(const Kernel& kernel, std::uint32_t x) {
  std::vector<std::uint32_t> values;
  for (const lower::Instruction& it : kernel.code) {
    const auto operand = [&](lower::ValueId id) { return id.valid() ? values[id.index] : 0; };
    if (it.op == Opcode::StoreBuffer) return operand(it.b);
    values.push_back(it.op == Opcode::Constant       ? it.imm
                     : it.op == Opcode::InvocationId ? x
                     : lower::is_lanewise(it.op)     ? test::lanewise(it.op, operand(it.a), operand(it.b))
                                                     : 1);
  }
  return 0;
}
Kernel storing(const ExprHandle& value) { return lowered(Sample().out("out").add(store("out", u32(0), value)).make()); }

// Shifts move each bit by itself, so trying all amounts with each single bit covers every case.
TEST(Lower, two_shifts_by_literals_are_one) {
  for (const auto& [op, opcode] :
       {std::pair(BinOp::Shl, Opcode::Shl), std::pair(BinOp::Shr, Opcode::Shr), std::pair(BinOp::SShr, Opcode::SShr)}) {
    for (std::uint32_t first = 0; first < 32; ++first) {
      for (std::uint32_t second = 0; second < 32; ++second) {
        const ExprHandle x = op == BinOp::SShr ? cast(DataType::I32, gid(0)) : gid(0);
        const Kernel kernel = storing(cast(DataType::U32, bin(op, bin(op, x, u32(first)), u32(second))));
        EXPECT_LE(count(kernel, opcode), 1u);
        for (std::uint32_t bit = 0; bit < 32; ++bit) {
          const std::uint32_t given = 1u << bit;
          ASSERT_EQ(stored(kernel, given), test::lanewise(opcode, test::lanewise(opcode, given, first), second)) << first << ", " << second;
        }
      }
    }
  }
}

TEST(Lower, division_by_a_power_of_two_shifts_and_masks) {
  for (std::uint32_t power = 0; power < 32; ++power) {
    const std::uint32_t divisor = 1u << power;
    const Kernel quotient = storing(bin(BinOp::Div, gid(0), u32(divisor))), rest = storing(bin(BinOp::Mod, gid(0), u32(divisor)));
    EXPECT_EQ(count(quotient, Opcode::Div) + count(rest, Opcode::Mod), 0u);
    for (const std::uint32_t x : {0u, 1u, divisor - 1, divisor, divisor + 1, 0x9E37'79B9u, ~0u}) {
      ASSERT_EQ(stored(quotient, x), x / divisor);
      ASSERT_EQ(stored(rest, x), x % divisor);
    }
  }
  EXPECT_EQ(count(storing(bin(BinOp::Mod, gid(0), u32(6))), Opcode::Mod), 1u);
}

TEST(Lower, a_product_by_a_power_of_two_is_a_shift) {
  for (std::uint32_t power = 0; power < 32; ++power) {
    const std::uint32_t factor = 1u << power;
    for (const bool first : {false, true}) {
      const auto by = [&](BinOp op) { return storing(first ? bin(op, u32(factor), gid(0)) : bin(op, gid(0), u32(factor))); };
      const Kernel product = by(BinOp::Mul), high = by(BinOp::MulHigh);
      EXPECT_EQ(count(product, Opcode::Mul) + count(high, Opcode::MulHigh), 0u);
      EXPECT_EQ(count(product, Opcode::Shl), power == 0 ? 0u : 1u);
      for (const std::uint32_t x : {0u, 1u, 0x9E37'79B9u, ~0u}) {
        ASSERT_EQ(stored(product, x), x * factor);
        ASSERT_EQ(stored(high, x), static_cast<std::uint32_t>(std::uint64_t{x} * factor >> 32));
      }
    }
  }
  EXPECT_EQ(count(storing(bin(BinOp::Mul, gid(0), u32(6))), Opcode::Mul), 1u);
  // The shift that a product becomes joins the shifts around it.
  EXPECT_EQ(count(storing(bin(BinOp::Mul, bin(BinOp::Mul, gid(0), u32(4)), u32(8))), Opcode::Shl), 1u);
}

TEST(Lower, a_64_bit_division_by_a_literal_has_no_loop_and_no_division) {
  const auto divided = [](const char* op, std::uint64_t by) {
    const ExprHandle value = call(op, {pack(DataType::U64, {gid(0), gid(1)}), ir::expr::u64(by)});
    return lower::lower(
        test::valid(Sample().out("out").add({let("r", value), store("out", u32(0), lane(var("r"), 0) ^ lane(var("r"), 1))}).make()));
  };
  for (std::uint32_t power = 0; power < 64; ++power) {
    const Kernel quotient = divided("primitive.u64.div", std::uint64_t{1} << power);
    const Kernel rest = divided("primitive.u64.mod", std::uint64_t{1} << power);
    EXPECT_EQ(count(quotient, Opcode::Loop) + count(rest, Opcode::Loop), 0u);
    EXPECT_LE(count(quotient, Opcode::Shl) + count(quotient, Opcode::Shr), 3u);
    EXPECT_LE(count(rest, Opcode::And), 1u);
  }
  for (const std::uint64_t by : {std::uint64_t{7}, std::uint64_t{10}, std::uint64_t{0xFFFFFFFFFFFFFFFF}}) {
    for (const char* op : {"primitive.u64.div", "primitive.u64.mod"}) {
      const Kernel kernel = divided(op, by);
      EXPECT_EQ(count(kernel, Opcode::Loop) + count(kernel, Opcode::Div) + count(kernel, Opcode::Mod), 0u);
    }
  }
}

TEST(Lower, a_64_bit_rotation_by_a_literal_is_four_shifts_and_two_ors) {
  const auto rotated = [](const char* op, std::uint32_t by) {
    const ExprHandle value = call(op, {pack(DataType::U64, {gid(0), gid(1)}), u32(by)});
    return lower::lower(
        test::valid(Sample().out("out").add({let("r", value), store("out", u32(0), lane(var("r"), 0) ^ lane(var("r"), 1))}).make()));
  };
  const auto operations = [](const Kernel& kernel) {
    return std::array{count(kernel, Opcode::Shl) + count(kernel, Opcode::Shr), count(kernel, Opcode::Or), count(kernel, Opcode::Select)};
  };
  using Counts = std::array<std::size_t, 3>;
  for (const char* op : {"primitive.u64.rotl", "primitive.u64.rotr"}) {
    EXPECT_EQ(operations(rotated(op, 7)), (Counts{4, 2, 0}));
    EXPECT_EQ(operations(rotated(op, 39)), (Counts{4, 2, 0}));
    EXPECT_EQ(operations(rotated(op, 32)), (Counts{0, 0, 0}));
  }
  EXPECT_EQ(operations(rotated("primitive.u64.shl", 7)), (Counts{3, 1, 0}));
  EXPECT_EQ(operations(rotated("primitive.u64.shr", 40)), (Counts{1, 0, 0}));
}

// Counts the comparisons with a length that are left for a store and the statement around it.
std::size_t guards(const NodeHandle& node, std::uint32_t size = 1) {
  const Kernel kernel = lowered(Sample().out("out").shared("cells", 8).size(size).add(node).make());
  return count(kernel, Opcode::Lt);
}

TEST(Lower, a_declared_count_proves_indices_below_it) {
  const auto guards_of = [](BufferAccess access, const ExprHandle& index, const lower::Options& options = {}) {
    BufferDecl counted = BufferDecl::storage("counted", 1, access, DataType::U32);
    counted.count = 4;
    const auto program =
        Sample().out("out").size(8).buffer(counted).add(if_(gid(0) < len("out"), {store("out", gid(0), load("counted", index))}));
    return count(lower::lower(test::valid(program.make()), options), Opcode::Lt) - 1;  // the condition itself
  };
  for (const BufferAccess access : {BufferAccess::ReadOnly, BufferAccess::ReadWrite, BufferAccess::Uniform}) {
    for (const std::uint32_t index : {0u, 3u, ~0u}) EXPECT_EQ(guards_of(access, u32(index)), 0u);
    EXPECT_EQ(guards_of(access, u32(4)), 1u);
    EXPECT_EQ(guards_of(access, u32(0), {.proofs = false}), 1u);
    EXPECT_EQ(guards_of(access, gid(0)), 1u);
  }
  // The ranges of values keep these indices below the count.
  EXPECT_EQ(guards_of(BufferAccess::ReadOnly, bin(BinOp::BitAnd, gid(0), u32(3))), 0u);
  EXPECT_EQ(guards_of(BufferAccess::ReadWrite, bin(BinOp::Shr, lid(0), u32(1))), 0u);
  EXPECT_EQ(guards_of(BufferAccess::ReadWrite, lid(0)), 1u);
}

TEST(Lower, a_guard_that_the_code_around_it_proves_is_left_out) {
  const auto write = [](ExprHandle index) { return store("out", index, u32(1)); };
  EXPECT_EQ(guards(write(gid(0))), 1u);
  EXPECT_EQ(guards(if_(gid(0) < len("out"), {write(gid(0))})), 1u);  // the condition itself
  EXPECT_EQ(guards(if_(gid(0) < len("out"), {}, {write(gid(0))})), 2u);
  EXPECT_EQ(guards(if_(gid(0) < len("out"), {write(gid(1))})), 2u);
  EXPECT_EQ(guards(block({if_(gid(0) < len("out"), {}), write(gid(0))})), 2u);
  EXPECT_EQ(guards(if_(bin(BinOp::And, gid(1), gid(0) < len("out")), {write(gid(0))})), 1u);
  EXPECT_EQ(guards(if_(bin(BinOp::Or, gid(1), gid(0) < len("out")), {write(gid(0))})), 2u);
  EXPECT_EQ(guards(loop("k", gid(0), len("out"), {write(var("k"))})), 0u);
  EXPECT_EQ(guards(loop("k", gid(0), len("out"), {loop("j", u32(0), gid(1), {write(var("k"))})})), 0u);
  // The condition counts however deep it stands in a conjunction, and as the opposite of its opposite.
  const auto both = [](ExprHandle a, ExprHandle b) { return bin(BinOp::And, std::move(a), std::move(b)); };
  EXPECT_EQ(guards(if_(both(both(gid(1), gid(0) < len("out")), gid(2)), {write(gid(0))})), 1u);
  EXPECT_EQ(guards(if_(un(UnOp::LogicalNot, bin(BinOp::Ge, gid(0), len("out"))), {write(gid(0))})), 0u);
  EXPECT_EQ(guards(if_(un(UnOp::LogicalNot, bin(BinOp::Gt, gid(0), len("out"))), {write(gid(0))})), 2u);
  EXPECT_EQ(guards(if_(un(UnOp::LogicalNot, gid(0) < len("out")), {write(gid(0))})), 2u);
  EXPECT_EQ(guards(if_(bin(BinOp::Eq, bin(BinOp::Ge, gid(0), len("out")), u32(1)), {write(gid(0))})), 1u);
  // After an early return its condition is known not to hold.
  const auto too_far = bin(BinOp::Ge, gid(0), len("out"));
  EXPECT_EQ(guards(block({if_(too_far, {return_()}), write(gid(0))})), 0u);
  EXPECT_EQ(guards(block({if_(too_far, {block({return_()})}, {write(gid(0))}), write(gid(0))})), 0u);
  EXPECT_EQ(guards(block({if_(too_far, {}, {write(gid(0))}), write(gid(0))})), 1u);
  // Both branches go on, so nothing is known after them.
  EXPECT_EQ(guards(block({if_(gid(0) < len("out"), {let("a", u32(1))}, {let("b", u32(2))}), write(gid(0))})), 2u);
  EXPECT_EQ(guards(block({if_(too_far, {let("a", u32(1))}, {let("b", u32(2))}), write(gid(0))})), 1u);
  // An index that is not beyond the length may be the length itself, which is out of bounds.
  const auto beyond = bin(BinOp::Gt, gid(0), len("out"));
  EXPECT_EQ(guards(if_(beyond, {}, {write(gid(0))})), 2u);
  EXPECT_EQ(guards(block({if_(beyond, {return_()}), write(gid(0))})), 2u);
  EXPECT_EQ(guards(block({if_(gid(0) < len("out"), {}, {return_()}), write(gid(0))})), 1u);
  EXPECT_EQ(guards(block({loop("k", u32(0), gid(1), {if_(too_far, {return_()})}), write(gid(0))})), 1u);
}

// A condition that holds for all copies is a proof for each of them.
TEST(Lower, a_coarsened_program_guards_no_more_than_its_own_condition) {
  for (const ir::Program& program :
       {test::xor_program(),
        Sample().out("out").add({if_(bin(BinOp::Ge, gid(0), len("out")), {return_()}), store("out", gid(0), u32(1))}).make()}) {
    const Kernel plain = lowered(program);
    const Kernel kernel = lower::lower(transform::coarsen(test::valid(program), 4).value(), {.passes = false});
    // Each of the four copies has two stores: one where all copies take turns, and one where it runs alone.
    EXPECT_EQ(count(kernel, Opcode::StoreBuffer), 8u);
    EXPECT_EQ(count(kernel, Opcode::If), 5u);
    EXPECT_LE(count(kernel, Opcode::Lt), 4 * (2 * count(plain, Opcode::Lt) - 1));
  }
}

TEST(Lower, without_proofs_every_access_is_guarded) {
  lower::Options options{.passes = false, .proofs = false};
  const auto guarded = [&](const ir::Program& program) {
    const Kernel kernel = lower::lower(test::valid(program), options);
    return count(kernel, Opcode::Lt);
  };
  EXPECT_EQ(guarded(test::xor_program()), 4u);
  const auto in_loop = Sample().out("out").add(loop("k", u32(0), len("out"), {store("out", var("k"), u32(1))})).make();
  EXPECT_EQ(guarded(in_loop), 1u);
  const auto shared = Sample().out("out").shared("s", 4).size(4).add(store("s", lid(0), u32(1))).make();
  EXPECT_EQ(guarded(shared), 1u);
  options.proofs = true;
  EXPECT_EQ(guarded(in_loop), 0u);
  EXPECT_EQ(guarded(shared), 0u);
}

TEST(Lower, what_ranges_decide_is_not_there) {
  const auto opcodes = [](const NodeHandle& node) {
    const Kernel kernel = lowered(Sample().out("out").shared("cells", 8).size(8).add(node).make());
    std::vector<Opcode> made;
    for (const auto& it : kernel.code) {
      if (lower::has_effect(it.op) || lower::accesses_memory(it.op)) made.push_back(it.op);
    }
    return made;
  };
  using Opcodes = std::vector<Opcode>;
  EXPECT_EQ(opcodes(store("cells", u32(8), u32(1))), Opcodes{});
  EXPECT_EQ(opcodes(store("cells", lid(0), load("cells", lid(0) + u32(8)))), Opcodes{Opcode::StoreShared});
  EXPECT_EQ(opcodes(store("cells", select(lid(0) < u32(8), lid(0), u32(~0u)), u32(1))), Opcodes{Opcode::StoreShared});
  const auto both = [](const ExprHandle& condition) {
    return if_(condition, {store("cells", u32(1), u32(1))}, {store("cells", u32(2), u32(2)), store("cells", u32(3), u32(3))});
  };
  EXPECT_EQ(opcodes(both(lid(0) < u32(8))), Opcodes{Opcode::StoreShared});
  EXPECT_EQ(opcodes(both(lid(0) < u32(0))), (Opcodes{Opcode::StoreShared, Opcode::StoreShared}));
  EXPECT_EQ(opcodes(both(lid(0) < u32(7))).front(), Opcode::If);
  EXPECT_EQ(opcodes(block({if_(lid(0) < u32(8), {return_()}), store("cells", u32(1), u32(1))})), Opcodes{Opcode::Return});
  EXPECT_EQ(opcodes(block({if_(lid(0) < u32(0), {return_()}), store("cells", u32(1), u32(1))})), Opcodes{Opcode::StoreShared});
  EXPECT_EQ(opcodes(block({if_(lid(0) < u32(8), {both(lid(0) < u32(7))}, {return_()}), store("cells", u32(1), u32(1))})).size(), 7u);
}

TEST(Lower, a_shared_array_needs_no_guard_where_the_index_is_small_by_itself) {
  const auto write = [](ExprHandle index) { return store("cells", index, u32(1)); };
  EXPECT_EQ(guards(write(u32(7))), 0u);
  EXPECT_EQ(guards(write(lid(0)), 8), 0u);
  EXPECT_EQ(guards(write(lid(0)), 9), 1u);
  EXPECT_EQ(guards(write(bin(BinOp::BitAnd, gid(0), u32(7)))), 0u);
  EXPECT_EQ(guards(write(bin(BinOp::BitAnd, gid(0), u32(8)))), 1u);
  EXPECT_EQ(guards(write(bin(BinOp::Mod, gid(0), u32(8)))), 0u);
  EXPECT_EQ(guards(write(bin(BinOp::Mod, gid(0), u32(9)))), 1u);
}

// Counts the accesses that keep their check.
std::size_t checks(const List& body, std::uint32_t size = 64) {
  const auto program = Sample().in("in").out("out").shared("cells", 512).own("own", 16).size(size).add(body).make();
  const lower::Explained explained = lower::explain_checks(test::valid(program), {.passes = false});
  return static_cast<std::size_t>(std::ranges::count_if(explained.accesses, &lower::AccessCheck::kept));
}

TEST(Lower, an_index_into_an_array_of_fixed_length_is_proven_by_ranges) {
  const auto write = [](ExprHandle index) { return store("cells", index, u32(1)); };
  EXPECT_EQ(checks({write(lid(0) + u32(448))}), 0u);
  EXPECT_EQ(checks({write(lid(0) + u32(449))}), 1u);
  EXPECT_EQ(checks({write(lid(0) - u32(1))}), 1u);
  EXPECT_EQ(checks({write(lid(0) * u32(8) + u32(7))}), 0u);
  EXPECT_EQ(checks({write(bin(BinOp::BitOr, bin(BinOp::Shl, lid(0), u32(3)), bin(BinOp::BitAnd, gid(0), u32(7))))}), 0u);
  EXPECT_EQ(checks({write(bin(BinOp::Shr, gid(0), u32(23)))}), 0u);
  EXPECT_EQ(checks({write(bin(BinOp::Shr, gid(0), u32(22)))}), 1u);
  EXPECT_EQ(checks({write(bin(BinOp::Min, gid(0), u32(511)))}), 0u);
  EXPECT_EQ(checks({write(un(UnOp::Popcount, gid(0)))}), 0u);
  EXPECT_EQ(checks({write(select(gid(0) < u32(512), gid(0), u32(0)))}), 0u);
  EXPECT_EQ(checks({write(select(gid(0) < u32(513), gid(0), u32(0)))}), 1u);
}

TEST(Lower, conditions_and_loops_bound_an_index) {
  const auto write = [](ExprHandle index) { return store("cells", index, u32(1)); };
  EXPECT_EQ(checks({if_(gid(0) < u32(500), {write(gid(0) + u32(12))})}), 0u);
  EXPECT_EQ(checks({if_(gid(0) < u32(500), {write(gid(0) + u32(13))})}), 1u);
  EXPECT_EQ(checks({if_(gid(0) < u32(500), {write(gid(0))}), write(gid(0))}), 1u);
  EXPECT_EQ(checks({if_(gid(0) < u32(500), {return_()}), write(gid(0))}), 1u);
  EXPECT_EQ(checks({if_(gid(0) < u32(500), {}, {return_()}), write(gid(0))}), 0u);
  EXPECT_EQ(checks({let("i", gid(0) + u32(1)), if_(gid(0) < u32(511), {write(var("i"))})}), 0u);  // `i` is older than the condition
  EXPECT_EQ(checks({loop("k", u32(0), u32(8), {write(var("k") * u32(64) + lid(0))})}), 0u);
  EXPECT_EQ(checks({loop("k", u32(0), u32(9), {write(var("k") * u32(64) + lid(0))})}), 1u);
  EXPECT_EQ(checks({loop("k", u32(0), gid(0), {write(var("k"))})}), 1u);
}

TEST(Lower, an_index_in_a_variable_is_followed_through_branches_and_loops) {
  const auto write = [](ExprHandle index) { return store("cells", index, u32(1)); };
  EXPECT_EQ(checks({let("i", u32(1)), if_(gid(0), {assign("i", u32(511))}), write(var("i"))}), 0u);
  EXPECT_EQ(checks({let("i", u32(1)), if_(gid(0), {assign("i", u32(512))}), write(var("i"))}), 1u);
  EXPECT_EQ(checks({let("i", u32(512)), if_(gid(0), {assign("i", u32(1))}, {assign("i", u32(2))}), write(var("i"))}), 0u);
  EXPECT_EQ(checks({let("i", u32(1)), if_(gid(0), {assign("i", u32(512)), return_()}), write(var("i"))}), 0u);
  // The variable may be greater in the next turn.
  EXPECT_EQ(checks({let("i", u32(0)), loop("k", u32(0), gid(0), {write(var("i")), assign("i", var("i") + u32(1))})}), 1u);
  EXPECT_EQ(checks({let("i", u32(0)), loop("k", u32(0), gid(0), {assign("i", var("i") + u32(1))}), write(var("i"))}), 1u);
  // The variable never grows, or the loop bounds its growth.
  EXPECT_EQ(checks({let("i", u32(256)), loop("k", u32(0), u32(9), {write(var("i")), assign("i", bin(BinOp::Shr, var("i"), u32(1)))})}), 0u);
  EXPECT_EQ(checks({let("i", lid(0)),
                    loop("k", u32(0), u32(~0u),
                         {if_(bin(BinOp::Ge, var("i"), u32(512)), {break_()}), write(var("i")), assign("i", var("i") + u32(64))})}),
            0u);
  // The variable holds the value of a turn, or the one from before the loop.
  EXPECT_EQ(checks({let("i", u32(9)), loop("k", u32(0), u32(512), {if_(gid(0), {assign("i", var("k")), break_()})}), write(var("i"))}), 0u);
  EXPECT_EQ(checks({let("i", u32(9)), loop("k", u32(0), u32(513), {if_(gid(0), {assign("i", var("k")), break_()})}), write(var("i"))}), 1u);
}

TEST(Lower, an_index_that_is_at_most_a_proven_one_is_in_range_too) {
  const auto write = [](ExprHandle index) { return store("out", index, u32(1)); };
  const auto in = gid(0) < len("out");
  EXPECT_EQ(checks({if_(in, {write(bin(BinOp::Shr, gid(0), u32(1)))})}), 0u);
  EXPECT_EQ(checks({if_(in, {write(bin(BinOp::Min, gid(1), gid(0)))})}), 0u);
  EXPECT_EQ(checks({if_(in, {write(bin(BinOp::Max, gid(1), gid(0)))})}), 1u);
  EXPECT_EQ(checks({if_(gid(0) < bin(BinOp::Min, len("in"), len("out")), {write(gid(0))})}), 0u);
  EXPECT_EQ(checks({if_(gid(0) < bin(BinOp::Max, len("in"), len("out")), {write(gid(0))})}), 1u);
  EXPECT_EQ(checks({loop("k", u32(0), bin(BinOp::Min, len("in"), len("out")), {write(var("k"))})}), 0u);
}

TEST(Lower, one_condition_proves_the_indices_before_the_one_that_it_compares) {
  const auto write = [](ExprHandle index) { return store("out", index, u32(1)); };
  const auto first = let("i", u32(4) * gid(0));
  const auto i = var("i");
  const NodeHandle four = block({write(i), write(i + u32(1)), write(u32(2) + i), write(i + u32(3))});
  EXPECT_EQ(checks({first, if_(i + u32(3) < len("out"), {four})}), 0u);
  EXPECT_EQ(checks({first, if_(bin(BinOp::Ge, i + u32(3), len("out")), {return_()}), four}), 0u);
  EXPECT_EQ(checks({first, if_(bin(BinOp::And, i + u32(3) < len("in"), i + u32(3) < len("out")), {four})}), 0u);
  EXPECT_EQ(checks({first, if_(i + u32(3) < bin(BinOp::Min, len("in"), len("out")), {four})}), 0u);
  EXPECT_EQ(checks({first, if_(bin(BinOp::Max, i + u32(3), gid(1)) < len("out"), {four})}), 0u);
  EXPECT_EQ(checks({first, if_(i + u32(3) < bin(BinOp::Max, len("in"), len("out")), {four})}), 4u);
  EXPECT_EQ(checks({first, if_(i + u32(2) < len("out"), {four})}), 1u);
  EXPECT_EQ(checks({first, if_(i < len("out"), {four})}), 3u);
  EXPECT_EQ(checks({first, if_(i + u32(3) < len("in"), {four})}), 4u);
  EXPECT_EQ(checks({first, if_(i + u32(3) < len("out"), {if_(i + u32(1) < len("out"), {}), four})}), 0u);
  EXPECT_EQ(checks({first, if_(i + u32(1) < len("out"), {if_(i + u32(3) < len("out"), {}), four})}), 2u);
  // Where the sum may wrap around, it says nothing of smaller indices: 2^32 - 1 + 1 is below any length.
  EXPECT_EQ(checks({if_(gid(0) + u32(1) < len("out"), {write(gid(0))})}), 1u);
  EXPECT_EQ(checks({first, if_(i + u32(4) < len("out"), {write(i)})}), 1u);
  EXPECT_EQ(checks({if_(lid(0) + u32(1) < len("out"), {write(lid(0))})}), 0u);
  EXPECT_EQ(checks({if_(gid(0) < u32(~0u), {if_(gid(0) + u32(1) < len("out"), {write(gid(0))})})}), 0u);
}

TEST(Lower, tells_of_each_access_whether_its_check_is_kept) {
  const auto program = Sample()
                           .in("in")
                           .out("out")
                           .shared("cells", 8)
                           .size(8)
                           .add({store("cells", lid(0), load("in", gid(0))), store("out", gid(0), load("cells", lid(0) + u32(1)))})
                           .make();
  const lower::Explained explained = lower::explain_checks(test::valid(program), {.passes = false});
  std::string text;
  for (const lower::AccessCheck& it : explained.accesses) {
    text += std::to_string(it.statement.index) + " b" + std::to_string(it.buffer.index) + (it.kept ? " kept\n" : " dropped\n");
  }
  EXPECT_EQ(text, "0 b0 kept\n0 b2 dropped\n1 b2 kept\n1 b1 kept\n");
}

TEST(Lower, a_repeated_access_is_guarded_once) {
  const auto program = Sample().in("in").out("out").add({store("out", gid(0), load("in", gid(0)) + load("in", gid(0)))}).make();
  EXPECT_EQ(count(lowered(program), Opcode::Lt), 2u);
}

TEST(Lower, a_value_made_in_a_branch_is_not_used_after_it) {
  const auto divide = [] { return store("out", u32(0), bin(BinOp::Div, u32(7), gid(0))); };
  EXPECT_EQ(count(lowered(Sample().out("out").add({if_(gid(1), {divide()}), divide()}).make()), Opcode::Eq), 2u);
}

TEST(Lower, nothing_is_left_of_what_stands_after_a_return) {
  const auto write = [] { return store("out", u32(0), u32(1)); };
  EXPECT_EQ(count(lowered(Sample().out("out").add({block({return_()}), loop("k", u32(0), u32(9), {write()}), write()}).make()),
                  Opcode::StoreBuffer),
            0u);
  EXPECT_EQ(count(lowered(Sample().out("out").add({if_(gid(0), {return_()}, {return_()}), write()}).make()), Opcode::StoreBuffer), 0u);
  EXPECT_EQ(count(lowered(Sample().out("out").add({if_(gid(0), {return_()}), write()}).make()), Opcode::StoreBuffer), 1u);
  EXPECT_EQ(count(lowered(Sample().out("out").add({loop("k", u32(0), gid(0), {return_()}), write()}).make()), Opcode::StoreBuffer), 1u);
}

TEST(Lower, buffers_have_slots_in_the_order_of_their_declarations) {
  const auto program = Sample()
                           .shared("first", 3, DataType::Vec4U32)
                           .buffer(BufferDecl::read_write("second", 900, DataType::Vec2U32))
                           .shared("third", 5)
                           .buffer(BufferDecl::uniform("fourth", 3, DataType::Bool))
                           .buffer(BufferDecl::read("fifth", 0xFFFFFFFF, DataType::Bytes))
                           .add(store("second", u32(0), cast(DataType::Vec2U32, len("fifth") + len("third"))))
                           .add(store("first", u32(0), cast(DataType::Vec4U32, gid(0))))
                           .add(store("third", u32(0), u32(1)))
                           .make();
  const Kernel kernel = lowered(program);
  EXPECT_EQ(kernel.buffers, (std::vector<lower::KernelBuffer>{{2, true, false}, {1, false, false}, {1, false, false}}));
  EXPECT_EQ(kernel.shared, (std::vector<lower::SharedArray>{{4, 3}, {1, 5}}));
  EXPECT_EQ(kernel.shared_bytes(), 4u * (4 * 3 + 5));
}

TEST(Lower, a_workgroup_buffer_that_nothing_accesses_has_a_length_and_no_memory) {
  const auto program = Sample()
                           .out("out")
                           .shared("measured", 1000, DataType::Bytes)
                           .shared("unused", 2000)
                           .shared("dropped", 3000)
                           .shared("used", 4)
                           .add(let("nothing", load("dropped", u32(0))))
                           .add(store("used", u32(0), len("measured")))
                           .add(store("out", u32(0), load("used", u32(0)) + len("unused")))
                           .make();
  const Kernel kernel = lowered(program, true);
  EXPECT_EQ(kernel.shared, (std::vector<lower::SharedArray>{{1, 4}}));
  for (const lower::Instruction& code : kernel.code) {
    if (code.op != Opcode::LoadShared && code.op != Opcode::StoreShared) continue;
    EXPECT_EQ(code.imm, 0u);
  }
  const auto literals = [&](std::uint32_t value) {
    return std::ranges::count_if(kernel.code,
                                 [&](const lower::Instruction& code) { return code.op == Opcode::Constant && code.imm == value; });
  };
  EXPECT_EQ(literals(1000), 1);
  EXPECT_EQ(literals(2000), 1);
}

TEST(Lower, a_value_stands_in_front_of_the_first_effect_that_needs_it) {
  // The code is the same with and without lets, whatever their order.
  const ExprHandle x = bin(BinOp::Mul, gid(0), u32(3)), y = bin(BinOp::BitXor, gid(0), u32(5));
  const auto stores = [](const ExprHandle& first, const ExprHandle& second) {
    return List{store("out", gid(0), first), store("out", second, first)};
  };
  const auto text = [&](const List& lets, const List& rest) {
    return to_text(lowered(Sample().out("out").add(lets).add(rest).make(), true));
  };
  const std::string written = text({}, stores(x, y));
  EXPECT_EQ(text({let("y", y), let("x", x)}, stores(var("x"), var("y"))), written);
  EXPECT_EQ(text({let("x", x), let("y", y)}, stores(var("x"), var("y"))), written);
  // Equal values are made once, also by several statements.
  EXPECT_EQ(count(lowered(Sample().out("out").add(stores(x, y)).make(), true), Opcode::Mul), 1u);
}

TEST(Lower, a_load_of_writable_memory_stays_in_front_of_the_next_change) {
  const Kernel kernel =
      lowered(Sample()
                  .out("out")
                  .add({let("before", load("out", u32(0))), store("out", u32(0), u32(7)), store("out", u32(1), var("before"))})
                  .make(),
              true);
  std::vector<Opcode> accesses;
  for (const lower::Instruction& code : kernel.code) {
    if (code.op == Opcode::LoadBuffer || code.op == Opcode::StoreBuffer) accesses.push_back(code.op);
  }
  EXPECT_EQ(accesses, (std::vector{Opcode::LoadBuffer, Opcode::StoreBuffer, Opcode::StoreBuffer}));
}

// Checks what emitters assume: operands are defined before their uses, in code that is certain to have run, and lanes fit.
void check_kernel(const Kernel& kernel) {
  ASSERT_EQ(kernel.partner.size(), kernel.code.size());
  std::vector<bool> visible(kernel.code.size());
  std::vector<std::uint32_t> made;  // visible values, in order
  std::vector<std::size_t> open;    // how many were made before the open regions
  for (std::uint32_t at = 0; at < kernel.code.size(); ++at) {
    const lower::Instruction& it = kernel.code[at];
    if (it.op == Opcode::Else || it.op == Opcode::EndIf || it.op == Opcode::EndLoop) {
      for (; made.size() > open.back(); made.pop_back()) visible[made.back()] = false;
      open.pop_back();
    }
    for (const lower::ValueId operand : {it.a, it.b, it.c, it.d}) {
      if (!operand.valid()) continue;
      ASSERT_LT(operand.index, at);
      ASSERT_TRUE(visible[operand.index]) << at << '\n' << lower::to_text(kernel);
      ASSERT_NE(kernel.code[operand.index].lanes, 0);
    }
    if (it.op == Opcode::If || it.op == Opcode::Else || it.op == Opcode::Loop) open.push_back(made.size());
    if (it.op == Opcode::Return && at + 1 < kernel.code.size()) {
      const Opcode next = kernel.code[at + 1].op;
      ASSERT_TRUE(next == Opcode::Else || next == Opcode::EndIf || next == Opcode::EndLoop);
    }
    if (it.lanes != 0) {
      visible[at] = true;
      made.push_back(at);
    }
  }
  ASSERT_TRUE(open.empty());
}

TEST(Lower, every_valid_sample_lowers_to_a_sound_kernel) {
  std::size_t valid = 0;
  for (const test::SampleProgram& sample : test::sample_programs()) {
    SCOPED_TRACE(sample.name);
    const validate::Verdict verdict = validate::validate(sample.program, fuzz::op_table());
    if (!verdict.program) continue;
    ++valid;
    check_kernel(lower::lower(*verdict.program));
    check_kernel(lower::lower(*verdict.program, {.passes = false}));
  }
  EXPECT_GT(valid, 0u);
}

TEST(Lower, random_programs_lower_to_sound_kernels) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const validate::Verdict verdict = validate::validate(fuzz::generate(seed, {.statements = 30}).program, fuzz::op_table());
    ASSERT_TRUE(verdict.program);
    const Kernel kernel = lower::lower(*verdict.program);
    check_kernel(kernel);
    check_kernel(lower::lower(*verdict.program, {.passes = false}));
    ASSERT_EQ(kernel, lower::lower(*verdict.program));
  }
}

TEST(Lower, every_opcode_has_a_name_of_its_own) {
  std::vector<std::string_view> names;
  for (std::size_t op = 0; op < lower::kOpcodeCount; ++op) names.push_back(name(static_cast<Opcode>(op)));
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
}

// Lowering takes linear time and little stack for programs at the limits.
TEST(Lower, scale_many_statements_and_literals) {
  List ifs, stores, literals;
  for (std::uint32_t k = 0; k < 50'000; ++k) ifs.push_back(if_(gid(0), {}));
  for (std::uint32_t k = 0; k < 33'000; ++k) stores.push_back(store("out", gid(0), u32(1)));
  for (std::uint32_t k = 0; k < 49'000; ++k) literals.push_back(let("x" + std::to_string(k), u32(77 * k)));
  const validate::Options no_limits{.limits = false};
  for (const List& entry : {ifs, stores, literals}) {
    const validate::ValidProgram program = test::valid(Sample().out("out").add(entry).make(), no_limits);
    test::on_small_stack([&] { lower::lower(program, {.passes = false}); });
    test::on_small_stack([&] { lower::lower(program); });
  }
}

TEST(Lower, scale_deep_chains_and_doublings) {
  for (const ir::Program& program : {test::chain(49'000), test::doublings(64), test::wide_program(70'000)}) {
    const validate::Verdict verdict = validate::validate(program, fuzz::op_table());
    if (!verdict.program) FAIL() << to_string(verdict.diagnostics.front());
    test::on_small_stack([&] { lower::lower(*verdict.program, {.passes = false}); });
  }
}

}  // namespace
}  // namespace vyre
