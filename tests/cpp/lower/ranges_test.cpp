// A range contains every value that the opcode can give for operands in their ranges.
#include "vyre/lower/ranges.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "support/lanewise.hpp"

namespace vyre {
namespace {

using lower::Opcode;
using lower::Range;

std::vector<std::uint32_t> edges() {
  return {0, 1, 2, 3, 5, 7, 8, 31, 32, 0x7FFF'FFFF, 0x8000'0000, 0x8000'0008, 0xFFFF'FFF8, 0xFFFF'FFFE, 0xFFFF'FFFF};
}

// The opcodes that range_of() may be asked about with operands that it is defined for.
std::vector<Opcode> lanewise_opcodes() {
  std::vector<Opcode> found;
  for (std::size_t op = 0; op < lower::kOpcodeCount; ++op) {
    if (lower::is_lanewise(static_cast<Opcode>(op))) found.push_back(static_cast<Opcode>(op));
  }
  return found;
}

// A range that has been made from some values is as narrow as it can be around them.
Range around(const std::vector<std::uint32_t>& values) {
  Range range = Range::only(values[0]);
  for (const std::uint32_t value : values) range = either(range, Range::only(value));
  return range;
}

TEST(Ranges, contain_what_every_opcode_gives_for_small_and_great_operands) {
  const std::vector<std::uint32_t> values = edges();
  for (const Opcode op : lanewise_opcodes()) {
    for (std::size_t a = 0; a < values.size(); ++a) {
      for (std::size_t a_end = a; a_end < values.size(); ++a_end) {
        const Range left =
            around({values.begin() + static_cast<std::ptrdiff_t>(a), values.begin() + static_cast<std::ptrdiff_t>(a_end) + 1});
        for (std::size_t b = 0; b < values.size(); ++b) {
          for (std::size_t b_end = b; b_end < values.size(); ++b_end) {
            const Range right =
                around({values.begin() + static_cast<std::ptrdiff_t>(b), values.begin() + static_cast<std::ptrdiff_t>(b_end) + 1});
            const Range result = range_of(op, left, right);
            ASSERT_LE(result.least, result.greatest) << name(op);
            // The ends, where bounds are reached.
            for (const std::uint32_t x : {values[a], values[a_end]}) {
              for (const std::uint32_t y : {values[b], values[b_end]}) {
                if (!test::is_defined(op, x, y)) continue;
                ASSERT_TRUE(result.contains(test::lanewise(op, x, y)))
                    << name(op) << " of " << x << ", " << y << " is " << test::lanewise(op, x, y) << ", not in [" << result.least << ", "
                    << result.greatest << "] with bits " << result.ones;
              }
            }
          }
        }
      }
    }
  }
}

TEST(Ranges, contain_what_every_opcode_gives_for_random_operands) {
  std::mt19937 random(20);
  const auto number = [&] { return static_cast<std::uint32_t>(random()) >> random() % 32 << (random() % 4 == 0 ? random() % 32 : 0); };
  const auto numbers = [&] {
    std::vector<std::uint32_t> some(1 + random() % 4);
    for (std::uint32_t& value : some) value = number();
    return some;
  };
  for (int round = 0; round < 300'000; ++round) {
    const std::vector<std::uint32_t> left = numbers(), right = numbers();
    for (const Opcode op : {lanewise_opcodes()[random() % lanewise_opcodes().size()]}) {
      const Range result = range_of(op, around(left), around(right));
      for (const std::uint32_t x : left) {
        for (const std::uint32_t y : right) {
          if (!test::is_defined(op, x, y)) continue;
          ASSERT_TRUE(result.contains(test::lanewise(op, x, y))) << "round " << round << ", " << name(op) << " of " << x << ", " << y;
        }
      }
    }
  }
}

TEST(Ranges, are_as_narrow_as_index_arithmetic_needs) {
  const Range id = Range::at_most(255);
  const auto greatest = [&](Opcode op, const Range& a, const Range& b) { return range_of(op, a, b).greatest; };
  EXPECT_EQ(greatest(Opcode::Add, id, Range::only(256)), 511u);
  EXPECT_EQ(greatest(Opcode::Mul, id, Range::only(4)), 1020u);
  EXPECT_EQ(greatest(Opcode::Shl, id, Range::only(4)), 4080u);
  EXPECT_EQ(greatest(Opcode::Or, Range::of_bits(0xF0), Range::at_most(9)), 0xF9u);
  EXPECT_EQ(greatest(Opcode::Xor, id, Range::only(16)), 255u);
  EXPECT_EQ(greatest(Opcode::Mod, {}, Range::between(1, 7)), 6u);
  EXPECT_EQ(greatest(Opcode::Div, id, Range::between(4, 8)), 63u);
  EXPECT_EQ(greatest(Opcode::Shr, {}, Range::only(24)), 255u);
  EXPECT_EQ(greatest(Opcode::Sub, Range::between(8, 20), Range::at_most(8)), 20u);
  EXPECT_EQ(greatest(Opcode::Sub, Range::between(7, 20), Range::at_most(8)), ~0u);  // 7 - 8 wraps
  EXPECT_EQ(greatest(Opcode::Add, Range::between(1, 9), Range::only(~0u)), 8u);     // x - 1 where x is not 0
  EXPECT_EQ(greatest(Opcode::Add, Range::at_most(9), Range::only(~0u)), ~0u);
  EXPECT_EQ(greatest(Opcode::Popcount, Range::of_bits(0x1010), {}), 2u);
  EXPECT_EQ(greatest(Opcode::Clz, Range::between(256, 1000), {}), 23u);
  EXPECT_EQ(greatest(Opcode::Lt, {}, {}), 1u);
}

}  // namespace
}  // namespace vyre
