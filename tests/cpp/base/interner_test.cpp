#include "vyre/base/interner.hpp"

#include <gtest/gtest.h>

#include <string>

namespace vyre {
namespace {

TEST(Interner, numbers_texts_by_first_use) {
  Interner names;
  EXPECT_EQ(names.intern("b").index, 0u);
  EXPECT_EQ(names.intern("a").index, 1u);
  EXPECT_EQ(names.intern("b").index, 0u);
  EXPECT_EQ(names.intern("").index, 2u);
  EXPECT_EQ(names.size(), 3u);
  EXPECT_EQ(names.text(NameId{1}), "a");
  EXPECT_EQ(names.text(NameId{2}), "");
}

TEST(Interner, finds_without_adding) {
  Interner names;
  EXPECT_FALSE(names.find("a").valid());
  names.intern("a");
  EXPECT_EQ(names.find("a"), NameId{0});
  EXPECT_FALSE(names.find("b").valid());
  EXPECT_EQ(names.size(), 1u);
}

TEST(Interner, tells_texts_with_nul_apart) {
  Interner names;
  EXPECT_NE(names.intern(std::string_view("a\0b", 3)), names.intern(std::string_view("a\0c", 3)));
  EXPECT_NE(names.intern("a"), names.find(std::string_view("a\0b", 3)));
}

TEST(Interner, texts_stay_where_they_are) {
  Interner names;
  std::vector<std::string_view> views;
  for (int number = 0; number < 20000; ++number) {
    const std::string text = std::string(static_cast<std::size_t>(number % 300), 'x') + std::to_string(number);
    views.push_back(names.text(names.intern(text)));
  }
  Interner moved = std::move(names);
  for (int number = 0; number < 20000; ++number) {
    const std::string text = std::string(static_cast<std::size_t>(number % 300), 'x') + std::to_string(number);
    ASSERT_EQ(views[static_cast<std::size_t>(number)], text);
    ASSERT_EQ(moved.find(text).index, static_cast<std::uint32_t>(number));
  }
}

TEST(Interner, copies_share_nothing) {
  Interner names;
  names.intern("a");
  Interner copy = names;
  EXPECT_EQ(copy, names);
  copy.intern("b");
  EXPECT_NE(copy, names);
  EXPECT_NE(copy.text(NameId{0}).data(), names.text(NameId{0}).data());
  names = copy;
  EXPECT_EQ(copy, names);
  names = Interner();
  EXPECT_EQ(copy.text(NameId{1}), "b");
}

TEST(Interner, works_after_it_was_moved_from) {
  Interner names;
  names.intern("a");
  Interner other = std::move(names);
  EXPECT_EQ(names.size(), 0u);
  EXPECT_EQ(names.intern("b").index, 0u);
  EXPECT_EQ(names.text(NameId{0}), "b");
  EXPECT_EQ(other.text(NameId{0}), "a");
}

TEST(Interner, compares_order_too) {
  Interner ab, ba;
  ab.intern("a");
  ab.intern("b");
  ba.intern("b");
  ba.intern("a");
  EXPECT_NE(ab, ba);
}

}  // namespace
}  // namespace vyre
