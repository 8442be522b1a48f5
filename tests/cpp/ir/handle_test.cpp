// What a user builds with before there is a program.
#include "vyre/ir/handles/handle.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "support/errors.hpp"
#include "support/programs/random_program.hpp"
#include "support/programs/sample_programs.hpp"
#include "support/small_stack.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/handles/resolve.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre::ir {
namespace {

Program of(std::vector<NodeHandle> entry) { return make_program({}, {1, 1, 1}, entry); }

TEST(Handle, is_compared_by_identity) {
  const ExprHandle a = expr::u32(1), b = expr::u32(1);
  EXPECT_EQ(a, ExprHandle(a));
  EXPECT_NE(a, b);
}

TEST(Handle, used_twice_is_one_expression) {
  const ExprHandle x = expr::u32(1);
  EXPECT_EQ(of({node::let("y", expr::binary(BinOp::Add, x, x))}).exprs().size(), 2u);
  EXPECT_EQ(of({node::let("y", expr::binary(BinOp::Add, expr::u32(1), expr::u32(1)))}).exprs().size(), 3u);
  EXPECT_EQ(of({node::let("y", x), node::let("z", x)}).exprs().size(), 1u);
}

TEST(Handle, of_a_statement_used_twice_is_two_statements) {
  const NodeHandle barrier = node::barrier();
  EXPECT_EQ(of({barrier, barrier}).nodes().size(), 2u);
  const NodeHandle block = node::block({node::let("x", expr::u32(1))});
  EXPECT_EQ(of({block, node::if_(expr::u32(1), {block}, {block})}).nodes().size(), 3u + 3 + 3 + 3);
}

TEST(Handle, of_a_statement_that_stands_for_too_many_is_refused) {
  NodeHandle block = node::barrier();
  for (int doubling = 0; doubling < 40; ++doubling) block = node::block({block, block});
  EXPECT_EQ(test::message_of<ArgumentError>([&] { of({block}); }),
            "program has more than 4194304 statements. Fix: use a statement inside others less often, or put it into a Loop.");
}

TEST(Handle, lives_on_in_its_users) {
  ExprHandle x = expr::var("x");
  const ExprHandle sum = expr::binary(BinOp::Add, x, x);
  x = {};
  EXPECT_EQ(sum->operands[0]->name, "x");
  EXPECT_EQ(sum->operands[0]->references.load(), 2u);
}

TEST(Handle, keeps_its_place) {
  const SourcePlace place{intern_file("kernel.py"), 12, 9};
  const Program program = of({node::barrier(place), node::let("x", expr::u32(1, {place.file, 13, 1}), place)});
  EXPECT_EQ(program.place(NodeId{0}).line, 12u);
  EXPECT_EQ(program.place(ExprId{0}).line, 13u);
}

TEST(Handle, of_a_programs_entry_makes_the_same_program) {
  const auto check = [](const Program& program) {
    const auto made_of = [](const Program& of) { return make_program(of.buffers(), of.workgroup_size(), entry_handles(of)); };
    const Program made = made_of(program);
    // The truth that V028 refuses in a store to Bool gets its cast.
    if (made.exprs().size() == program.exprs().size()) {
      EXPECT_EQ(made, program);
    }
    EXPECT_EQ(made_of(made), made);
  };
  for (const test::SampleProgram& sample : test::sample_programs()) {
    SCOPED_TRACE(sample.name);
    check(sample.program);
  }
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    check(test::random_program(seed, 40));
  }
}

TEST(Handle, chains_of_100000_are_destroyed_on_a_small_stack) {
  test::on_small_stack([] {
    ExprHandle x = expr::u32(1);
    for (int count = 0; count < 100000; ++count) x = expr::unary(UnOp::BitNot, std::move(x));
    const ExprHandle copy = x;
    EXPECT_EQ(of({node::let("x", copy)}).exprs().size(), 100001u);
  });
}

TEST(Handle, a_million_nested_statements_are_destroyed_on_a_small_stack) {
  test::on_small_stack([] {
    NodeHandle block = node::block({});
    for (int count = 1; count < 1000000; ++count) {
      block = count % 2 == 0 ? node::block({std::move(block)}) : node::if_(expr::u32(1), {}, {std::move(block)});
    }
    const Program program = of({block});
    EXPECT_EQ(program.nodes().size(), 2500000u);
    EXPECT_EQ(of(entry_handles(program)), program);
  });
}

TEST(Handle, many_children_share_one_destroyed_parent) {
  ExprHandle x = expr::u32(1);
  for (int count = 0; count < 64; ++count) x = expr::binary(BinOp::Add, x, x);
  x = {};  // 65 expressions, 2^64 ways to them
}

TEST(Handle, is_copied_and_dropped_from_many_threads) {
  for (int round = 0; round < 20; ++round) {
    ExprHandle x = expr::u32(1);
    for (int count = 0; count < 1000; ++count) x = expr::binary(BinOp::Add, x, x);
    NodeHandle statement = node::block({node::let("x", x)});
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([own = x, block = statement]() mutable {
        for (int count = 0; count < 1000; ++count) {
          ExprHandle copy = own;
          NodeHandle other = block;
          own = copy->operands.empty() ? copy : copy->operands[0];
        }
        own = {};
        block = {};
      });
    }
    x = {};
    statement = {};
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace vyre::ir
