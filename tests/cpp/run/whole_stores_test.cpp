#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "../support/programs/programs.hpp"
#include "../support/run_program.hpp"
#include "vyre/ir/text/parse.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/run/reach/reach.hpp"

namespace vyre {
namespace {

using namespace sample;
using test::Words;

// The buffers that a program with this body stores to as a whole, from 12 invocations.
std::string found_in(const ir::Program& program, const std::vector<std::size_t>& lengths) {
  std::vector<run::ReachedBuffer> buffers;
  for (const std::size_t length : lengths) buffers.push_back({length});
  const std::vector<run::Reach> reach = run::reach_of(test::valid(program), buffers, {3, 1, 1}, true);
  std::string names;
  for (std::size_t slot = 0; slot < reach.size(); ++slot) {
    if (run::is_whole(reach[slot], lengths[slot])) names += program.buffers()[slot].name;
  }
  return names;
}
std::string found_in(const std::string& body, std::size_t a = 20, std::size_t c = 10) {
  const std::string head =
      "vyre 1\nworkgroup_size 4 1 1\nbuffer a: read u32 binding 0\nbuffer b: read u32 binding 1\nbuffer c: read_write u32 binding 2 "
      "output\nbuffer d: read_write u32 binding 3\n\n";
  return found_in(ir::parse(head + body), {a, 9, c, 12});
}

TEST(WholeStores, reach_every_element) {
  EXPECT_EQ(found_in("c[gid.x] = 1\nd[gid.x] = 2\n"), "cd");
  EXPECT_EQ(found_in("c[gid.x] = 1\nd[gid.x] = 2\n", 20, 13), "d");
  EXPECT_EQ(found_in("c[gid.x + 1] = 3\nd[lid.x] = 3\n"), "");
  EXPECT_EQ(found_in("if gid.x < len(a) {\n  c[gid.x] = 1\n}\n"), "c");
  EXPECT_EQ(found_in("if gid.x < len(a) {\n  c[gid.x] = 1\n}\n", 9), "");
  EXPECT_EQ(found_in("if logical_or(gid.x >= len(a), gid.x >= len(b)) {\n  return\n}\nc[gid.x] = 1\n", 20, 9), "c");
  EXPECT_EQ(found_in("if a[0] == 0 {\n  c[gid.x] = 1\n} else {\n  c[gid.x] = 2\n  d[gid.x] = 2\n}\n"), "c");
}

TEST(WholeStores, are_not_of_what_is_read) {
  EXPECT_EQ(found_in("c[gid.x] = 1\nd[gid.x] = c[gid.x]\n"), "d");
  EXPECT_EQ(found_in("let old = atomic_add(c, 0, 1)\nc[gid.x] = old\n"), "");
}

// Random programs that store to two arrays by their ids, under conditions of every kind.
class Generator {
 public:
  explicit Generator(std::uint32_t seed) : random_(seed) {}

  ir::Program program() { return Sample().in("a").in("b").out("c").out("d").size(4).add(list(3)).make(); }

 private:
  std::uint32_t below(std::uint32_t count) { return std::uniform_int_distribution<std::uint32_t>(0, count - 1)(random_); }
  const char* one_of(std::initializer_list<const char*> names) { return names.begin()[below(static_cast<std::uint32_t>(names.size()))]; }

  ExprHandle condition(int depth) {
    const ExprHandle id = gid(below(8) == 0 ? 1 : 0), length = len(one_of({"a", "b", "c", "d"}));
    switch (depth == 0 ? below(5) : below(7)) {
      case 0:
        return bin(BinOp::Lt, load("a", id), u32(below(4)));
      case 1:
        return bin(BinOp::Le, id, length);
      case 2:
        return bin(BinOp::Ge, id, length);
      case 3:
        return bin(BinOp::Gt, length, id);
      case 4:
        return bin(BinOp::Lt, id, length);
      default:
        return bin(below(2) == 0 ? BinOp::And : BinOp::Or, condition(depth - 1), condition(depth - 1));
    }
  }

  List list(int depth) {
    List nodes;
    for (std::uint32_t count = 1 + below(3); count > 0; --count) nodes.push_back(statement(depth));
    if (depth < 3 && below(3) == 0) nodes.push_back(return_());
    return nodes;
  }

  NodeHandle statement(int depth) {
    switch (depth == 0 ? below(3) : below(8)) {
      case 0:
      case 1:
        return store(one_of({"c", "d"}), gid(below(12) == 0 ? 1 : 0), below(12) == 0 ? load("c", gid(0)) : u32(1 + below(9)));
      case 2:
        return if_(condition(1), {return_()});
      case 3:
        return loop("k" + std::to_string(loops_++), u32(0), load("b", gid(0)), list(depth - 1));
      case 4:
        return block(list(depth - 1));
      default:
        return if_(condition(1), list(depth - 1), below(2) == 0 ? list(depth - 1) : List{});
    }
  }

  std::mt19937 random_;
  int loops_ = 0;
};

TEST(WholeStores, leave_nothing_of_what_a_buffer_held) {
  const std::uint32_t first_seed = std::random_device()();
  int tried = 0, not_whole = 0;
  for (std::uint32_t seed = first_seed; seed != first_seed + 4000; ++seed) {
    const ir::Program program = Generator(seed).program();
    std::mt19937 random(seed);
    std::vector<Words> arrays;
    for (int k = 0; k < 4; ++k) {
      arrays.emplace_back(1 + random() % 12);
      for (std::uint32_t& word : arrays.back()) word = random() % 5;
    }
    const std::vector<Words> made = test::run_reference(program, arrays, {3, 1, 1});
    std::vector<std::size_t> lengths;
    for (const Words& array : arrays) lengths.push_back(array.size());
    const std::string whole = found_in(program, lengths);
    for (const std::size_t slot : {2, 3}) {
      std::vector<Words> begun = arrays;
      std::fill(begun[slot].begin(), begun[slot].end(), ~0u);
      const std::vector<Words> other = test::run_reference(program, begun, {3, 1, 1});
      if (whole.find(program.buffers()[slot].name) != std::string::npos) {
        ++tried;
        EXPECT_EQ(made, other) << "seed " << seed << "\n" << ir::to_text(program);
      } else {
        not_whole += made != other;
      }
    }
  }
  EXPECT_GT(tried, 300);
  EXPECT_GT(not_whole, 1000);
}

}  // namespace
}  // namespace vyre
