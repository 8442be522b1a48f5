#include "vyre/run/procedures/workspace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace vyre::test {
namespace {

using run::lay_out;
using run::ScratchArray;
using run::Workspace;

constexpr std::uint64_t kLarge = std::uint64_t{1} << 40;

std::uint64_t total(const Workspace& workspace) {
  std::uint64_t bytes = 0;
  for (const std::uint64_t block : workspace.blocks) bytes += block;
  return bytes;
}

TEST(Workspace, gives_arrays_in_use_at_once_bytes_of_their_own) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::vector<ScratchArray> arrays(random() % 60);
    for (ScratchArray& array : arrays) {
      array = {random() % 5000, random() % 30, 0};
      array.last = array.first + random() % 10;
    }
    const std::uint64_t most = seed % 2 == 0 ? kLarge : 4096;
    const Workspace workspace = lay_out(arrays, most);
    ASSERT_EQ(workspace.locations.size(), arrays.size());
    for (std::size_t a = 0; a < arrays.size(); ++a) {
      const Workspace::Location& at = workspace.locations[a];
      ASSERT_LT(at.block, workspace.blocks.size());
      EXPECT_EQ(at.offset % Workspace::kAlignment, 0u);
      EXPECT_LE(at.offset + arrays[a].bytes, workspace.blocks[at.block]);
      // No block is larger than allowed, but for one that was made for a larger array.
      EXPECT_LE(workspace.blocks[at.block], std::max<std::uint64_t>(most, 5120));
      for (std::size_t b = 0; b < a; ++b) {
        const Workspace::Location& other = workspace.locations[b];
        if (arrays[a].first > arrays[b].last || arrays[b].first > arrays[a].last || at.block != other.block) continue;
        EXPECT_TRUE(at.offset >= other.offset + arrays[b].bytes || other.offset >= at.offset + arrays[a].bytes)
            << "arrays " << b << " and " << a;
      }
    }
  }
}

TEST(Workspace, shares_memory_between_arrays_that_are_in_use_one_after_the_other) {
  EXPECT_EQ(total(lay_out(std::vector<ScratchArray>{{1024, 0, 1}, {1024, 2, 3}, {1024, 4, 5}}, kLarge)), 1024u);
  EXPECT_EQ(total(lay_out(std::vector<ScratchArray>{{1024, 0, 1}, {1024, 1, 2}, {1024, 2, 3}}, kLarge)), 2048u);
  // Two gaps beside each other are one, and the last of a block grows.
  EXPECT_EQ(total(lay_out(std::vector<ScratchArray>{{512, 0, 1}, {512, 0, 1}, {1024, 2, 3}}, kLarge)), 1024u);
  EXPECT_EQ(total(lay_out(std::vector<ScratchArray>{{512, 0, 9}, {512, 0, 1}, {1024, 2, 3}}, kLarge)), 1536u);
  EXPECT_EQ(total(lay_out(std::vector<ScratchArray>{{0, 0, 9}, {0, 0, 9}}, kLarge)), 512u);
  EXPECT_EQ(total(lay_out({}, kLarge)), 0u);
}

TEST(Workspace, takes_another_block_for_what_does_not_fit_into_one) {
  const Workspace workspace = lay_out(std::vector<ScratchArray>{{1024, 0, 9}, {2048, 1, 9}, {4096, 2, 3}, {100, 4, 5}}, 2560);
  EXPECT_EQ(workspace.blocks, (std::vector<std::uint64_t>{1024, 2048, 4096}));
  EXPECT_EQ(workspace.locations[3].block, 2u);
}

}  // namespace
}  // namespace vyre::test
