// The canonical form, and what equality and hash make of it.
#include <gtest/gtest.h>

#include <set>

#include "support/errors.hpp"
#include "support/programs/random_program.hpp"
#include "support/programs/sample_programs.hpp"
#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/builder.hpp"
#include "vyre/ir/handles/handle.hpp"
#include "vyre/ir/handles/resolve.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/ir/text/print.hpp"

namespace vyre::ir {
namespace {

Program of(std::vector<NodeHandle> entry) { return make_program({}, {1, 1, 1}, entry); }
std::vector<std::uint32_t> literals(const Program& program) {
  std::vector<std::uint32_t> values;
  for (const Expr& expr : program.exprs()) {
    if (const std::optional<std::uint32_t> value = literal_u32(expr)) values.push_back(*value);
  }
  return values;
}

TEST(Canonical, expressions_stand_in_the_order_of_first_evaluation) {
  ProgramBuilder builder;
  const ExprId four = builder.add(Literal::u32(4)), three = builder.add(Literal::u32(3)), two = builder.add(Literal::u32(2)),
               one = builder.add(Literal::u32(1));
  const NameId out = builder.name("out");
  builder.store(out, builder.add(Select{one, two, three}), builder.add(Binary{BinOp::Add, three, four}));
  EXPECT_EQ(literals(builder.finish()), (std::vector<std::uint32_t>{1, 2, 3, 4}));
}

TEST(Canonical, atomics_and_loops_evaluate_in_the_order_of_the_document) {
  ProgramBuilder builder;
  std::vector<ExprId> lit;
  for (std::uint32_t value = 6; value > 0; --value) lit.insert(lit.begin(), builder.add(Literal::u32(value)));
  const NameId name = builder.name("b");
  const std::array operands{lit[0], lit[1], lit[2]};  // index, expected, value
  const ExprId atomic = builder.add(Atomic{AtomicOp::CompareExchange, true, name, builder.list(operands)});
  builder.let(name, atomic);
  builder.loop(name, lit[3], lit[4]);
  builder.end();
  builder.let(name, builder.add(Load{name, lit[5]}));
  EXPECT_EQ(literals(builder.finish()), (std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6}));
}

TEST(Canonical, unreached_expressions_and_names_are_dropped) {
  ProgramBuilder builder;
  builder.name("unused");
  const ExprId unused = builder.add(Literal::u32(7));
  builder.add(Unary{UnOp::BitNot, unused});
  builder.let(builder.name("x"), builder.add(Literal::u32(1)));
  const Program program = builder.finish();
  EXPECT_EQ(program.exprs().size(), 1u);
  EXPECT_EQ(program.names().size(), 1u);
  EXPECT_EQ(program, of({node::let("x", expr::u32(1))}));
}

TEST(Canonical, names_are_numbered_by_first_use_buffers_first) {
  ProgramBuilder builder;
  const NameId late = builder.name("late"), early = builder.name("early");
  builder.buffer(BufferDecl::read("data", 0, DataType::U32));
  builder.let(late, builder.add(Var{early}));
  const Program program = builder.finish();
  EXPECT_EQ(program.text(NameId{0}), "data");
  EXPECT_EQ(program.text(NameId{1}), "early");
  EXPECT_EQ(program.text(NameId{2}), "late");
}

TEST(Canonical, an_empty_else_is_no_else) {
  ProgramBuilder builder;
  builder.if_(builder.add(Literal::u32(1)));
  builder.else_();
  builder.end();
  const Program program = builder.finish();
  EXPECT_EQ(program, of({node::if_(expr::u32(1), {}, {})}));
  EXPECT_EQ(program.nodes().size(), 2u);
  EXPECT_FALSE(std::get<If>(program.node(NodeId{0})).otherwise.valid());
}

TEST(Canonical, partners_of_blocks_know_each_other) {
  const Program program = of({node::if_(expr::u32(1), {node::block({})}, {node::loop("k", expr::u32(0), expr::u32(1), {})})});
  const auto& branch = std::get<If>(program.node(NodeId{0}));
  EXPECT_EQ(branch.otherwise, NodeId{3});
  EXPECT_EQ(branch.end, NodeId{6});
  EXPECT_EQ(std::get<Else>(program.node(NodeId{3})).opener, NodeId{0});
  EXPECT_EQ(std::get<Else>(program.node(NodeId{3})).end, NodeId{6});
  EXPECT_EQ(std::get<End>(program.node(NodeId{6})).opener, NodeId{0});
  EXPECT_EQ(std::get<Block>(program.node(NodeId{1})).end, NodeId{2});
  EXPECT_EQ(std::get<Loop>(program.node(NodeId{4})).end, NodeId{5});
}

TEST(Canonical, operands_precede_users_in_every_program) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Program program = test::random_program(seed, 40);
    for (std::uint32_t index = 0; index < program.exprs().size(); ++index) {
      for_each_operand(program, ExprId{index}, [&](ExprId id) { ASSERT_LT(id.index, index) << "seed " << seed; });
    }
  }
}

