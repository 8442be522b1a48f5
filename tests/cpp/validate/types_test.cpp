#include <gtest/gtest.h>

#include "../support/found.hpp"
#include "../support/programs/programs.hpp"
#include "vyre/ir/semantics.hpp"

namespace vyre {
namespace {

using namespace sample;

Found found_value(ExprHandle value) { return found(Sample().add(let("v", std::move(value))).make()); }

// A value of every type that has one; for narrow elements, of the type that they load as.
ExprHandle value_of(DataType type) {
  switch (ir::value_type(type)) {
    case DataType::U32:
      return u32(1);
    case DataType::I32:
      return i32(1);
    case DataType::U64:
      return u64(1);
    case DataType::Bool:
      return boolean(true);
    case DataType::Vec2U32:
      return pack(type, {u32(1), u32(2)});
    case DataType::Vec4U32:
      return pack(type, {u32(1), u32(2), u32(3), u32(4)});
    default:
      break;
  }
  return {};
}

TEST(V012, accepts_every_row_of_the_cast_table) {
  for (const ir::CastRow& row : ir::kCasts) {
    if (row.source != DataType::Bytes) {
      EXPECT_EQ(found_value(cast(row.target, value_of(row.source))), Found{});
    }
  }
}
TEST(V012, rejects_widening_vectors) {
  EXPECT_EQ(found_value(cast(DataType::Vec4U32, u64(1))),
            Found{said("V012", "unsupported cast from `u64` to `vec4<u32>`", "see casts.md for valid conversions")});
  EXPECT_EQ(found_value(cast(DataType::Vec4U32, value_of(DataType::Vec2U32))),
            Found{said("V012", "unsupported cast from `vec2<u32>` to `vec4<u32>`", "see casts.md for valid conversions")});
}
TEST(V012, rejects_casts_from_bytes) {
  EXPECT_EQ(found(Sample().in("b", DataType::Bytes).add(let("v", cast(DataType::U32, load("b", u32(0))))).make()),
            (Found{said("V013", "operation on buffer `b` with element type `bytes` is not supported", "use a typed buffer"),
                   said("V012", "unsupported cast from `bytes` to `u32`", "see casts.md for valid conversions")}));
}
TEST(V012, judges_every_pair_once) {
  for (const ir::TypeInfo& source : ir::kTypes) {
    for (const ir::TypeInfo& target : ir::kTypes) {
      if (source.type == DataType::Bytes || ir::is_narrow(source.type) || ir::cast_kind(source.type, target.type)) continue;
      EXPECT_EQ(found_value(cast(target.type, value_of(source.type))).size(), 1u) << source.text << " to " << target.text;
    }
  }
}

TEST(V015, accepts_u32_bounds) { EXPECT_EQ(found(Sample().in("a").add(loop("k", u32(0), len("a"), {})).make()), Found{}); }
TEST(V015, rejects_each_bound_that_is_not_u32) {
  const ir::Program program = Sample().add(loop("k", i32(0), boolean(true), {})).make();
  EXPECT_EQ(found(program), (Found{said("V015", "loop bound expression must be `u32`, got `i32`", "ensure `from` and `to` are U32"),
                                   said("V015", "loop bound expression must be `u32`, got `bool`", "ensure `from` and `to` are U32")}));
  EXPECT_EQ(places(program), (Found{"V015 at entry[0]", "V015 at entry[0]"}));
}
TEST(V015, leaves_the_variable_u32) {
  EXPECT_EQ(rules(Sample().add(loop("k", i32(0), u32(4), {let("x", var("k") + u32(1))})).make()), Found{"V015"});
}

TEST(V021, accepts_every_operator_of_this_rule_on_u32) {
  for (const ir::BinOpInfo& row : ir::kBinOps) {
    if (row.rule == ir::OperandRule::V021) {
      EXPECT_EQ(found_value(bin(row.op, u32(1), u32(2))), Found{}) << row.name;
    }
  }
}
TEST(V021, rejects_each_operand_that_is_not_u32) {
  EXPECT_EQ(
      found_value(i32(1) + boolean(true)),
      (Found{said("V021", "binary operation left operand must be `u32`, got `i32`", "cast or rewrite the operand to produce U32"),
             said("V021", "binary operation right operand must be `u32`, got `bool`", "cast or rewrite the operand to produce U32")}));
}
TEST(V021, rejects_bool_operands_of_logical_operators) {
  EXPECT_EQ(found_value(bin(BinOp::And, boolean(true), u32(1))),
            Found{said("V021", "binary operation left operand must be `u32`, got `bool`", "cast or rewrite the operand to produce U32")});
}

TEST(V022, accepts_u32_and_bool_conditions) { EXPECT_EQ(found(Sample().add(if_(u32(2), {})).add(if_(boolean(true), {})).make()), Found{}); }
TEST(V022, rejects_other_conditions) {
  EXPECT_EQ(found(Sample().add(if_(i32(1), {})).make()),
            Found{said("V022", "if condition must be `u32` or `bool`, got `i32`", "cast or rewrite the condition to produce U32 or Bool")});
}

TEST(V023, accepts_a_cast_of_bytes_to_bytes) {
  EXPECT_EQ(rules(Sample().in("b", DataType::Bytes).add(let("v", cast(DataType::Bytes, load("b", u32(0))))).make()), Found{"V013"});
}
TEST(V023, rejects_casts_to_bytes) {
  EXPECT_EQ(found_value(cast(DataType::Bytes, u32(1))),
            Found{said("V023", "V023: cast to Bytes is unsupported in WGSL lowering", "use buffer load/store directly for byte data")});
}

TEST(V027, accepts_u32_indices_and_lanes_in_range) {
  EXPECT_EQ(found(Sample()
                      .in("a")
                      .out("o", DataType::U64)
                      .add(store("o", load("a", u32(0)), pack(DataType::U64, {lane(u64(1), 1), lane(value_of(DataType::Vec4U32), 3)})))
                      .make()),
            Found{});
}
TEST(V027, rejects_indices_that_are_not_u32) {
  EXPECT_EQ(found(Sample().in("a").add(let("v", load("a", i32(0)))).make()),
            Found{said("V027", "load index of buffer `a` must be `u32`, got `i32`", "cast or rewrite the index to produce U32")});
  EXPECT_EQ(found(Sample().out("o").add(store("o", boolean(true), u32(1))).make()),
            Found{said("V027", "store index of buffer `o` must be `u32`, got `bool`", "cast or rewrite the index to produce U32")});
  EXPECT_EQ(found(Sample().out("o").add(let("v", atomic(AtomicOp::Add, "o", u64(0), u32(1)))).make()),
            Found{said("V027", "atomic index of buffer `o` must be `u32`, got `u64`", "cast or rewrite the index to produce U32")});
}
TEST(V027, rejects_lanes_that_do_not_exist) {
  EXPECT_EQ(found_value(lane(u64(1), 2)), Found{said("V027", "lane 2 is out of range for `u64`", "use a lane from 0 to 1")});
  EXPECT_EQ(found_value(lane(value_of(DataType::Vec4U32), 4294967295u)),
            Found{said("V027", "lane 4294967295 is out of range for `vec4<u32>`", "use a lane from 0 to 3")});
}
TEST(V027, rejects_lanes_of_scalars) {
  EXPECT_EQ(found_value(lane(i32(1), 0)), Found{said("V027", "lane of `i32` is not defined", "use a U64, Vec2U32 or Vec4U32 value")});
}
TEST(V027, rejects_packs_of_scalars) {
  EXPECT_EQ(found_value(pack(DataType::Bool, {i32(1)})),
            Found{said("V027", "pack to `bool` is not defined", "use U64, Vec2U32 or Vec4U32")});
  EXPECT_EQ(found_value(pack(DataType::Bytes, {u32(1)})),
            Found{said("V027", "pack to `bytes` is not defined", "use U64, Vec2U32 or Vec4U32")});
}
TEST(V027, rejects_packs_with_the_wrong_number_of_lanes) {
  EXPECT_EQ(found_value(pack(DataType::Vec2U32, {u32(1), u32(2), u32(3)})),
            Found{said("V027", "pack to `vec2<u32>` needs 2 lanes, got 3", "pass exactly 2 U32 lanes")});
  EXPECT_EQ(found_value(pack(DataType::Vec4U32, {})),
            Found{said("V027", "pack to `vec4<u32>` needs 4 lanes, got 0", "pass exactly 4 U32 lanes")});
}
TEST(V027, rejects_pack_lanes_that_are_not_u32) {
  EXPECT_EQ(found_value(pack(DataType::U64, {u32(1), boolean(true)})),
            Found{said("V027", "pack lane 1 must be `u32`, got `bool`", "cast or rewrite the lane to produce U32")});
}

TEST(V028, accepts_values_of_the_declared_type) {
  for (const ir::TypeInfo& row : ir::kTypes) {
    if (row.type == DataType::Bytes) continue;
    EXPECT_EQ(found(Sample()
                        .out("o", row.type)
                        .add(let("x", value_of(row.type)))
                        .add(assign("x", value_of(row.type)))
                        .add(store("o", u32(0), var("x")))
                        .make()),
              Found{});
  }
}
TEST(V028, rejects_stores_of_another_type) {
  EXPECT_EQ(found(Sample().out("o", DataType::Vec2U32).add(store("o", u32(0), u64(1))).make()),
            Found{said("V028", "store to buffer `o` must be `vec2<u32>`, got `u64`", "cast or rewrite the value to produce Vec2U32")});
}
TEST(V028, rejects_assignments_of_another_type) {
  EXPECT_EQ(found(Sample().add(let("x", boolean(true))).add(assign("x", u32(1))).make()),
            Found{said("V028", "assignment to variable `x` must be `bool`, got `u32`", "cast or rewrite the value to produce Bool")});
}

TEST(V029, accepts_branches_of_one_type) {
  EXPECT_EQ(found_value(select(boolean(true), i32(1), i32(2))), Found{});
  EXPECT_EQ(found_value(select(u32(1), u64(1), u64(2))), Found{});
}
TEST(V029, rejects_other_conditions) {
  EXPECT_EQ(found_value(select(i32(1), u32(1), u32(2))), Found{said("V029", "select condition must be `u32` or `bool`, got `i32`",
                                                                    "cast or rewrite the condition to produce U32 or Bool")});
}
TEST(V029, rejects_branches_of_two_types) {
  EXPECT_EQ(found_value(select(u32(1), u32(1), value_of(DataType::Vec4U32))),
            Found{said("V029", "select branches have types `u32` and `vec4<u32>`", "cast one branch so that both have one type")});
  EXPECT_EQ(found_value(select(u32(1), i32(1), boolean(true))),
            Found{said("V029", "select branches have types `i32` and `bool`", "cast one branch so that both have one type")});
}

TEST(V030, accepts_the_types_of_the_operator_table) {
  for (const ir::OpInfo* row : ir::kOps) {
    const std::array values{value_of(row->operands[0]), value_of(row->operands[1]), value_of(row->operands[2])};
    EXPECT_EQ(found_value(ir::expr::apply(*row, {values.begin(), values.begin() + row->arity})), Found{}) << row->name;
  }
}
TEST(V030, rejects_unary_operands_that_are_not_u32) {
  EXPECT_EQ(found_value(un(UnOp::LogicalNot, boolean(true))),
            Found{said("V030", "unary operation operand must be `u32`, got `bool`", "cast or rewrite the operand to produce U32")});
}
TEST(V030, rejects_operands_of_signed_operators) {
  EXPECT_EQ(found_value(bin(BinOp::SDiv, u32(1), i32(2))),
            Found{said("V030", "binary operation left operand must be `i32`, got `u32`", "cast or rewrite the operand to produce I32")});
  EXPECT_EQ(found_value(bin(BinOp::SShr, i32(1), i32(2))),
            Found{said("V030", "binary operation right operand must be `u32`, got `i32`", "cast or rewrite the operand to produce U32")});
}

TEST(Types, of_an_earlier_error_stay_silent) {
  const ExprHandle x = var("nowhere");
  EXPECT_EQ(rules(Sample()
                      .out("o")
                      .add(let("x", x))
                      .add(let("y", var("x") + u32(1)))
                      .add(store("o", var("x"), var("x")))
                      .add(let("z", select(var("x"), var("x"), i32(1))))
                      .add(let("w", un(UnOp::Clz, var("z"))))
                      .add(let("c", cast(DataType::Bytes, var("x"))))
                      .add(let("l", lane(var("x"), 9)))
                      .add(assign("x", u32(1)))
                      .add(loop("k", var("x"), var("x"), {}))
                      .add(if_(var("x"), {}))
                      .make()),
            Found{"V006"});
}
TEST(Types, of_a_bytes_load_matter_to_casts_only) {
  EXPECT_EQ(rules(Sample()
                      .in("b", DataType::Bytes)
                      .out("o")
                      .add(let("x", load("b", u32(0))))
                      .add(let("y", var("x") + u32(1)))
                      .add(store("o", var("x"), var("x")))
                      .add(if_(var("x"), {}))
                      .add(let("z", cast(DataType::I32, var("x"))))
                      .make()),
            (Found{"V013", "V012"}));
}

}  // namespace
}  // namespace vyre
