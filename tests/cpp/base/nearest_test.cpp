// "Did you mean": what counts as a slip of the fingers, and what as another name.
#include "vyre/base/nearest.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace vyre {
namespace {

using Names = std::vector<std::string_view>;

TEST(Nearest, takes_the_name_with_the_fewest_changes) {
  const Names names{"left", "right", "out", "primitive.u64.add", "vulkan"};
  EXPECT_EQ(nearest("lft", names), "left");
  EXPECT_EQ(nearest("rihgt", names), "right");  // two that changed places are one change
  EXPECT_EQ(nearest("outt", names), "out");
  EXPECT_EQ(nearest("vulcan", names), "vulkan");
  EXPECT_EQ(nearest("Left", names), "left");
  EXPECT_EQ(nearest("u64.add", names), "primitive.u64.add");
  EXPECT_EQ(nearest("primitive.u64.ad", names), "primitive.u64.add");
}
TEST(Nearest, takes_the_first_of_equals) { EXPECT_EQ(nearest("bate", Names{"cate", "hate"}), "cate"); }
TEST(Nearest, is_nothing_when_all_differ_much) {
  EXPECT_EQ(nearest("x", Names{"y"}), std::nullopt);
  EXPECT_EQ(nearest("ab", Names{"ac"}), std::nullopt);
  EXPECT_EQ(nearest("gpu", Names{"cpu"}), std::nullopt);
  EXPECT_EQ(nearest("total", Names{"left", "out"}), std::nullopt);
  EXPECT_EQ(nearest("", Names{"a"}), std::nullopt);
  EXPECT_EQ(nearest("left", Names{}), std::nullopt);
  EXPECT_EQ(nearest("left", Names{"left"}), std::nullopt);  // itself is no other name
}
TEST(Nearest, allows_three_changes_at_the_most) {
  const std::string name(30, 'a');
  EXPECT_EQ(nearest(name, Names{std::string_view("aaaaaaaaaaaaaaaaaaaaaaaaaaabbb")}), "aaaaaaaaaaaaaaaaaaaaaaaaaaabbb");
  EXPECT_EQ(nearest(name, Names{std::string_view("aaaaaaaaaaaaaaaaaaaaaaaaaabbbb")}), std::nullopt);
}
TEST(Nearest, leaves_long_names_alone) {
  const std::string longest(100, 'a'), longer(101, 'a');
  EXPECT_EQ(nearest(longest.substr(1), Names{longest}), longest);
  EXPECT_EQ(nearest(longest, Names{longer}), std::nullopt);
  EXPECT_EQ(nearest(longer, Names{longest}), std::nullopt);
}

}  // namespace
}  // namespace vyre
