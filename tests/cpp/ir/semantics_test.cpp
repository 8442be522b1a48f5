// The definition, compared with the documents.
#include "vyre/ir/semantics.hpp"

#include <gtest/gtest.h>

#include <map>
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

TEST(Semantics, atomics_leave_what_the_operator_gives_of_the_old_value_and_theirs) {
  const std::map<AtomicOp, BinOp> operators = {{AtomicOp::Add, BinOp::Add},    {AtomicOp::And, BinOp::BitAnd}, {AtomicOp::Or, BinOp::BitOr},
                                               {AtomicOp::Xor, BinOp::BitXor}, {AtomicOp::Min, BinOp::Min},    {AtomicOp::Max, BinOp::Max}};
  EXPECT_EQ(operators.size() + 2, kAtomicOps.size());
  for (std::uint32_t old : kEdges) {
    for (std::uint32_t value : kEdges) {
      for (const auto& [atomic, op] : operators) EXPECT_EQ(evaluate(atomic, old, 99, value), evaluate(op, old, value)) << info(op).name;
      EXPECT_EQ(evaluate(AtomicOp::Exchange, old, 99, value), value);
      EXPECT_EQ(evaluate(AtomicOp::CompareExchange, old, value, 77), old == value ? 77 : old);
    }
  }
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

// --- Casts ---

TEST(Casts, give_the_values_of_the_cast_document) {
  std::set<std::pair<DataType, DataType>> seen{{DataType::Bytes, DataType::Bytes}};  // a handle, no lanes
  for (const test::ExpectedCast& row : test::kExpectedCasts) {
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
