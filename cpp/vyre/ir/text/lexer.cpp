#include "vyre/ir/text/lexer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <optional>

#include "vyre/base/error.hpp"
#include "vyre/base/utf8.hpp"
#include "vyre/ir/number.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/ir/text/text_form.hpp"

namespace vyre::ir {

using namespace text_form;

// A part of the text in an error sentence: in backticks, on one line, not too long.
std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  if (text.size() <= kLongest) return fmt::format("`{}`", escaped(text));
  return fmt::format("`{}...`", escaped(text.substr(0, kLongest)));
}

void Lexer::fail(std::size_t at, std::string_view problem, std::string_view fix) const {
  const std::string_view before = text_.substr(0, at);
  const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  std::size_t line = 1, column = 1;
  for (char c : before) line += c == '\n';
  // Columns count characters, as editors do.
  for (char c : before.substr(line_start)) column += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  throw ParseError(fmt::format("line {}, column {}: {}. Fix: {}.", line, column, problem, fix));
}

// Names the text at `at`, for error messages.
std::string Lexer::found(std::size_t at) const {
  if (at >= text_.size()) return "the end of the text";
  if (text_[at] == '\n' || text_[at] == '\r') return "the end of the line";
  std::size_t end = at;
  if (continues_word(text_[at])) {
    while (end < text_.size() && continues_word(text_[end])) ++end;
  } else {
    decode_utf8(text_, end);
  }
  return shown(text_.substr(at, end - at));
}

void Lexer::fail_wanted(std::string_view wanted, std::string_view fix) const {
  fail(at_, fmt::format("expected {}, found {}", wanted, found(at_)), fix);
}

void Lexer::skip_blanks() {
  while (!at_end() && (peek() == ' ' || peek() == '\t' || peek() == '\r')) ++at_;
  if (peek() == '#') {
    while (!at_end() && peek() != '\n') ++at_;
  }
}

void Lexer::skip_lines() {
  skip_blanks();
  while (!at_end() && peek() == '\n') {
    ++at_;
    skip_blanks();
  }
}

bool Lexer::accept(std::string_view symbol) {
  if (!next_is(symbol)) return false;
  at_ += symbol.size();
  return true;
}

void Lexer::expect(std::string_view symbol, std::string_view fix) {
  skip_within();
  if (!accept(symbol)) fail_wanted(fmt::format("`{}`", symbol), fix);
}

// The word at `at`; empty when there is none.
std::string_view Lexer::word_at(std::size_t at) const {
  if (at >= text_.size() || !starts_word(text_[at])) return {};
  std::size_t end = at;
  while (end < text_.size() && continues_word(text_[end])) ++end;
  return text_.substr(at, end - at);
}

bool Lexer::accept_word(std::string_view word) {
  if (word_at(at_) != word) return false;
  at_ += word.size();
  return true;
}

// Digits, decimal or 0x hexadecimal.
std::uint64_t Lexer::digits(std::string_view what) {
  const std::size_t start = at_;
  if (!is_digit(peek())) fail_wanted(what, "write a number");
  const bool hexadecimal = (next_is("0x") || next_is("0X"));
  if (hexadecimal) at_ += 2;
  const std::uint64_t base = hexadecimal ? 16 : 10;
  const std::size_t first = at_;
  std::uint64_t value = 0;
  for (; !at_end(); ++at_) {
    const char c = peek();
    std::uint64_t digit = 0;
    if (is_digit(c)) {
      digit = static_cast<std::uint64_t>(c - '0');
    } else if (hexadecimal && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))) {
      digit = static_cast<std::uint64_t>((c | 0x20) - 'a') + 10;
    } else {
      break;
    }
    if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / base) {
      fail(start, "the number does not fit into 64 bits", "write a number below 2^64");
    }
    value = value * base + digit;
  }
  if (at_ == first) fail(start, "`0x` without digits", "write a hexadecimal number such as 0x1f");
  return value;
}

std::uint32_t Lexer::number(std::string_view what) {
  skip_within();
  const std::size_t start = at_;
  const std::uint64_t value = digits(what);
  if (starts_word(peek())) fail_wanted("the end of the number", "write a plain number here, without a suffix");
  if (value > std::numeric_limits<std::uint32_t>::max()) {
    fail(start, fmt::format("{} {} does not fit into 32 bits", what, value), "write a number below 2^32");
  }
  return static_cast<std::uint32_t>(value);
}

Expr Lexer::literal() {
  const std::size_t start = at_;
  const bool negative = accept("-");
  const Number number{digits("a number"), negative};
  const std::string_view suffix = word_at(at_);
  const std::string_view spelt = text_.substr(start, at_ - start);
  at_ += suffix.size();
  const auto has_suffix = [&](const TypeInfo& row) { return row.text == suffix && row.literal && has_numbers(row.type); };
  const TypeInfo* const row = suffix.empty() ? &info(DataType::U32) : std::ranges::find_if(kTypes, has_suffix);
  if (row == kTypes.end()) {
    fail(start + spelt.size(), fmt::format("unknown suffix {} of a number", shown(suffix)), "use i32, u64, or none for u32");
  }
  const bool is_signed = row->kind == TypeKind::Signed;
  if (negative && !is_signed) fail(start, "a negative number must be i32", "add the suffix i32");
  if (!number.fits(row->type)) {
    const auto [least, greatest] = range(row->type);
    fail(start, fmt::format("{} does not fit into {}", shown(spelt), row->text),
         is_signed ? fmt::format("write a number from {0}{2} to {1}{2}", least.text(), greatest.text(), row->text)
                   : "write a number below 2^32, or add the suffix u64");
  }
  return number.literal(row->type);
}

