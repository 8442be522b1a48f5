// The bound on loop rounds, against rounds that llvmpipe was seen to count: with 65,535 allowed, one loop of 65,534 turns ends by itself,
// and two of 1,000 and 64,533, and ten turns of a loop of 6,551, where one turn more is cut.
#include "vyre/lower/rounds.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "support/programs/programs.hpp"
#include "support/run_program.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/lower/lower.hpp"

namespace vyre {
namespace {

using namespace sample;

constexpr std::uint64_t kBudget = 65535;
constexpr std::uint64_t kUnknown = 0xFFFFFFFF;

std::uint64_t rounds(const List& entry) {
  const ir::Program program =
      Sample().out("in").out("out").size(64).add(let("s", u32(0))).add(entry).add(store("out", gid(0), var("s"))).make();
  return lower::most_rounds(lower::lower(test::valid(program)));
}

// One that no pass can do without.
NodeHandle turns(const char* name, ExprHandle from, ExprHandle to, List more = {}) {
  more.push_back(assign("s", var("s") * u32(3) + load("in", var(name))));
  return loop(name, from, to, more);
}

TEST(Rounds, no_loop_needs_none) { EXPECT_EQ(rounds({}), 0u); }

TEST(Rounds, a_loop_needs_one_more_than_its_turns) {
  EXPECT_EQ(rounds({turns("k", u32(0), u32(65534))}), kBudget);
  EXPECT_EQ(rounds({turns("k", u32(5), u32(15))}), 11u);
}

TEST(Rounds, loops_one_after_the_other_add_up) {
  EXPECT_EQ(rounds({turns("k", u32(0), u32(1000)), turns("j", u32(0), u32(64533))}), kBudget);
}

TEST(Rounds, loops_in_loops_multiply) {
  EXPECT_EQ(rounds({turns("k", u32(0), u32(10), {turns("j", u32(0), u32(6551))})}), 65531u);
  EXPECT_EQ(rounds({turns("k", u32(0), u32(2), {turns("j", u32(0), u32(32765))})}), kBudget);
}

TEST(Rounds, both_branches_count) {
  EXPECT_EQ(rounds({if_(load("in", gid(0)), {turns("k", u32(0), u32(9))}, {turns("j", u32(0), u32(19))})}), 30u);
}

TEST(Rounds, a_bound_may_be_known_by_what_it_is_made_of) {
  const ExprHandle x = load("in", gid(0));
  EXPECT_EQ(rounds({turns("k", u32(0), bin(BinOp::BitAnd, x, u32(255)))}), 256u);
  EXPECT_EQ(rounds({turns("k", u32(0), bin(BinOp::Min, x, u32(99)))}), 100u);
  EXPECT_EQ(rounds({turns("k", u32(0), bin(BinOp::Mod, x, u32(10)))}), 10u);
  EXPECT_EQ(rounds({turns("k", u32(0), bin(BinOp::Shr, x, u32(24)))}), 256u);
  EXPECT_EQ(rounds({turns("k", u32(0), un(UnOp::Popcount, x))}), 33u);
  EXPECT_EQ(rounds({turns("k", u32(0), lid(0))}), 64u);
  EXPECT_EQ(rounds({turns("k", u32(0), select(x, u32(3), u32(7)))}), 8u);
  EXPECT_EQ(rounds({turns("k", u32(0), u32(8), {turns("j", u32(0), var("k"))})}), 8u * 8 + 9);
}

TEST(Rounds, what_memory_holds_is_not_known) {
  EXPECT_EQ(rounds({turns("k", u32(0), load("in", u32(0)))}), kUnknown + 1);
  EXPECT_EQ(rounds({turns("k", u32(0), len("in"))}), kUnknown + 1);
  // The product and the sum saturate instead of wrapping round to a small one.
  const ExprHandle x = load("in", gid(0));
  EXPECT_EQ(rounds({turns("k", u32(0), x, {turns("j", u32(0), x, {turns("i", u32(0), x)})})}), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(rounds({turns("k", u32(0), bin(BinOp::Mul, bin(BinOp::BitAnd, x, u32(65536)), u32(65537)))}), kUnknown + 1);
}

}  // namespace
}  // namespace vyre