TEST(Canonical, a_builder_is_empty_after_finish) {
  ProgramBuilder builder;
  builder.buffer(BufferDecl::read("data", 0, DataType::U32));
  builder.let(builder.name("x"), builder.add(Literal::u32(1)));
  builder.finish();
  EXPECT_EQ(builder.finish(), Program());
}

TEST(Canonical, places_follow_their_expressions) {
  const std::uint32_t file = intern_file("kernel.py");
  ProgramBuilder builder;
  const ExprId right = builder.add(Literal::u32(2), {file, 20, 0});
  const ExprId left = builder.add(Literal::u32(1), {file, 10, 0});
  builder.let(builder.name("x"), builder.add(Binary{BinOp::Add, left, right}), {file, 5, 3});
  builder.barrier();
  const Program program = builder.finish();
  EXPECT_EQ(program.place(ExprId{0}).line, 10u);
  EXPECT_EQ(program.place(ExprId{1}).line, 20u);
  EXPECT_FALSE(program.place(ExprId{2}).known());
  EXPECT_EQ(program.place(NodeId{0}).column, 3u);
  EXPECT_FALSE(program.place(NodeId{1}).known());
  EXPECT_EQ(file_name(program.place(ExprId{0}).file), "kernel.py");
}

TEST(Canonical, names_that_are_not_utf8_are_refused) {
  ProgramBuilder builder;
  const std::string surrogate = "a\xED\xA0\x80";
  EXPECT_EQ(test::message_of<ArgumentError>([&] { builder.name(surrogate); }),
            "name `a\\xed\\xa0\\x80` is not valid UTF-8. Fix: encode names as UTF-8, without lone surrogates.");
  EXPECT_THROW(builder.buffer(BufferDecl::read("\xFF", 0, DataType::U32)), ArgumentError);
  EXPECT_THROW(of({node::let("\xC0\x80", expr::u32(1))}), ArgumentError);
  EXPECT_EQ(builder.finish(), Program()) << "nothing is half-added";
}

TEST(Canonical, misuse_of_the_builder_is_our_bug) {
  ProgramBuilder builder;
  EXPECT_THROW(builder.add(Unary{UnOp::BitNot, ExprId{0}}), BugError);
  EXPECT_THROW(builder.else_(), BugError);
  EXPECT_THROW(builder.end(), BugError);
  const ExprId one = builder.add(Literal::u32(1));
  EXPECT_THROW(builder.add(Atomic{AtomicOp::Add, true, builder.name("b"), builder.list(std::array{one, one})}), BugError);
  builder.block();
  EXPECT_THROW(builder.finish(), BugError);
}

// --- Equality and hash ---

TEST(Equality, sees_every_sample_as_itself_and_no_other) {
  std::set<std::uint64_t> hashes;
  const auto& samples = test::sample_programs();
  for (const auto& a : samples) {
    hashes.insert(a.program.hash());
    for (const auto& b : samples) EXPECT_EQ(a.program == b.program, &a == &b) << a.name << " and " << b.name;
  }
  EXPECT_EQ(hashes.size(), samples.size());
}

