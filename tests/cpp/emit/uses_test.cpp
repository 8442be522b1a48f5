// Which forms of its values a kernel uses, worked out by hand.
#include "vyre/emit/uses.hpp"

#include <gtest/gtest.h>

#include "support/kernel_builder.hpp"

namespace vyre::emit {
namespace {

using lower::Form;
using lower::Opcode;
using lower::ValueId;
using test::KernelBuilder;

TEST(Uses, a_condition_is_used_as_truth_and_a_stored_value_as_bits) {
  KernelBuilder k;
  const auto out = k.buffer(1, true);
  const ValueId zero = k.constant(0), one = k.constant(1);
  const ValueId condition = k.op(Opcode::Lt, zero, one), both = k.op(Opcode::Lt, one, zero);
  k.if_(condition);
  k.store(out, zero, both);
  k.end_if();
  k.if_(both);
  k.end_if();
  const lower::Kernel kernel = k.finish();
  const Uses uses(kernel);
  EXPECT_TRUE(uses.as(Form::Truth, condition.index) && !uses.as(Form::Bits, condition.index));
  EXPECT_TRUE(uses.as(Form::Truth, both.index) && uses.as(Form::Bits, both.index));
  EXPECT_TRUE(!uses.as(Form::Truth, one.index) && uses.as(Form::Bits, one.index));
}

TEST(Uses, a_bitwise_operator_on_booleans_takes_their_truth) {
  KernelBuilder k;
  const auto out = k.buffer(1, true);
  const ValueId zero = k.constant(0), one = k.constant(1);
  const ValueId a = k.op(Opcode::Lt, zero, one), b = k.op(Opcode::Eq, one, zero);
  const ValueId truths = k.op(Opcode::And, a, b), mixed = k.op(Opcode::Or, b, one);
  k.store(out, zero, truths);
  k.store(out, zero, mixed);
  const lower::Kernel kernel = k.finish();
  const Uses uses(kernel);
  EXPECT_TRUE(uses.is_boolean(truths.index));
  EXPECT_FALSE(uses.is_boolean(mixed.index));
  EXPECT_TRUE(uses.as(Form::Truth, a.index) && !uses.as(Form::Bits, a.index));
  EXPECT_TRUE(uses.as(Form::Truth, b.index) && uses.as(Form::Bits, b.index));
}

TEST(Uses, a_comparison_of_a_boolean_with_zero_takes_its_truth) {
  KernelBuilder k;
  const ValueId zero = k.constant(0), one = k.constant(1);
  const ValueId boolean = k.op(Opcode::Lt, zero, one);
  const ValueId opposite = k.op(Opcode::Eq, boolean, zero), with_one = k.op(Opcode::Eq, boolean, one);
  k.if_(opposite);
  k.end_if();
  const lower::Kernel kernel = k.finish();
  const Uses uses(kernel);
  EXPECT_TRUE(uses.tests_truth(kernel.code[opposite.index]));
  EXPECT_FALSE(uses.tests_truth(kernel.code[with_one.index]));
  EXPECT_TRUE(uses.as(Form::Truth, boolean.index) && !uses.as(Form::Bits, boolean.index));
}

TEST(Uses, only_what_has_an_effect_or_is_used_is_made) {
  KernelBuilder k;
  const auto out = k.buffer(1, true);
  const ValueId zero = k.constant(0), lost = k.load(out, zero), used_by_lost = k.constant(7);
  k.op(Opcode::Add, lost, used_by_lost);
  k.store(out, zero, zero);
  const lower::Kernel kernel = k.finish();
  const Uses uses(kernel);
  EXPECT_TRUE(uses.is_made(zero.index));
  EXPECT_FALSE(uses.is_made(lost.index));
  EXPECT_FALSE(uses.is_made(used_by_lost.index));
  EXPECT_TRUE(uses.is_made(static_cast<std::uint32_t>(kernel.code.size() - 1)));
}

TEST(Uses, an_index_depends_on_what_it_is_made_of_also_by_way_of_variables) {
  KernelBuilder k;
  const auto in = k.buffer(1, true), out = k.buffer(1, true);
  const auto first = k.variable(), second = k.variable(), other = k.variable();
  const ValueId zero = k.constant(0);
  const ValueId index = k.load(in, zero), held = k.load(in, zero), stored = k.load(in, zero), summed = k.load(in, zero);
  k.add({.op = Opcode::WriteVariable, .imm = first, .a = held});
  const ValueId copied = k.add({.op = Opcode::ReadVariable, .lanes = 1, .imm = first});
  k.add({.op = Opcode::WriteVariable, .imm = second, .a = copied});
  k.add({.op = Opcode::WriteVariable, .imm = other, .a = summed});
  const ValueId sum = k.op(Opcode::Add, index, k.add({.op = Opcode::ReadVariable, .lanes = 1, .imm = second}));
  k.store(out, sum, k.op(Opcode::Add, stored, k.add({.op = Opcode::ReadVariable, .lanes = 1, .imm = other})));
  const lower::Kernel kernel = k.finish();
  const Uses uses(kernel);
  EXPECT_TRUE(uses.as_index(sum.index));
  EXPECT_TRUE(uses.as_index(index.index));
  EXPECT_TRUE(uses.as_index(held.index));
  EXPECT_FALSE(uses.as_index(stored.index));
  EXPECT_FALSE(uses.as_index(summed.index));
}

// Loads that indices of an array of 16 elements are made of, and whether one may be repeated.
TEST(Uses, an_index_that_is_in_range_whatever_is_loaded_depends_on_no_load) {
  KernelBuilder k({8, 1, 1});
  const auto out = k.buffer(1, true);
  const auto array = k.shared(1, 16);
  const ValueId zero = k.constant(0), mask = k.constant(15), wide = k.constant(16), four = k.constant(4), most = k.constant(31);
  const ValueId local = k.leaf(Opcode::LocalId, 0);
  const auto loaded = [&] { return k.add({.op = Opcode::LoadShared, .lanes = 1, .imm = array, .a = zero}); };
  const auto access = [&](ValueId index) { k.store(out, zero, k.add({.op = Opcode::LoadShared, .lanes = 1, .imm = array, .a = index})); };
  const ValueId masked = loaded(), too_wide = loaded(), shifted = loaded(), amount = loaded(), any_amount = loaded(), divisor = loaded(),
                chosen = loaded(), of_buffer = loaded(), whole = loaded(), compared = loaded();
  access(k.op(Opcode::And, masked, mask));
  access(k.op(Opcode::And, too_wide, wide));
  access(k.op(Opcode::Or, k.op(Opcode::And, shifted, k.constant(8)), local));
  access(k.op(Opcode::Shr, mask, k.op(Opcode::And, amount, most)));
  access(k.op(Opcode::Shr, mask, any_amount));
  access(k.op(Opcode::Mod, four, divisor));
  access(k.op(Opcode::Select, k.op(Opcode::Lt, chosen, wide), chosen, zero));
  access(k.op(Opcode::Select, k.op(Opcode::Lt, compared, wide), local, zero));
  access(whole);
  k.store(out, k.op(Opcode::And, of_buffer, mask), zero);
  const lower::Kernel kernel = k.finish();
  const Uses uses(kernel);
  EXPECT_FALSE(uses.as_index(masked.index));
  EXPECT_TRUE(uses.as_index(too_wide.index));
  EXPECT_FALSE(uses.as_index(shifted.index));
  EXPECT_FALSE(uses.as_index(amount.index));
  EXPECT_TRUE(uses.as_index(any_amount.index)) << "a shift by 32 and more gives any value";
  EXPECT_TRUE(uses.as_index(divisor.index)) << "so does a division by zero";
  EXPECT_TRUE(uses.as_index(chosen.index)) << "the comparison may have seen another value";
  EXPECT_FALSE(uses.as_index(compared.index));
  EXPECT_TRUE(uses.as_index(whole.index));
  EXPECT_TRUE(uses.as_index(of_buffer.index)) << "a buffer may be shorter";
}

TEST(Uses, what_is_loaded_once_is_one_value_whatever_its_own_index_was) {
  KernelBuilder k;
  const auto in = k.buffer(1, false), out = k.buffer(1, true);
  const auto array = k.shared(1, 16);
  const ValueId zero = k.constant(0), mask = k.constant(15);
  const auto loaded = [&](ValueId index) { return k.add({.op = Opcode::LoadShared, .lanes = 1, .imm = array, .a = index}); };
  const ValueId before_shared = loaded(zero), before_read_only = loaded(zero), before_atomic = loaded(zero);
  const ValueId once = loaded(k.op(Opcode::And, before_shared, mask));
  const ValueId counted =
      k.add({.op = Opcode::AtomicAdd, .lanes = 1, .shared = true, .imm = array, .a = k.op(Opcode::And, before_atomic, mask), .b = zero});
  k.store(out, once, zero);
  k.store(out, counted, zero);
  k.store(out, k.load(in, k.op(Opcode::And, before_read_only, mask)), zero);
  const lower::Kernel kernel = k.finish();
  const Uses uses(kernel);
  EXPECT_TRUE(uses.as_index(once.index));
  EXPECT_FALSE(uses.as_index(before_shared.index));
  EXPECT_FALSE(uses.as_index(before_atomic.index));
  EXPECT_TRUE(uses.as_index(before_read_only.index)) << "memory that is only read may be read again, and elsewhere";
}

}  // namespace
}  // namespace vyre::emit
