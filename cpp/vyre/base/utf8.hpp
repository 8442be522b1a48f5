// UTF-8 as names and the text form need it: what is valid, and how a text is shown on one line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace vyre {

inline constexpr char32_t kNotUtf8 = 0xFFFFFFFF;

// The character at `at`, which moves behind it. kNotUtf8, and one byte on, when the bytes there are no character: overlong
// forms, surrogates and numbers above U+10FFFF are none.
char32_t decode_utf8(std::string_view text, std::size_t& at);
void append_utf8(std::string& out, char32_t character);

// How many bytes from the start are valid: text.size() when all are.
std::size_t valid_utf8(std::string_view text);
inline bool is_utf8(std::string_view text) { return valid_utf8(text) == text.size(); }

// The text with `"`, `\`, control characters, and characters that change how a line is laid out, written as escapes:
// \n, \t, \u{202e}. Bytes that are not UTF-8 become \xff.
void append_escaped(std::string& out, std::string_view text);
std::string escaped(std::string_view text);

// A Python string literal in double quotes; bytes that are not UTF-8 are shown as \\xff, which no name holds.
std::string python_literal(std::string_view text);

}  // namespace vyre