TEST(Equality, sees_every_single_difference) {
  const ExprHandle one = expr::u32(1), two = expr::u32(2);
  BufferDecl base = BufferDecl::read("b", 0, DataType::U32);
  std::vector<Program> programs = {Program(), make_program({}, {2, 1, 1}, {}), make_program({}, {1, 1, 2}, {}),
                                   make_program({base}, {1, 1, 1}, {})};
  const auto with = [&](auto change) {
    BufferDecl decl = base;
    change(decl);
    programs.push_back(make_program({decl}, {1, 1, 1}, {}));
  };
  with([](BufferDecl& decl) { decl.name = "c"; });
  with([](BufferDecl& decl) { decl.binding = 1; });
  with([](BufferDecl& decl) { decl.access = BufferAccess::Uniform; });
  with([](BufferDecl& decl) { decl.element = DataType::I32; });
  with([](BufferDecl& decl) { decl.count = 1; });
  with([](BufferDecl& decl) { decl.output = true; });
  const auto value = [&](ExprHandle handle) { programs.push_back(of({node::let("x", std::move(handle))})); };
  value(expr::u32(1));
  value(expr::u32(2));
  value(expr::i32(1));
  value(expr::u64(1));
  value(expr::u64(1ull << 32));
  value(expr::boolean(true));
  value(expr::boolean(false));
  value(expr::var("x"));
  value(expr::var("y"));
  value(expr::buf_len("x"));
  value(expr::gid(0));
  value(expr::gid(1));
  value(expr::wid(0));
  value(expr::load("x", one));
  value(expr::load("y", one));
  value(expr::binary(BinOp::Add, one, two));
  value(expr::binary(BinOp::Sub, one, two));
  value(expr::binary(BinOp::Add, one, one));           // shared
  value(expr::binary(BinOp::Add, expr::u32(1), one));  // equal, not shared
  value(expr::unary(UnOp::Clz, one));
  value(expr::unary(UnOp::Ctz, one));
  value(expr::select(one, one, two));
  value(expr::select(one, two, one));
  value(expr::cast(DataType::I32, one));
  value(expr::cast(DataType::U64, one));
  value(expr::call("f", {one}));
  value(expr::call("g", {one}));
  value(expr::call("f", {one, one}));
  value(expr::call("f", {}));
  value(expr::lane(one, 0));
  value(expr::lane(one, 1));
  value(expr::pack(DataType::U64, {one}));
  value(expr::pack(DataType::Vec2U32, {one}));
  value(expr::atomic(AtomicOp::Add, "x", one, {}, two));
  value(expr::atomic(AtomicOp::Or, "x", one, {}, two));
  value(expr::atomic(AtomicOp::Add, "x", one, one, two));
  programs.push_back(of({node::assign("x", expr::u32(1))}));
  programs.push_back(of({node::let("y", expr::u32(1))}));
  programs.push_back(of({node::store("x", one, one)}));
  programs.push_back(of({node::if_(one, {node::barrier()})}));
  programs.push_back(of({node::if_(one, {}, {node::barrier()})}));
  programs.push_back(of({node::if_(one, {}), node::barrier()}));
  programs.push_back(of({node::loop("x", one, one, {})}));
  programs.push_back(of({node::block({})}));
  programs.push_back(of({node::block({node::block({})})}));
  programs.push_back(of({node::block({}), node::block({})}));
  programs.push_back(of({node::barrier()}));
  programs.push_back(of({node::return_()}));
  std::set<std::uint64_t> hashes;
  for (std::size_t a = 0; a < programs.size(); ++a) {
    hashes.insert(programs[a].hash());
    for (std::size_t b = 0; b < programs.size(); ++b) {
      EXPECT_EQ(programs[a] == programs[b], a == b) << to_text(programs[a]) << "and\n" << to_text(programs[b]);
    }
  }
  EXPECT_EQ(hashes.size(), programs.size());
}

TEST(Equality, leaves_out_where_declarations_and_programs_were_made) {
  const SourcePlace place{intern_file("a.py"), 7, 3};
  BufferDecl plain = BufferDecl::read("b", 0, DataType::U32), placed = plain;
  placed.made_at = {place};
  EXPECT_EQ(plain, placed);
  const Program one = make_program({plain}, {1, 1, 1}, {}), other = make_program({placed}, {1, 1, 1}, {}, place);
  EXPECT_EQ(one, other);
  EXPECT_EQ(one.hash(), other.hash());
  EXPECT_EQ(other.place().line, 7u);
  EXPECT_EQ(other.buffers()[0].made_at.column, 3u);
  EXPECT_FALSE(one.place().known());
}
TEST(Equality, leaves_source_places_out) {
  const SourcePlace place{intern_file("a.py"), 1, 1};
  const Program with = of({node::let("x", expr::u32(1, place), place)});
  const Program without = of({node::let("x", expr::u32(1))});
  EXPECT_EQ(with, without);
  EXPECT_EQ(with.hash(), without.hash());
}

// Certificates and caches on disk hold it: the same in every process and every release.
TEST(Equality, hash_of_the_first_program_stays) { EXPECT_EQ(test::xor_program().hash(), 6659610335189091769u); }

}  // namespace
}  // namespace vyre::ir
