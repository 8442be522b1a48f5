#include "vyre/validate/whole_stores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "../support/programs/programs.hpp"
#include "../support/run_program.hpp"
#include "vyre/ir/text/parse.hpp"
#include "vyre/ir/text/print.hpp"

namespace vyre {
namespace {

using namespace sample;
using test::Words;

// "c by x below a b": what is found in a program of which this is the body.
std::string found_in(const std::string& body) {
  const ir::Program program = ir::parse(
      "vyre 1\nworkgroup_size 4 1 1\nbuffer a: read u32 binding 0\nbuffer b: read u32 binding 1\nbuffer c: read_write u32 binding 2 "
      "output\n"
      "buffer d: read_write u32 binding 3\n\n" +
      body);
  std::string text;
  for (const validate::WholeStore& store : validate::whole_stores(test::valid(program))) {
    text += (text.empty() ? "" : ", ") + program.buffers()[store.buffer.index].name + " by " + "xyz"[store.axis];
    for (const BufferId below : store.below) text += " below " + program.buffers()[below.index].name;
  }
  return text;
}

TEST(WholeStores, are_stores_by_the_id_alone) {
  EXPECT_EQ(found_in("c[gid.x] = a[gid.x]\n"), "c by x");
  EXPECT_EQ(found_in("let i = gid.y\nc[i] = a[i]\n"), "c by y");
  EXPECT_EQ(found_in("c[gid.x + 1] = 3\n"), "");
  EXPECT_EQ(found_in("c[lid.x] = 3\n"), "");
  EXPECT_EQ(found_in("c[wid.x] = 3\n"), "");
  EXPECT_EQ(found_in("let i = gid.x\ni = i / 2\nc[i] = 3\n"), "");
  EXPECT_EQ(found_in("c[gid.x] = 1\nd[gid.x] = 2\n"), "c by x, d by x");
}

TEST(WholeStores, may_be_bounded_by_lengths) {
  EXPECT_EQ(found_in("if gid.x < len(a) {\n  c[gid.x] = 1\n}\n"), "c by x below a");
  EXPECT_EQ(found_in("if len(c) > gid.x {\n  c[gid.x] = 1\n}\n"), "c by x below c");
  EXPECT_EQ(found_in("if logical_and(gid.x < len(a), gid.x < len(b)) {\n  c[gid.x] = 1\n}\n"), "c by x below a below b");
  EXPECT_EQ(found_in("if gid.x < len(a) {\n  if gid.x < len(b) {\n    c[gid.x] = 1\n  }\n}\n"), "c by x below b below a");
  EXPECT_EQ(found_in("if gid.x < (len(a) - 1) {\n  c[gid.x] = 1\n}\n"), "");
  EXPECT_EQ(found_in("if gid.x <= len(a) {\n  c[gid.x] = 1\n}\n"), "");
  EXPECT_EQ(found_in("if gid.y < len(a) {\n  c[gid.x] = 1\n}\n"), "");
  EXPECT_EQ(found_in("if logical_or(gid.x < len(a), gid.x < len(b)) {\n  c[gid.x] = 1\n}\n"), "");
  EXPECT_EQ(found_in("if a[gid.x] == 3 {\n  c[gid.x] = 1\n}\n"), "");
}

TEST(WholeStores, follow_those_who_do_not_return) {
  EXPECT_EQ(found_in("if gid.x >= len(a) {\n  return\n}\nc[gid.x] = 1\n"), "c by x below a");
  EXPECT_EQ(found_in("if logical_or(gid.x >= len(a), gid.x >= len(b)) {\n  return\n}\nc[gid.x] = 1\n"), "c by x below a below b");
  EXPECT_EQ(found_in("c[gid.x] = 1\nif a[0] == 0 {\n  return\n}\nd[gid.x] = 1\n"), "c by x");
  EXPECT_EQ(found_in("if gid.x > len(a) {\n  return\n}\nc[gid.x] = 1\n"), "");
  EXPECT_EQ(found_in("if a[1] == 2 {\n  if gid.x >= len(a) {\n    return\n  }\n}\nc[gid.x] = 1\n"), "");
  EXPECT_EQ(found_in("loop k in 0..a[0] {\n  if k == gid.x {\n    return\n  }\n}\nc[gid.x] = 1\n"), "");
}

TEST(WholeStores, may_be_in_both_branches) {
  EXPECT_EQ(found_in("if a[0] == 0 {\n  c[gid.x] = 1\n} else {\n  c[gid.x] = 2\n}\n"), "c by x");
  EXPECT_EQ(found_in("if a[0] == 0 {\n  c[gid.x] = 1\n} else {\n  d[gid.x] = 2\n}\n"), "");
  EXPECT_EQ(found_in("if a[0] == 0 {\n  c[gid.x] = 1\n} else {\n  c[gid.y] = 2\n}\n"), "");
  EXPECT_EQ(found_in("if a[0] == 0 {\n  if gid.x < len(a) {\n    c[gid.x] = 1\n  }\n} else {\n  c[gid.x] = 2\n}\n"), "c by x below a");
}

TEST(WholeStores, are_not_of_what_is_read_or_of_a_loop) {
  EXPECT_EQ(found_in("c[gid.x] = 1\nd[gid.x] = c[gid.x]\n"), "d by x");
  EXPECT_EQ(found_in("let old = atomic_add(c, 0, 1)\nc[gid.x] = old\n"), "");
  EXPECT_EQ(found_in("loop k in 0..len(a) {\n  c[gid.x] = k\n}\n"), "");
  EXPECT_EQ(found_in("if gid.x < len(a) {\n  return\n}\nc[gid.x] = 1\n"), "");
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
    std::array<bool, 4> whole{};
    for (const validate::WholeStore& store : validate::whole_stores(test::valid(program))) {
      const std::size_t slot = store.buffer.index, length = arrays[slot].size();
      if (length > (store.axis == 0 ? 12u : 1u)) continue;
      whole[slot] = std::all_of(store.below.begin(), store.below.end(), [&](BufferId id) { return arrays[id.index].size() >= length; });
    }
    for (const std::size_t slot : {2, 3}) {
      std::vector<Words> begun = arrays;
      std::fill(begun[slot].begin(), begun[slot].end(), ~0u);
      const std::vector<Words> other = test::run_reference(program, begun, {3, 1, 1});
      if (whole[slot]) {
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
