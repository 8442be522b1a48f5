// Reads the words, numbers, names and brackets of the text form, one after the other.
//
// The lexer is a position in the text and the functions that move it forward; it makes no list of tokens, because what may come next
// depends on the grammar, which only the parser knows. A line break is a blank between brackets and ends a statement elsewhere, so the
// lexer counts the brackets that are open. Every failure is a ParseError that says where it is, what was expected and what to write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "vyre/ir/expr.hpp"
#include "vyre/ir/fwd.hpp"

namespace vyre::ir {

// Part of the text, for an error sentence: in backticks, on one line, shortened.
std::string shown(std::string_view text);

// The rows' texts with commas between them, for an error sentence.
std::string list_of(auto&& rows, auto&& text) {
  std::string out;
  for (const auto& row : rows) {
    if (!out.empty()) out += ", ";
    out += text(row);
  }
  return out;
}

class Lexer {
 protected:
  explicit Lexer(std::string_view text) : text_(text) {}

  // Refuses text that is too long or not UTF-8, and skips a byte order mark.
  void check_text();

  [[noreturn]] void fail(std::size_t at, std::string_view problem, std::string_view fix) const;
  // With what stands at the position.
  [[noreturn]] void fail_wanted(std::string_view wanted, std::string_view fix) const;

  bool at_end() const { return at_ == text_.size(); }
  // The character at the position; NUL at the end.
  char peek() const { return at_end() ? '\0' : text_[at_]; }

  void skip_blanks();
  void skip_lines();
  // A line break ends a statement, except between brackets.
  void skip_within() { brackets_ > 0 ? skip_lines() : skip_blanks(); }

  bool accept(std::string_view symbol);
  void expect(std::string_view symbol, std::string_view fix);
  // The word at `at`; empty when there is none.
  std::string_view word_at(std::size_t at) const;
  bool accept_word(std::string_view word);
  // The operator that starts at `at`, the longest one; null when none does.
  const OpInfo* infix_at(std::size_t at) const;

  std::uint32_t number(std::string_view what);
  // Digits, decimal or 0x hexadecimal.
  std::uint64_t digits(std::string_view what);
  Expr literal();
  // Both are valid until the next call.
  std::string_view quoted();
  std::string_view name(std::string_view what);
  DataType type();

  // `vyre 1`, with which every text begins.
  void version_line();
  void end_line();

  // At most kMaxBrackets are open at once.
  void open_bracket();
  void close_bracket(char symbol);

  std::string_view text_;
  std::size_t at_ = 0;

 private:
  bool next_is(std::string_view symbol) const { return text_.substr(at_, symbol.size()) == symbol; }
  std::string found(std::size_t at) const;
  void escape(std::size_t start);

  std::uint32_t brackets_ = 0;  // open ones in this statement
  std::string scratch_;
};

}  // namespace vyre::ir
