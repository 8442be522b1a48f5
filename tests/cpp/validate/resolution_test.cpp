// V039 is found while a Program is made, so these tests make handles and say what resolve() found.
#include "vyre/validate/resolution.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../support/found.hpp"
#include "vyre/ir/handles/infix.hpp"
#include "vyre/ops/standard.hpp"

namespace vyre::validate {
namespace {

using ir::DataType;
using ir::ExprHandle;
using ir::Infix;
using ir::expr::infix;
using ir::expr::integer;

using sample::Found;
using sample::said;

ExprHandle load(const char* name) { return ir::expr::load(name, ir::expr::u32(0)); }

// "V039 at entry[0].value: ..." of a program that binds the value.
Found found(const ExprHandle& value) {
  ir::Surroundings surroundings;
  surroundings.operations = [] { return ops::standard_ops(); };
  const ir::Resolved made = ir::resolve({ir::BufferDecl::read("i", 0, DataType::I32), ir::BufferDecl::read("u", 1, DataType::U32),
                                         ir::BufferDecl::read("w", 2, DataType::U64), ir::BufferDecl::read("v", 3, DataType::Vec2U32)},
                                        {1, 1, 1}, std::vector{ir::node::let("x", value)}, surroundings);
  Found result;
  for (const Diagnostic& each : diagnose(made, ops::standard_ops())) {
    result.push_back(each.rule + " at " + each.place.path + ": " + each.message);
  }
  return result;
}

TEST(V039, accepts_operands_of_one_type_and_integers_that_fit) {
  for (const char* name : {"i", "u", "w", "v"}) EXPECT_EQ(found(infix(Infix::Add, {load(name), load(name)})), Found{}) << name;
  EXPECT_EQ(found(infix(Infix::Mul, {load("i"), integer({3, true})})), Found{});
  EXPECT_EQ(found(infix(Infix::Shl, {load("w"), load("u")})), Found{});
  EXPECT_EQ(found(infix(Infix::Sub, {load("v"), load("u")})), Found{});
}

TEST(V039, rejects_operands_of_two_types) {
  EXPECT_EQ(
      found(infix(Infix::Lt, {load("i"), load("w")})),
      Found{said("V039 at entry[0].value:", "operator `<` has operands `i32` and `u64`", "cast one of them so that both have one type")});
}

TEST(V039, rejects_an_operator_that_a_type_does_not_have) {
  EXPECT_EQ(found(infix(Infix::Eq, {load("v"), load("v")})),
            Found{said("V039 at entry[0].value:", "operator `==` is not defined on `vec2<u32>`",
                       "apply it to each lane, vyre.lane(x, 0) and the others")});
}

TEST(V039, rejects_an_integer_out_of_range) {
  EXPECT_EQ(found(infix(Infix::Mul, {load("w"), integer({7, true})})),
            Found{said("V039 at entry[0].value.arguments[1]:", "literal -7 does not fit `u64` (0 to 18446744073709551615)",
                       "write an integer of that range")});
}

TEST(V039, rejects_the_bits_of_a_truth_and_amounts_of_another_type) {
  EXPECT_EQ(found(infix(Infix::Invert, {infix(Infix::Ne, {load("w"), load("w")})})),
            Found{said("V039 at entry[0].value:", "operator `~` flips the bits of a truth value",
                       "use logical_not for the truth or bitnot for the bits")});
  EXPECT_EQ(found(infix(Infix::Shr, {load("u"), load("i")})),
            Found{said("V039 at entry[0].value:", "amount of `>>` must be `u32`, got `i32`", "cast the amount to U32")});
}

}  // namespace
}  // namespace vyre::validate
