// Bitwise expressions of three operands become one instruction of AVX-512. Their tables are compared with the operators, bit by bit.
#if VYRE_NATIVE
#include <gtest/gtest.h>

#include <functional>

#include "support/kernel_builder.hpp"
#include "vyre/run/cpu/native/analysis/ternaries.hpp"

namespace vyre::test {
namespace {

using lower::Opcode;
using lower::ValueId;
using run::cpu::Selected;
using run::cpu::native::Ternaries;
using run::cpu::native::Ternary;

using Bits = std::array<bool, 4>;

// A kernel that stores what `make` gives of four loaded words, and the expressions that are found in it.
struct Found {
  template <class Make>
  explicit Found(const Make& make) {
    KernelBuilder k({64, 1, 1});
    const std::uint32_t in = k.buffer(1, false), out = k.buffer(1, true);
    const auto i = k.leaf(Opcode::InvocationId, 0);
    for (ValueId& each : words) each = k.load(in, i);
    root = make(k, words[0], words[1], words[2], words[3]);
    k.store(out, i, root);
    kernel = k.finish();
    const std::vector<Selected> selected(kernel.code.size(), Selected::Itself);
    ternaries = Ternaries(kernel, selected, std::vector<bool>(kernel.code.size(), true));
  }

  const Ternary* at_root() const { return ternaries.at(root.index); }
  std::size_t count() const {
    std::size_t found = 0;
    for (std::uint32_t k = 0; k < kernel.code.size(); ++k) found += ternaries.at(k) != nullptr;
    return found;
  }
  // Whether the expression at the root gives what `wanted` gives, for all bits of the words.
  void expect(const std::function<bool(Bits)>& wanted) const {
    const Ternary* const found = at_root();
    ASSERT_NE(found, nullptr);
    for (unsigned k = 0; k < 16; ++k) {
      const Bits bits = {(k & 8) != 0, (k & 4) != 0, (k & 2) != 0, (k & 1) != 0};
      unsigned row = 0;
      for (const ValueId operand : found->operands) {
        const auto word = static_cast<std::size_t>(std::ranges::find(words, operand) - words.begin());
        ASSERT_LT(word, words.size());
        row = 2 * row + (bits[word] ? 1 : 0);
      }
      EXPECT_EQ((found->table >> row & 1) != 0, wanted(bits)) << k;
    }
  }

  std::array<ValueId, 4> words;
  ValueId root;
  lower::Kernel kernel;
  Ternaries ternaries;
};

TEST(Ternaries, a_choice_by_bits_is_one) {
  const Found found([](KernelBuilder& k, auto e, auto f, auto g, auto) {
    const auto differs = k.op(Opcode::Xor, f, g);
    const auto taken = k.op(Opcode::And, e, differs);
    return k.op(Opcode::Xor, g, taken);
  });
  found.expect([](Bits b) { return b[0] ? b[1] : b[2]; });
  EXPECT_EQ(found.count(), 1u);
}

TEST(Ternaries, a_majority_is_one_though_it_has_four_operands_on_the_way) {
  const Found found([](KernelBuilder& k, auto a, auto b, auto c, auto) {
    const auto both = k.op(Opcode::And, a, b), any = k.op(Opcode::Or, a, b);
    const auto third = k.op(Opcode::And, c, any);
    return k.op(Opcode::Or, both, third);
  });
  found.expect([](Bits b) { return b[0] + b[1] + b[2] >= 2; });
  EXPECT_EQ(found.count(), 1u);
}

TEST(Ternaries, a_negation_and_a_value_that_is_used_twice_are_taken_in) {
  const Found found([](KernelBuilder& k, auto a, auto b, auto, auto) {
    const auto inverse = k.op(Opcode::Not, b);
    const auto both = k.op(Opcode::And, inverse, a);
    return k.op(Opcode::Xor, both, inverse);
  });
  found.expect([](Bits b) { return (!b[1] && b[0]) != !b[1]; });
}

TEST(Ternaries, a_chain_of_five_operands_is_two) {
  const Found found([](KernelBuilder& k, auto a, auto b, auto c, auto d) {
    const auto first = k.op(Opcode::Xor, k.op(Opcode::Xor, a, b), c);
    return k.op(Opcode::Xor, k.op(Opcode::Xor, first, d), k.leaf(Opcode::InvocationId, 1));
  });
  EXPECT_NE(found.at_root(), nullptr);
  EXPECT_EQ(found.count(), 2u);
}

TEST(Ternaries, a_value_that_has_another_use_stays) {
  const Found found([](KernelBuilder& k, auto a, auto b, auto c, auto) {
    const auto both = k.op(Opcode::And, a, b);
    return k.op(Opcode::Add, both, k.op(Opcode::Xor, both, c));
  });
  EXPECT_EQ(found.count(), 0u);
}

TEST(Ternaries, a_value_from_before_a_loop_is_not_made_in_it) {
  const Found found([](KernelBuilder& k, auto a, auto b, auto c, auto) {
    const auto both = k.op(Opcode::And, a, b);
    const std::uint32_t sum = k.variable();
    k.loop(k.constant(0), k.constant(9));
    k.add({.op = Opcode::WriteVariable, .imm = sum, .a = k.op(Opcode::Xor, both, c)});
    k.end_loop();
    return k.add({.op = Opcode::ReadVariable, .lanes = 1, .imm = sum});
  });
  EXPECT_EQ(found.count(), 0u);
}

}  // namespace
}  // namespace vyre::test
#endif
