// The definition, compared with the documents.
#include "vyre/ir/semantics.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "support/expected_values.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre::ir {
namespace {

using test::kEdges;

std::string_view text(BinOp op) { return info(op).name; }

// Edge values in every combination, and random ones.
std::vector<std::uint32_t> interesting() {
  std::vector<std::uint32_t> values(kEdges.begin(), kEdges.end());
  std::mt19937 random(7);
  while (values.size() < 40) values.push_back(random());
  return values;
}

TEST(Semantics, binary_operators_give_the_expected_values) {
  std::set<BinOp> seen;
  for (const test::ExpectedBinary& row : test::kExpectedBinary) {
    seen.insert(row.op);
    for (std::size_t a = 0; a < kEdges.size(); ++a) {
      for (std::size_t b = 0; b < kEdges.size(); ++b) {
        EXPECT_EQ(evaluate(row.op, kEdges[a], kEdges[b]), row.result[a][b]) << text(row.op) << "(" << kEdges[a] << ", " << kEdges[b] << ")";
      }
    }
  }
  EXPECT_EQ(seen.size(), kBinOps.size()) << "an operator of ops.def has no row of expected values";
}

TEST(Semantics, unary_operators_give_the_expected_values) {
  std::set<UnOp> seen;
  for (const test::ExpectedUnary& row : test::kExpectedUnary) {
    seen.insert(row.op);
    for (std::size_t a = 0; a < kEdges.size(); ++a) {
      EXPECT_EQ(evaluate(row.op, kEdges[a]), row.result[a]) << info(row.op).name << "(" << kEdges[a] << ")";
    }
  }
  EXPECT_EQ(seen.size(), kUnOps.size()) << "an operator of ops.def has no row of expected values";
}

TEST(Semantics, atomics_leave_the_expected_values) {
  std::set<AtomicOp> seen{AtomicOp::CompareExchange};
  for (const test::ExpectedAtomic& row : test::kExpectedAtomic) {
    seen.insert(row.op);
    for (std::size_t old = 0; old < kEdges.size(); ++old) {
      for (std::size_t value = 0; value < kEdges.size(); ++value) {
        EXPECT_EQ(evaluate(row.op, kEdges[old], 99, kEdges[value]), row.stored[old][value]) << info(row.op).name;
      }
    }
  }
  EXPECT_EQ(seen.size(), kAtomicOps.size()) << "an operator of ops.def has no row of expected values";
}

TEST(Semantics, compare_exchange_stores_only_where_the_expected_value_is) {
  for (std::uint32_t old : kEdges) {
    for (std::uint32_t expected : kEdges) {
      EXPECT_EQ(evaluate(AtomicOp::CompareExchange, old, expected, 77), old == expected ? 77 : old);
    }
  }
}

// The sentences of docs/semantics.md, Operators, that a table could hide.
TEST(Semantics, division_by_zero_is_zero) {
  EXPECT_EQ(evaluate(BinOp::Div, 7, 0), 0u);
  EXPECT_EQ(evaluate(BinOp::Mod, 7, 0), 0u);
  EXPECT_EQ(evaluate(BinOp::SDiv, 0x80000000, 0), 0u);
  EXPECT_EQ(evaluate(BinOp::SMod, 0x80000000, 0), 0u);
}
TEST(Semantics, signed_division_overflow_wraps) {
  EXPECT_EQ(evaluate(BinOp::SDiv, 0x80000000, 0xFFFFFFFF), 0x80000000u);
  EXPECT_EQ(evaluate(BinOp::SMod, 0x80000000, 0xFFFFFFFF), 0u);
}
TEST(Semantics, signed_remainder_has_the_sign_of_the_dividend) {
  EXPECT_EQ(evaluate(BinOp::SMod, 0u - 7, 3), 0u - 1);
  EXPECT_EQ(evaluate(BinOp::SMod, 7, 0u - 3), 1u);
}
TEST(Semantics, shift_amounts_are_masked_with_31) {
  EXPECT_EQ(evaluate(BinOp::Shl, 1, 32), 1u);
  EXPECT_EQ(evaluate(BinOp::Shr, 1, 32), 1u);
  EXPECT_EQ(evaluate(BinOp::SShr, 0x80000000, 33), 0xC0000000u);
}
TEST(Semantics, the_definition_is_constexpr) {
  static_assert(evaluate(BinOp::MulHigh, 0xFFFFFFFF, 0xFFFFFFFF) == 0xFFFFFFFE);
  static_assert(evaluate(UnOp::Clz, 0) == 32);
  static_assert(cast(CastKind::SignExtend, scalar(0xFFFFFFFF), 1, 2) == Value{{0xFFFFFFFF, 0xFFFFFFFF, 0, 0}});
  static_assert(cast(CastKind::Popcount, scalar(7), 1, 1) == scalar(3), "a cast may be a unary operator");
}

// --- Laws: what ops.def claims, on edge and random values ---

TEST(Laws, hold_for_binary_operators) {
  const std::vector<std::uint32_t> values = interesting();
  for (const BinOpInfo& row : kBinOps) {
    SCOPED_TRACE(row.name);
    const auto op = [&](std::uint32_t a, std::uint32_t b) { return evaluate(row.op, a, b); };
    for (std::uint32_t a : values) {
      if (row.laws & kIdempotent) {
        EXPECT_EQ(op(a, a), a);
      }
      if (row.laws & kZeroIdentity) {
        EXPECT_EQ(op(a, 0), a);
      }
      if (row.laws & kZeroIdentity) {
        EXPECT_EQ(op(0, a), a);
      }
      for (std::uint32_t b : values) {
        if (row.laws & kCommutative) {
          EXPECT_EQ(op(a, b), op(b, a));
        }
        if (!(row.laws & kAssociative)) continue;
        for (std::uint32_t c : values) ASSERT_EQ(op(op(a, b), c), op(a, op(b, c))) << a << " " << b << " " << c;
      }
    }
  }
}

TEST(Laws, hold_for_unary_operators) {
  for (const UnOpInfo& row : kUnOps) {
    for (std::uint32_t a : interesting()) {
      if (row.laws & kInvolution) {
        EXPECT_EQ(evaluate(row.op, evaluate(row.op, a)), a) << row.name;
      }
    }
  }
}

TEST(Laws, are_claimed_where_edge_values_cannot_tell_otherwise) {
  // A law that holds on all of these and is not claimed is a forgotten claim, or needs a reason here.
  const std::vector<std::uint32_t> values = interesting();
  for (const BinOpInfo& row : kBinOps) {
    bool commutes = true;
    for (std::uint32_t a : values) {
      for (std::uint32_t b : values) commutes = commutes && evaluate(row.op, a, b) == evaluate(row.op, b, a);
    }
    EXPECT_EQ(commutes, (row.laws & kCommutative) != 0) << row.name;
  }
}

// --- Casts: one row a row of casts.def, with examples and edge values ---

struct ExpectedCast {
  DataType source, target;
  std::array<std::uint32_t, 4> from, to;
};

constexpr DataType U32 = DataType::U32, I32 = DataType::I32, U64 = DataType::U64, Vec2U32 = DataType::Vec2U32, Vec4U32 = DataType::Vec4U32,
                   Bool = DataType::Bool, Bytes = DataType::Bytes;
constexpr std::uint32_t kMinus1 = 0xFFFFFFFF, kMin = 0x80000000, kMax = 0x7FFFFFFF;

// clang-format off
constexpr ExpectedCast kExpectedCasts[] = {
  {U32, U32, {42}, {42}}, {U32, U32, {kMinus1}, {kMinus1}},
  {U32, I32, {0xFFFFFFFF}, {kMinus1}}, {U32, I32, {kMin}, {kMin}},
  {U32, Bool, {0}, {0}}, {U32, Bool, {7}, {1}}, {U32, Bool, {kMin}, {1}}, {U32, Bool, {kMinus1}, {1}},
  {U32, U64, {42}, {42, 0}}, {U32, U64, {kMinus1}, {kMinus1, 0}},
  {U32, Vec2U32, {5}, {5, 5}}, {U32, Vec2U32, {kMinus1}, {kMinus1, kMinus1}},
  {U32, Vec4U32, {5}, {5, 5, 5, 5}},
  {I32, I32, {kMinus1}, {kMinus1}},
  {I32, U32, {kMinus1}, {0xFFFFFFFF}}, {I32, U32, {kMin}, {kMin}},
  {I32, Bool, {0}, {0}}, {I32, Bool, {kMinus1}, {1}}, {I32, Bool, {kMin}, {1}},
  {I32, U64, {kMinus1}, {0xFFFFFFFF, 0xFFFFFFFF}}, {I32, U64, {kMin}, {kMin, 0xFFFFFFFF}}, {I32, U64, {kMax}, {kMax, 0}}, {I32, U64, {0}, {0, 0}},
  {I32, Vec2U32, {kMinus1}, {0xFFFFFFFF, 0xFFFFFFFF}}, {I32, Vec2U32, {1}, {1, 1}},
  {I32, Vec4U32, {kMinus1}, {kMinus1, kMinus1, kMinus1, kMinus1}},
  {Bool, U32, {1}, {1}}, {Bool, U32, {0}, {0}},
  {Bool, I32, {1}, {1}}, {Bool, I32, {0}, {0}},
  {Bool, Bool, {1}, {1}}, {Bool, Bool, {0}, {0}},
  {Bool, U64, {0}, {0, 0}}, {Bool, U64, {1}, {1, 0}},
  {Bool, Vec2U32, {0}, {0, 0}}, {Bool, Vec2U32, {1}, {1, 1}},
  {Bool, Vec4U32, {0}, {0, 0, 0, 0}}, {Bool, Vec4U32, {1}, {1, 1, 1, 1}},
  {U64, U32, {0xDEAD, 0xBEEF}, {0xDEAD}},
  {U64, I32, {0xFFFFFFFF, 0}, {kMinus1}},
  {U64, Bool, {1, 0}, {1}}, {U64, Bool, {0, 0}, {0}}, {U64, Bool, {0, 1}, {1}}, {U64, Bool, {0, kMin}, {1}},
  {U64, U64, {1, 2}, {1, 2}},
  {U64, Vec2U32, {1, 2}, {1, 2}},
  {Vec2U32, U32, {3, 7}, {3}},
  {Vec2U32, I32, {0xFFFFFFFF, 0}, {kMinus1}},
  {Vec2U32, U64, {3, 7}, {3, 7}},
  {Vec2U32, Vec2U32, {3, 7}, {3, 7}},
  {Vec2U32, Bool, {0, 0}, {0}}, {Vec2U32, Bool, {0, 7}, {1}}, {Vec2U32, Bool, {7, 0}, {1}},
  {Vec4U32, U32, {1, 2, 3, 4}, {1}},
  {Vec4U32, I32, {kMinus1, 2, 3, 4}, {kMinus1}},
  {Vec4U32, Vec2U32, {1, 2, 3, 4}, {1, 2}},
  {Vec4U32, Vec4U32, {1, 2, 3, 4}, {1, 2, 3, 4}},
  {Vec4U32, Bool, {0, 0, 0, 0}, {0}}, {Vec4U32, Bool, {0, 0, 0, 1}, {1}}, {Vec4U32, Bool, {0, 0, 2, 0}, {1}},
  {Vec4U32, U64, {1, 2, 3, 4}, {1, 2}},
};
// clang-format on

TEST(Casts, give_the_values_of_the_cast_document) {
  std::set<std::pair<DataType, DataType>> seen{{Bytes, Bytes}};  // a handle, no lanes
  for (const ExpectedCast& row : kExpectedCasts) {
    SCOPED_TRACE(std::string(name(row.source)) + " to " + std::string(name(row.target)));
    seen.insert({row.source, row.target});
    const std::optional<CastKind> kind = cast_kind(row.source, row.target);
    ASSERT_TRUE(kind.has_value());
    EXPECT_EQ(cast(*kind, Value{row.from}, lanes(row.source), lanes(row.target)), Value{row.to});
  }
  EXPECT_EQ(seen.size(), kCasts.size()) << "a row of casts.def has no expected value";
}

TEST(Casts, exist_exactly_where_the_document_has_a_row) {
  // A row a source, a column a target, both in the order of kTypes: U32 I32 U64 Vec2U32 Vec4U32 Bool Bytes U8 I8 U16 I16.
  constexpr std::array<std::string_view, 11> kSupported = {
      "yyyyyy-----",  // U32
      "yyyyyy-----",  // I32
      "yyyy-y-----",  // U64
      "yyyy-y-----",  // Vec2U32
      "yyyyyy-----",  // Vec4U32
      "yyyyyy-----",  // Bool
      "------y----",  // Bytes
      "-----------", "-----------", "-----------", "-----------",
  };
  for (std::size_t source = 0; source < kTypes.size(); ++source) {
    for (std::size_t target = 0; target < kTypes.size(); ++target) {
      EXPECT_EQ(cast_kind(kTypes[source].type, kTypes[target].type).has_value(), kSupported[source][target] == 'y')
          << kTypes[source].name << " to " << kTypes[target].name;
    }
  }
}

}  // namespace
}  // namespace vyre::ir
