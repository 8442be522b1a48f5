#include "vyre/base/utf8.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <iterator>

namespace vyre {
namespace {

// Terminals obey these, so a name that holds one could hide or reorder what stands around it.
bool is_invisible(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xAD || c == 0x61C || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF;
}

}  // namespace

char32_t decode_utf8(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return text[at++];
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  const std::size_t start = at++;
  if (first < 0xC2 || first > 0xF4 || text.size() - start < length) return kNotUtf8;
  char32_t character = first & (0x7Fu >> length);
  for (std::size_t index = start + 1; index < start + length; ++index) {
    if ((byte(index) & 0xC0) != 0x80) return kNotUtf8;
    character = character << 6 | (byte(index) & 0x3Fu);
  }
  const char32_t least = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
  if (character < least || character > 0x10FFFF || (character >= 0xD800 && character < 0xE000)) return kNotUtf8;
  at = start + length;
  return character;
}

void append_utf8(std::string& out, char32_t character) {
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (character < 0x80) {
    put(character);
  } else if (character < 0x800) {
    put(0xC0 | character >> 6);
    put(0x80 | (character & 0x3F));
  } else if (character < 0x10000) {
    put(0xE0 | character >> 12);
    put(0x80 | (character >> 6 & 0x3F));
    put(0x80 | (character & 0x3F));
  } else {
    put(0xF0 | character >> 18);
    put(0x80 | (character >> 12 & 0x3F));
    put(0x80 | (character >> 6 & 0x3F));
    put(0x80 | (character & 0x3F));
  }
}

std::size_t valid_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    // Programs are ASCII nearly everywhere: eight bytes at a time.
    std::uint64_t word = 0;
    if (text.size() - at >= sizeof(word)) {
      std::memcpy(&word, text.data() + at, sizeof(word));
      if ((word & 0x8080808080808080u) == 0) {
        at += sizeof(word);
        continue;
      }
    }
    const std::size_t start = at;
    if (decode_utf8(text, at) == kNotUtf8) return start;
  }
  return at;
}

namespace {

// `invisible` writes a character that cannot be seen.
template <class Invisible>
void append_with_escapes(std::string& out, std::string_view text, Invisible&& invisible) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t start = at;
    const char32_t character = decode_utf8(text, at);
    if (character == kNotUtf8) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(text[start]));
    } else if (character == '"' || character == '\\') {
      out.push_back('\\');
      out.push_back(text[start]);
    } else if (character == '\n') {
      out += "\\n";
    } else if (character == '\t') {
      out += "\\t";
    } else if (character == '\r') {
      out += "\\r";
    } else if (is_invisible(character)) {
      invisible(static_cast<std::uint32_t>(character));
    } else {
      out += text.substr(start, at - start);
    }
  }
}

}  // namespace

void append_escaped(std::string& out, std::string_view text) {
  append_with_escapes(out, text, [&](std::uint32_t character) { fmt::format_to(std::back_inserter(out), "\\u{{{:x}}}", character); });
}

std::string escaped(std::string_view text) {
  std::string out;
  append_escaped(out, text);
  return out;
}

std::string python_literal(std::string_view text) {
  std::string out = "\"";
  // None of these is above U+FFFF.
  append_with_escapes(out, text, [&](std::uint32_t character) { fmt::format_to(std::back_inserter(out), "\\u{:04x}", character); });
  return out + "\"";
}

}  // namespace vyre
