#include "vyre/ir/handles/resolve.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "vyre/ir/handles/infix.hpp"
#include "vyre/ir/text/print.hpp"

namespace vyre::ir {
namespace {

using expr::infix;
using expr::integer;
using expr::load;
using expr::u32;
using expr::var;

const std::vector<BufferDecl> kBuffers = {BufferDecl::read("i", 0, DataType::I32), BufferDecl::read("u", 1, DataType::U32),
                                          BufferDecl::read_write("out", 2, DataType::I32)};

Resolved resolved(const std::vector<NodeHandle>& entry) { return resolve(kBuffers, {1, 1, 1}, entry, {}); }

std::string text(const std::vector<NodeHandle>& entry) {
  const Resolved made = resolved(entry);
  EXPECT_TRUE(made.mistakes.empty());
  return to_text(made.program);
}

std::size_t count_of(ExprKind wanted, const Program& program) {
  std::size_t count = 0;
  for (const Expr& expr : program.exprs()) count += kind(expr) == wanted;
  return count;
}

TEST(Resolve, writes_the_operator_of_the_operands_type) {
  const ExprHandle i = load("i", u32(0)), u = load("u", u32(0));
  const Resolved made = resolved({node::let("a", infix(Infix::Div, {u, u})), node::let("b", infix(Infix::Div, {i, i}))});
  ASSERT_TRUE(made.mistakes.empty());
  std::vector<BinOp> ops;
  for (const Expr& expr : made.program.exprs()) {
    if (const Binary* binary = std::get_if<Binary>(&expr)) ops.push_back(binary->op);
  }
  EXPECT_EQ(ops, (std::vector{BinOp::Div, BinOp::SDiv}));
}

TEST(Resolve, gives_an_integer_the_type_that_stands_opposite) {
  const Resolved made =
      resolved({node::store("out", u32(0), integer({7, true})), node::let("a", infix(Infix::Lt, {load("i", u32(0)), integer({5})}))});
  ASSERT_TRUE(made.mistakes.empty());
  std::vector<std::pair<DataType, std::uint32_t>> literals;
  for (const Expr& expr : made.program.exprs()) {
    if (const Literal* literal = std::get_if<Literal>(&expr)) literals.emplace_back(literal->type, literal->low);
  }
  EXPECT_EQ(literals, (std::vector<std::pair<DataType, std::uint32_t>>{
                          {DataType::U32, 0}, {DataType::I32, 0xFFFFFFF9u}, {DataType::U32, 0}, {DataType::I32, 5}}));
}

// v is a U32 in the first and third block and an I32 in the second.
std::vector<NodeHandle> blocks_of(const ExprHandle& shared) {
  const auto block = [&](ExprHandle value) {
    return node::block({node::let("v", std::move(value)), node::let("a", shared), node::let("b", shared)});
  };
  return {block(u32(1)), block(expr::i32(1)), block(u32(2))};
}

TEST(Resolve, makes_a_handle_once_for_each_type_of_its_variables) {
  const ExprHandle v = var("v");
  const Resolved made = resolved(blocks_of(infix(Infix::Lt, {v, v})));
  ASSERT_TRUE(made.mistakes.empty());
  EXPECT_EQ(count_of(ExprKind::Binary, made.program), 2u);
  EXPECT_EQ(count_of(ExprKind::Var, made.program), 1u);
  std::vector<ExprId> values;
  for (const Node& node : made.program.nodes()) {
    const Let* let = std::get_if<Let>(&node);
    if (let != nullptr && made.program.text(let->name) == "a") values.push_back(let->value);
  }
  ASSERT_EQ(values.size(), 3u);
  EXPECT_EQ(values[0], values[2]);
  EXPECT_NE(values[0], values[1]);
}

TEST(Resolve, shares_what_does_not_depend_on_the_type_that_changed) {
  const ExprHandle u = load("u", u32(0));
  ExprHandle value = infix(Infix::Add, {u, var("w")});
  for (int k = 0; k < 10; ++k) value = infix(Infix::Mul, {value, u});
  std::vector<NodeHandle> entry{node::let("w", u32(3))};
  for (NodeHandle& block : blocks_of(value)) entry.push_back(std::move(block));
  EXPECT_EQ(count_of(ExprKind::Binary, resolved(entry).program), 11u);
}

TEST(Resolve, keeps_explicit_expressions_one_whatever_the_types_of_variables) {
  const ExprHandle v = var("v");
  const ExprHandle sum = expr::binary(BinOp::Add, v, expr::select(v, v, v));
  EXPECT_EQ(count_of(ExprKind::Binary, resolved(blocks_of(sum)).program), 1u);
}

TEST(Resolve, says_a_mistake_once_with_its_place) {
  const ExprHandle wrong = infix(Infix::Add, {load("i", u32(0)), load("u", u32(0))});
  const Resolved made = resolved({node::barrier(), node::let("a", infix(Infix::Mul, {wrong, load("u", u32(1))}))});
  ASSERT_EQ(made.mistakes.size(), 1u);
  const Mistake& mistake = made.mistakes.front();
  EXPECT_EQ(mistake.kind, Mistake::Kind::Operands);
  EXPECT_EQ(mistake.op, Infix::Add);
  EXPECT_EQ(mistake.left, DataType::I32);
  EXPECT_EQ(mistake.right, DataType::U32);
  EXPECT_EQ(mistake.statement, NodeId{1});
  EXPECT_TRUE(mistake.expr.valid());
}

TEST(Resolve, judges_integers_by_the_range_of_a_type) {
  using Row = std::pair<DataType, NumberRange>;
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  for (const auto& [type, numbers] : {Row{DataType::U32, {{0}, {0xFFFFFFFFu}}}, Row{DataType::U64, {{0}, {kMost}}},
                                      Row{DataType::I32, {{0x80000000u, true}, {0x7FFFFFFFu}}}}) {
    const std::uint64_t greatest = numbers.greatest.magnitude;
    EXPECT_TRUE(numbers.least.fits(type) && numbers.greatest.fits(type)) << name(type);
    EXPECT_FALSE((Number{numbers.least.magnitude + 1, true}).fits(type)) << name(type);
    EXPECT_TRUE(greatest == kMost || !Number{greatest + 1}.fits(type)) << name(type);
  }
  EXPECT_FALSE(Number{1}.fits(DataType::Bool));
}

// `x` begins as an open integer, is copied to `y` in a loop, and takes the type of what is assigned to it at the end of the loop.
TEST(Resolve, gives_an_open_integer_the_type_of_the_first_typed_value_assigned) {
  const std::vector<NodeHandle> entry = {
      node::let("x", expr::open_integer({3, true}, "x")),
      node::loop("k", u32(0), u32(4), {node::let("y", var("x")), node::assign("x", infix(Infix::Min, {var("y"), load("i", var("k"))}))}),
      node::store("out", u32(0), infix(Infix::Negate, {var("x")}))};
  EXPECT_EQ(text(entry),
            "vyre 1\nworkgroup_size 1 1 1\nbuffer i: read i32 binding 0\nbuffer u: read u32 binding 1\n"
            "buffer out: read_write i32 binding 2\n\nlet x = -3i32\nloop k in 0..4 {\n  let y = x\n  x = smin(y, i[k])\n}\n"
            "out[0] = cast(i32, negate(cast(u32, x)))\n");
}

TEST(Resolve, gives_an_open_integer_the_type_of_its_first_use_where_no_assignment_says_otherwise) {
  const std::vector<NodeHandle> entry = {node::let("x", expr::open_integer({0}, "x")),
                                         node::let("y", infix(Infix::Add, {var("x"), load("i", u32(0))}))};
  EXPECT_TRUE(resolved(entry).mistakes.empty());
  const Resolved made = resolved({entry[0], node::assign("x", load("u", u32(0))), entry[1]});
  ASSERT_EQ(made.mistakes.size(), 1u);
  EXPECT_EQ(made.mistakes[0].kind, Mistake::Kind::Operands);
  EXPECT_EQ(made.mistakes[0].left, DataType::U32);
  EXPECT_EQ(made.mistakes[0].right, DataType::I32);
}

TEST(Resolve, refuses_an_open_integer_that_is_no_value_of_its_type) {
  const Resolved made = resolved({node::let("x", expr::open_integer({1, true}, "x")), node::assign("x", load("u", u32(0)))});
  ASSERT_EQ(made.mistakes.size(), 1u);
  EXPECT_EQ(made.mistakes[0].kind, Mistake::Kind::Literal);
  EXPECT_EQ(made.mistakes[0].left, DataType::U32);
}

TEST(Resolve, fills_the_lanes_of_a_vector_with_an_open_integer) {
  const ExprHandle vector = expr::pack(DataType::Vec2U32, {load("u", u32(0)), load("u", u32(1))});
  const Resolved made = resolved({node::let("x", expr::open_integer({7}, "x")), node::assign("x", vector)});
  ASSERT_TRUE(made.mistakes.empty());
  EXPECT_NE(to_text(made.program).find("%0 = 7\nlet x = pack(vec2<u32>, %0, %0)\n"), std::string::npos) << to_text(made.program);
}

TEST(Resolve, spells_operators_and_integers_so_that_handles_come_back) {
  const NodeHandle statement = node::store("out", u32(0), infix(Infix::Shl, {infix(Infix::Negate, {load("i", u32(0))}), integer({5})}));
  const std::vector<NodeHandle> again = entry_handles(spell_out(std::array{statement}));
  ASSERT_EQ(again.size(), 1u);
  const ExprHandle& value = again.front()->operands[1];
  EXPECT_EQ(value->infix, Infix::Shl);
  EXPECT_EQ(value->operands[0]->infix, Infix::Negate);
  EXPECT_TRUE(value->operands[1]->adapts);
  EXPECT_EQ(text({again.front()}), text({statement}));
}

}  // namespace
}  // namespace vyre::ir
