// Declares the parts of the text form that its printers and its parsers share. The form is described in python/vyre/docs/text-form.md.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "vyre/ir/data_type.hpp"

namespace vyre::ir::text_form {

inline constexpr std::uint32_t kVersion = 1;

// Deeper or larger expressions than these are printed as several lines, joined by %n. They shape the text only.
inline constexpr std::uint32_t kInlineDepth = 12;
inline constexpr std::uint32_t kInlineSize = 32;
// Indentation says nothing, and at 1,000,000 nested blocks full indentation would be 2 TB.
inline constexpr std::uint32_t kIndentedLevels = 16;

// How many brackets may be open within a statement. The parser recurses over these alone.
inline constexpr std::uint32_t kMaxBrackets = 200;

// The words that begin something. Functions and types are known by where they stand, so that a new one takes no name away.
inline constexpr std::array<std::string_view, 13> kKeywords = {"vyre", "workgroup_size", "buffer",  "let",    "if",   "else", "loop",
                                                               "in",   "block",          "barrier", "return", "true", "false"};

inline constexpr std::string_view kAxes = "xyz";

constexpr bool starts_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool continues_word(char c) { return starts_word(c) || is_digit(c); }

inline bool is_keyword(std::string_view word) { return std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end(); }

// Other names are written in quotes.
inline bool is_bare_name(std::string_view name) {
  return !name.empty() && starts_word(name.front()) && std::all_of(name.begin(), name.end(), continues_word) && !is_keyword(name);
}

// --- Of procedures ---

// `turn` and digits: the turn of a repetition, where a size stands.
inline bool is_turn(std::string_view word) {
  constexpr std::string_view kTurn = "turn";
  return word.size() > kTurn.size() && word.starts_with(kTurn) &&
         std::all_of(word.begin() + kTurn.size(), word.end(), [](char c) { return is_digit(c); });
}

// The contents of a table are words of an element, of four bytes at most, whose first digit is the highest.
constexpr std::size_t word_bytes(DataType element) { return std::clamp<std::size_t>(min_bytes(element), 1, 4); }

}  // namespace vyre::ir::text_form
