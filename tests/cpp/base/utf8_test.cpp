#include "vyre/base/utf8.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace vyre {
namespace {

TEST(Utf8, every_character_survives) {
  for (char32_t character = 0; character <= 0x10FFFF; ++character) {
    if (character == 0xD800) character = 0xE000;
    std::string text;
    append_utf8(text, character);
    std::size_t at = 0;
    ASSERT_EQ(decode_utf8(text, at), character);
    ASSERT_EQ(at, text.size());
    ASSERT_TRUE(is_utf8(text));
  }
}

TEST(Utf8, refuses_what_is_no_character) {
  const std::vector<std::string> wrong = {
      "\x80",              // a continuation alone
      "\xC3",              // cut short
      "\xE6\x97",          // cut short
      "\xF0\x90\x80",      // cut short
      "\xC3(",             // no continuation
      "\xC0\x80",          // overlong NUL
      "\xC1\xBF",          // overlong
      "\xE0\x9F\xBF",      // overlong
      "\xF0\x8F\xBF\xBF",  // overlong
      "\xED\xA0\x80",      // the first surrogate
      "\xED\xBF\xBF",      // the last surrogate
      "\xF4\x90\x80\x80",  // U+110000
      "\xF8\x88\x80\x80\x80",
      "\xFE",
      "\xFF",
  };
  for (const std::string& bytes : wrong) {
    EXPECT_EQ(valid_utf8(bytes), 0u) << escaped(bytes);
    EXPECT_EQ(valid_utf8("0123456789" + bytes + "0123456789"), 10u) << escaped(bytes);
    std::size_t at = 0;
    EXPECT_EQ(decode_utf8(bytes, at), kNotUtf8);
    EXPECT_EQ(at, 1u);
  }
}

TEST(Utf8, long_texts_are_valid_at_every_length) {
  std::string text;
  for (int count = 0; count < 40; ++count) {
    EXPECT_TRUE(is_utf8(text));
    EXPECT_TRUE(is_utf8(text + "\xE6\x97\xA5"));
    EXPECT_EQ(valid_utf8(text + "\xFF"), text.size());
    text += 'a';
  }
}

TEST(Escaped, shows_a_text_on_one_line) {
  EXPECT_EQ(escaped("plain \xE6\x97\xA5"), "plain \xE6\x97\xA5");
  EXPECT_EQ(escaped(std::string("a\0\n\t\r\"\\\x7F", 8)), R"(a\u{0}\n\t\r\"\\\u{7f})");
  EXPECT_EQ(escaped("\xE2\x80\xAE\xEF\xBB\xBF\xC2\x85"), R"(\u{202e}\u{feff}\u{85})");
  EXPECT_EQ(escaped("a\xFF"), R"(a\xff)");
}

TEST(PythonLiteral, is_what_python_reads_back) {
  EXPECT_EQ(python_literal("plain \xE6\x97\xA5"), "\"plain \xE6\x97\xA5\"");
  EXPECT_EQ(python_literal(std::string("a\0\n\t\r\"\\\x7F", 8)), R"("a\u0000\n\t\r\"\\\u007f")");
  EXPECT_EQ(python_literal("\xE2\x80\xAE"), R"("\u202e")");
}

}  // namespace
}  // namespace vyre