// Between quotes; valid until the next call.
std::string_view Lexer::quoted() {
  const std::size_t start = at_++;
  scratch_.clear();
  for (;;) {
    const std::size_t end = text_.find_first_of("\"\\\n", at_);
    if (end == std::string_view::npos || text_[end] == '\n') {
      fail(start, "the quoted name is not closed on its line", "add a closing `\"`; a line break within a name is written \\n");
    }
    if (text_[end] == '"' && scratch_.empty()) {
      const std::string_view plain = text_.substr(at_, end - at_);
      at_ = end + 1;
      return plain;
    }
    scratch_ += text_.substr(at_, end - at_);
    at_ = end + 1;
    if (text_[end] == '"') return scratch_;
    escape(end);
  }
}

// at_ stands behind the backslash.
void Lexer::escape(std::size_t start) {
  const char kind = peek();
  ++at_;
  if (kind == '"' || kind == '\\') return scratch_.push_back(kind);
  if (kind == 'n') return scratch_.push_back('\n');
  if (kind == 't') return scratch_.push_back('\t');
  if (kind == 'r') return scratch_.push_back('\r');
  if (kind == 'u' && accept("{")) {
    char32_t character = 0;
    std::size_t count = 0;
    for (; count < 7 && std::isxdigit(static_cast<unsigned char>(peek())) != 0; ++count, ++at_) {
      const char c = peek();
      character = character * 16 + static_cast<char32_t>(is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    const bool is_character = count > 0 && character <= 0x10FFFF && !(character >= 0xD800 && character < 0xE000);
    if (accept("}") && is_character) return append_utf8(scratch_, character);
  }
  fail(start, "unknown escape in a quoted name", "use \\\", \\\\, \\n, \\t, \\r or \\u{...} with the number of a character in hexadecimal");
}

std::string_view Lexer::name(std::string_view what) {
  skip_within();
  if (peek() == '"') return quoted();
  const std::string_view word = word_at(at_);
  if (word.empty()) fail_wanted(what, "write a name; names that are not made of letters, digits and _ stand in quotes");
  if (is_keyword(word)) fail(at_, fmt::format("`{}` is a keyword", word), fmt::format("write the name in quotes: \"{}\"", word));
  at_ += word.size();
  return word;
}

DataType Lexer::type() {
  skip_within();
  std::size_t end = at_;
  while (end < text_.size() && (continues_word(text_[end]) || text_[end] == '<' || text_[end] == '>')) ++end;
  const std::string_view spelt = text_.substr(at_, end - at_);
  const std::optional<DataType> parsed = parse_type(spelt);
  if (!parsed) {
    fail(at_, spelt.empty() ? fmt::format("expected a type, found {}", found(at_)) : fmt::format("unknown type {}", shown(spelt)),
         fmt::format("use one of {}", list_of(kTypes, [](const TypeInfo& row) { return row.text; })));
  }
  at_ = end;
  return *parsed;
}

void Lexer::check_text() {
  if (text_.size() > std::numeric_limits<std::uint32_t>::max() - 1) {
    throw ParseError("line 1, column 1: the text is longer than 4 GiB. Fix: store programs of this size in the binary form.");
  }
  if (const std::size_t valid = valid_utf8(text_); valid < text_.size()) {
    fail(valid, fmt::format("the byte 0x{:02x} is not valid UTF-8", static_cast<unsigned char>(text_[valid])), "save the text as UTF-8");
  }
  accept("\xEF\xBB\xBF");
}

// The operator that starts at `at`, the longest one; null when none does.
const OpInfo* Lexer::infix_at(std::size_t at) const {
  const OpInfo* longest = nullptr;
  if (at == text_.size() || std::string_view("+-*/%&|^<>=!").find(text_[at]) == std::string_view::npos) return nullptr;
  for (const OpInfo& row : kBinOps) {
    if (row.infix.empty() || text_.compare(at, row.infix.size(), row.infix) != 0) continue;
    if (longest == nullptr || row.infix.size() > longest->infix.size()) longest = &row;
  }
  // `&&` and `||` are no operators of the text form.
  if (longest != nullptr && longest->infix.size() == 1 && (text_[at] == '&' || text_[at] == '|') && at + 1 < text_.size() &&
      text_[at + 1] == text_[at]) {
    return nullptr;
  }
  return longest;
}

void Lexer::version_line() {
  skip_lines();
  if (!accept_word("vyre")) fail_wanted("`vyre` and the version of the text form", "start the text with the line `vyre 1`");
  skip_blanks();
  const std::size_t start = at_;
  if (const std::uint32_t version = number("the version of the text form"); version != kVersion) {
    fail(start, fmt::format("unknown version {} of the text form", version),
         fmt::format("use a vyre that knows it, or write version {}", kVersion));
  }
  end_line();
}

void Lexer::end_line() {
  skip_blanks();
  if (!at_end() && peek() != '\n') fail_wanted("the end of the line", "start a new line here");
}

void Lexer::open_bracket() {
  if (++brackets_ > kMaxBrackets) {
    fail(at_, fmt::format("more than {} brackets are open", kMaxBrackets),
         "give an inner expression a line of its own, `%0 = ...`, and write %0 in its place");
  }
  ++at_;
}

void Lexer::close_bracket(char symbol) {
  skip_lines();
  if (peek() != symbol) fail_wanted(fmt::format("`{}`", symbol), fmt::format("close the bracket with `{}`", symbol));
  ++at_;
  --brackets_;
}

}  // namespace vyre::ir
