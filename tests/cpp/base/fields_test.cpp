#include "vyre/base/fields.hpp"

#include <gtest/gtest.h>

#include <string>

namespace vyre {
namespace {

struct Nothing {};
struct Three {
  int first;
  char second;
  double third;
};

TEST(Fields, are_visited_in_the_order_of_declaration) {
  const Three three{1, 'b', 2.5};
  std::string seen;
  for_each_field(three, [&](const auto& field) { seen += std::to_string(static_cast<double>(field)) + " "; });
  EXPECT_EQ(seen, "1.000000 98.000000 2.500000 ");
}

TEST(Fields, can_be_changed_unless_the_struct_is_const) {
  Three three{1, 'b', 2.5};
  for_each_field(three, [](auto& field) { ++field; });
  EXPECT_EQ(three.first, 2);
  EXPECT_EQ(three.second, 'c');
  EXPECT_EQ(three.third, 3.5);
}

TEST(Fields, of_an_empty_struct_are_none) {
  const Nothing nothing;
  int visits = 0;
  for_each_field(nothing, [&](const auto&) { ++visits; });
  EXPECT_EQ(visits, 0);
}

}  // namespace
}  // namespace vyre
