// Which elements a dispatch certainly writes and may read, by hand for small programs. tests/py/procedure/test_procedure_zeros.py tries
// random ones.
#include "vyre/run/reach/reach.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "support/run_program.hpp"
#include "vyre/ir/text/parse.hpp"

namespace vyre::test {
namespace {

using run::Range;
using run::Reach;
using Ranges = std::vector<Range>;

// The reach of `y` in a program of workgroups of 8 with these statements, of an array `y` of 40 elements.
Reach reach_of(const std::string& statements, std::uint32_t groups = 5, bool exact = true, std::optional<std::uint32_t> word = 3) {
  const std::string text =
      "vyre 1\nworkgroup_size 8 1 1\nbuffer x: read u32 binding 0\nbuffer y: read_write u32 binding 1\nbuffer words: uniform u32 binding 2 "
      "count 1\n\n" +
      statements;
  const std::vector<run::ReachedBuffer> buffers = {{40, {}}, {40, {}}, {1, {word}}};
  return run::reach_of(valid(ir::parse(text)), buffers, {groups, 1, 1}, exact)[1];
}
Ranges written(const std::string& statements, std::uint32_t groups = 5) { return reach_of(statements, groups).written; }

TEST(Reach, counts_ids_and_turns) {
  EXPECT_EQ(written("y[gid.x] = 1"), (Ranges{{0, 40}}));
  EXPECT_EQ(written("y[gid.x] = 1", 3), (Ranges{{0, 24}}));
  EXPECT_EQ(written("y[gid.x] = 1", 9), (Ranges{{0, 40}})) << "stores beyond the end are none";
  EXPECT_EQ(written("y[lid.x] = 1"), (Ranges{{0, 8}}));
  EXPECT_EQ(written("loop k in 1..4 {\n  y[(lid.x * 4) + k] = 1\n}", 1),
            (Ranges{{1, 4}, {5, 8}, {9, 12}, {13, 16}, {17, 20}, {21, 24}, {25, 28}, {29, 32}}));
  EXPECT_EQ(written("loop k in 0..4 {\n  y[(k * 8) + (7 - lid.x)] = 1\n}", 1), (Ranges{{0, 32}}));
  EXPECT_EQ(written("if (lid.x & 3) == 0 {\n  y[(wid.x * 2) + (lid.x >> 2)] = 1\n}"), (Ranges{{0, 10}}));
}

TEST(Reach, knows_words_and_lengths) {
  EXPECT_EQ(written("loop k in 0..words[0] {\n  y[(k * 8) + lid.x] = 1\n}", 1), (Ranges{{0, 24}}));
  EXPECT_EQ(reach_of("loop k in 0..words[0] {\n  y[(k * 8) + lid.x] = 1\n}", 1, true, std::nullopt).written, Ranges());
  EXPECT_EQ(written("if gid.x < (len(x) / 4) {\n  y[(gid.x * 4) + 0] = 1\n  y[(gid.x * 4) + 1] = 1\n}"),
            (Ranges{{0, 2}, {4, 6}, {8, 10}, {12, 14}, {16, 18}, {20, 22}, {24, 26}, {28, 30}, {32, 34}, {36, 38}}));
}

TEST(Reach, takes_no_store_that_may_not_happen) {
  EXPECT_EQ(written("if x[gid.x] == 1 {\n  y[gid.x] = 1\n}"), Ranges());
  EXPECT_EQ(written("if x[gid.x] == 1 {\n  y[gid.x] = 1\n} else {\n  y[gid.x] = 2\n}"), (Ranges{{0, 40}}));
  EXPECT_EQ(written("y[x[gid.x]] = 1"), Ranges());
  EXPECT_EQ(written("if x[0] == 1 {\n  return\n}\ny[gid.x] = 1"), Ranges());
  EXPECT_EQ(written("if gid.x >= 30 {\n  return\n}\ny[gid.x] = 1"), (Ranges{{0, 30}}));
  EXPECT_EQ(written("loop k in 0..4 {\n  y[(k * 8) + lid.x] = 1\n  if x[k] == 1 {\n    break\n  }\n}", 1), Ranges());
  EXPECT_EQ(written("let at = gid.x\nat = x[0]\ny[at] = 1"), Ranges());
  EXPECT_EQ(reach_of("y[gid.x] = 1", 5, false).written, Ranges()) << "an array counts the workgroups";
}

TEST(Reach, knows_nothing_of_sums_that_wrap_around) {
  const std::string wide = "(gid.x * 2147483647)";
  EXPECT_EQ(written("y[" + wide + "] = 1"), Ranges());
  EXPECT_EQ(written("y[(" + wide + " + " + wide + ") + " + wide + "] = 1", 0xFFFFFFFF), Ranges());
  EXPECT_EQ(written("y[gid.x + 4294967295] = 1"), Ranges());
  EXPECT_EQ(written("if (gid.x - 1) < 8 {\n  y[gid.x] = 1\n}"), Ranges()) << "0 - 1 is not below 8";
}

TEST(Reach, bounds_what_is_read) {
  EXPECT_EQ(reach_of("y[gid.x] = 1").read, (Range{0, 0}));
  EXPECT_EQ(reach_of("y[lid.x] = y[lid.x + 16]", 1).read, (Range{16, 24}));
  EXPECT_EQ(reach_of("y[lid.x] = y[x[0]]", 1).read, (Range{0, 40}));
  EXPECT_EQ(reach_of("y[lid.x] = y[lid.x - 1]", 1).read, (Range{0, 40})) << "the first one is beyond the end";
  EXPECT_EQ(reach_of("let old = atomic_add(y, lid.x, 1)", 1).read, (Range{0, 8}));
}

}  // namespace
}  // namespace vyre::test
