#include "vyre/ir/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "vyre/base/error.hpp"
#include "vyre/base/utf8.hpp"
#include "vyre/ir/builder.hpp"
#include "vyre/ir/text_form.hpp"

namespace vyre::ir {
namespace {

using namespace text_form;

enum class FunctionKind : std::uint8_t { Binary, Unary, Atomic, Select, Cast, Call, Lane, Pack, Len, GridId };

struct Function {
  FunctionKind kind;
  std::uint8_t op = 0;  // BinOp, UnOp, AtomicOp or GridIdKind
};

const std::unordered_map<std::string_view, Function>& functions() {
  static const auto* const table = [] {
    auto* all = new std::unordered_map<std::string_view, Function>{
        {"select", {FunctionKind::Select}}, {"cast", {FunctionKind::Cast}}, {"call", {FunctionKind::Call}},
        {"lane", {FunctionKind::Lane}},     {"pack", {FunctionKind::Pack}}, {"len", {FunctionKind::Len}},
    };
    const auto add = [&](std::string_view name, FunctionKind kind, auto op) {
      all->emplace(name, Function{kind, static_cast<std::uint8_t>(op)});
    };
    for (const BinOpInfo& row : kBinOps) add(row.text, FunctionKind::Binary, row.op);
    for (const UnOpInfo& row : kUnOps) add(row.text, FunctionKind::Unary, row.op);
    for (const AtomicOpInfo& row : kAtomicOps) add(row.text, FunctionKind::Atomic, row.op);
    for (std::size_t kind = 0; kind < kGridIds.size(); ++kind) add(kGridIds[kind], FunctionKind::GridId, kind);
    return all;
  }();
  return *table;
}

std::string list_of(const auto& rows, auto&& text) {
  std::string out;
  for (const auto& row : rows) {
    if (!out.empty()) out += ", ";
    out += text(row);
  }
  return out;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Program operator()() {
    check_text();
    header();
    statements();
    return builder_.finish();
  }

 private:
  struct Opened {
    std::uint32_t at;
    bool is_if;  // and no `else` came yet
  };

  // --- Errors ---

  [[noreturn]] void fail(std::size_t at, std::string_view problem, std::string_view fix) const {
    const std::string_view before = text_.substr(0, at);
    const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    std::size_t line = 1, column = 1;
    for (char c : before) line += c == '\n';
    // Columns count characters, as editors do.
    for (char c : before.substr(line_start)) column += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    throw ParseError(fmt::format("line {}, column {}: {}. Fix: {}.", line, column, problem, fix));
  }

  // A part of the text in an error sentence: in backticks, on one line, not too long.
  static std::string shown(std::string_view text) {
    constexpr std::size_t kLongest = 40;
    if (text.size() <= kLongest) return fmt::format("`{}`", escaped(text));
    return fmt::format("`{}...`", escaped(text.substr(0, kLongest)));
  }
  // What stands at `at`, for error sentences.
  std::string found(std::size_t at) const {
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
  [[noreturn]] void fail_wanted(std::string_view wanted, std::string_view fix) const {
    fail(at_, fmt::format("expected {}, found {}", wanted, found(at_)), fix);
  }

  // --- Characters ---

  bool at_end() const { return at_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  bool next_is(std::string_view symbol) const { return text_.substr(at_, symbol.size()) == symbol; }

  void skip_blanks() {
    while (!at_end() && (peek() == ' ' || peek() == '\t' || peek() == '\r')) ++at_;
    if (peek() == '#') {
      while (!at_end() && peek() != '\n') ++at_;
    }
  }
  void skip_lines() {
    skip_blanks();
    while (!at_end() && peek() == '\n') {
      ++at_;
      skip_blanks();
    }
  }
  // A line break ends a statement, except between brackets.
  void skip_within() { brackets_ > 0 ? skip_lines() : skip_blanks(); }

  bool accept(std::string_view symbol) {
    if (!next_is(symbol)) return false;
    at_ += symbol.size();
    return true;
  }
  void expect(std::string_view symbol, std::string_view fix) {
    skip_within();
    if (!accept(symbol)) fail_wanted(fmt::format("`{}`", symbol), fix);
  }

  // The word at `at`; empty when there is none.
  std::string_view word_at(std::size_t at) const {
    if (at >= text_.size() || !starts_word(text_[at])) return {};
    std::size_t end = at;
    while (end < text_.size() && continues_word(text_[end])) ++end;
    return text_.substr(at, end - at);
  }
  bool accept_word(std::string_view word) {
    if (word_at(at_) != word) return false;
    at_ += word.size();
    return true;
  }

  // --- Numbers and names ---

  // Digits, decimal or 0x hexadecimal.
  std::uint64_t digits(std::string_view what) {
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
        digit = static_cast<std::uint64_t>((c | 0x20) - 'a' + 10);
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

  std::uint32_t number(std::string_view what) {
    skip_within();
    const std::size_t start = at_;
    const std::uint64_t value = digits(what);
    if (starts_word(peek())) fail_wanted("the end of the number", "write a plain number here, without a suffix");
    if (value > std::numeric_limits<std::uint32_t>::max()) {
      fail(start, fmt::format("{} {} does not fit into 32 bits", what, value), "write a number below 2^32");
    }
    return static_cast<std::uint32_t>(value);
  }

  Expr literal() {
    const std::size_t start = at_;
    const bool negative = accept("-");
    const std::uint64_t value = digits("a number");
    const std::string_view suffix = word_at(at_);
    const std::string_view spelt = text_.substr(start, at_ - start);
    at_ += suffix.size();
    constexpr std::uint64_t kSignBit = std::uint64_t{1} << 31;
    if (suffix == "i32") {
      if (value > (negative ? kSignBit : kSignBit - 1)) {
        fail(start, fmt::format("{} does not fit into i32", shown(spelt)), "write a number from -2147483648i32 to 2147483647i32");
      }
      const auto bits = static_cast<std::uint32_t>(value);
      return LitI32{static_cast<std::int32_t>(negative ? 0u - bits : bits)};
    }
    if (!suffix.empty() && suffix != "u32" && suffix != "u64") {
      fail(start + spelt.size(), fmt::format("unknown suffix {} of a number", shown(suffix)), "use i32, u64, or none for u32");
    }
    if (negative) fail(start, "a negative number must be i32", "add the suffix i32");
    if (suffix == "u64") return LitU64{static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32)};
    if (value > std::numeric_limits<std::uint32_t>::max()) {
      fail(start, fmt::format("{} does not fit into u32", shown(spelt)), "write a number below 2^32, or add the suffix u64");
    }
    return LitU32{static_cast<std::uint32_t>(value)};
  }

  // Between quotes; valid until the next call.
  std::string_view quoted() {
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
  void escape(std::size_t start) {
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
    fail(start, "unknown escape in a quoted name",
         "use \\\", \\\\, \\n, \\t, \\r or \\u{...} with the number of a character in hexadecimal");
  }

  NameId name(std::string_view what) {
    skip_within();
    if (peek() == '"') return builder_.name(quoted());
    const std::string_view word = word_at(at_);
    if (word.empty()) fail_wanted(what, "write a name; names that are not made of letters, digits and _ stand in quotes");
    if (is_keyword(word)) fail(at_, fmt::format("`{}` is a keyword", word), fmt::format("write the name in quotes: \"{}\"", word));
    at_ += word.size();
    return builder_.name(word);
  }

  DataType type() {
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

  // --- Header ---

  void check_text() {
    if (text_.size() > std::numeric_limits<std::uint32_t>::max() - 1) {
      throw ParseError("line 1, column 1: the text is longer than 4 GiB. Fix: store programs of this size in the binary form.");
    }
    if (const std::size_t valid = valid_utf8(text_); valid < text_.size()) {
      fail(valid, fmt::format("the byte 0x{:02x} is not valid UTF-8", static_cast<unsigned char>(text_[valid])), "save the text as UTF-8");
    }
    accept("\xEF\xBB\xBF");
  }

  void header() {
    constexpr std::string_view kFirstLine = "start the text with the line `vyre 1`";
    skip_lines();
    if (!accept_word("vyre")) fail_wanted("`vyre` and the version of the text form", kFirstLine);
    skip_blanks();
    const std::size_t start = at_;
    if (const std::uint32_t version = number("the version of the text form"); version != kVersion) {
      fail(start, fmt::format("unknown version {} of the text form", version),
           fmt::format("use a vyre that knows it, or write version {}", kVersion));
    }
    end_line();

    skip_lines();
    if (!accept_word("workgroup_size")) fail_wanted("`workgroup_size`", "write the line `workgroup_size <x> <y> <z>` before anything else");
    WorkgroupSize size;
    for (std::uint32_t& axis : size) axis = number("a workgroup size");
    builder_.workgroup_size(size);
    end_line();

    for (skip_lines(); accept_word("buffer"); skip_lines()) buffer();
  }

  void buffer() {
    BufferDecl decl;
    skip_blanks();
    const NameId id = name("a buffer's name");
    decl.name = builder_.text(id);
    expect(":", "write `buffer <name>: <access> <type> binding <number>`");
    skip_blanks();
    const std::string_view access = word_at(at_);
    const auto row = std::find_if(kAccesses.begin(), kAccesses.end(), [&](const AccessInfo& info) { return info.text == access; });
    if (row == kAccesses.end()) {
      fail_wanted("a buffer's access", fmt::format("use one of {}", list_of(kAccesses, [](const AccessInfo& info) { return info.text; })));
    }
    decl.access = row->access;
    at_ += access.size();
    decl.element = type();
    skip_blanks();
    if (accept_word("binding")) {
      decl.binding = number("a binding");
    } else if (decl.access != BufferAccess::Workgroup) {
      fail_wanted("`binding`", "write `binding <number>` after the type");
    }
    skip_blanks();
    if (accept_word("count")) decl.count = number("a count");
    skip_blanks();
    decl.output = accept_word("output");
    builder_.buffer(std::move(decl));
    end_line();
  }

  // --- Statements ---

  void end_line() {
    skip_blanks();
    if (!at_end() && peek() != '\n') fail_wanted("the end of the line", "start a new line here");
  }
  // `}` may follow on the same line.
  void end_statement() {
    skip_blanks();
    if (at_end() || peek() == '\n' || peek() == '}') return;
    if (text_.compare(at_, 2, "&&") == 0 || text_.compare(at_, 2, "||") == 0) {
      fail(at_, fmt::format("`{}` is not an operator", text_.substr(at_, 2)), "write logical_and(a, b) or logical_or(a, b)");
    }
    fail_wanted("the end of the statement", "write one statement a line");
  }

  void statements() {
    for (skip_lines(); !at_end(); skip_lines()) {
      if (peek() == '}') {
        close_block();
      } else {
        statement();
      }
    }
    if (!opened_.empty()) fail(opened_.back().at, "this `{` is never closed", "add a `}` on a line of its own");
  }

  void open_block(bool is_if) {
    skip_blanks();
    if (peek() != '{') fail_wanted("`{`", "open the block with `{` on this line");
    opened_.push_back({static_cast<std::uint32_t>(at_++), is_if});
  }

  void close_block() {
    if (opened_.empty()) fail(at_, "this `}` closes nothing", "remove it, or open a block before it");
    const std::size_t end = ++at_;
    if (opened_.back().is_if) {
      skip_lines();
      if (accept_word("else")) {
        opened_.pop_back();
        builder_.else_();
        open_block(false);
        return;
      }
      at_ = end;
    }
    opened_.pop_back();
    builder_.end();
    end_statement();
  }

  void statement() {
    const std::size_t start = at_;
    const std::string_view word = word_at(at_);
    if (peek() == '%') {
      definition();
    } else if (accept_word("let")) {
      const NameId id = name("the name of a variable");
      expect("=", "write `let <name> = <value>`");
      builder_.let(id, expr());
    } else if (accept_word("if")) {
      builder_.if_(expr());
      return open_block(true);
    } else if (accept_word("loop")) {
      loop();
      return open_block(false);
    } else if (accept_word("block")) {
      builder_.block();
      return open_block(false);
    } else if (accept_word("barrier")) {
      builder_.barrier();
    } else if (accept_word("return")) {
      builder_.return_();
    } else if (word == "else") {
      fail(start, "`else` without an `if` before it", "write it after the `}` that closes the `if`");
    } else if (word == "buffer") {
      fail(start, "a buffer is declared after the first statement", "move the declaration up, below `workgroup_size`");
    } else if (!word.empty() || peek() == '"') {
      assign_or_store();
    } else {
      fail_wanted("a statement", "write let, if, loop, block, barrier, return, `<name> = <value>` or `<buffer>[<index>] = <value>`");
    }
    end_statement();
  }

  void loop() {
    const NameId variable = name("the name of the loop variable");
    skip_blanks();
    if (!accept_word("in")) fail_wanted("`in`", "write `loop <name> in <from>..<to> {`");
    const ExprId from = loop_bound();
    if (!accept("..")) fail_wanted("`..`", "write `loop <name> in <from>..<to> {`");
    const ExprId to = loop_bound();
    builder_.loop(variable, from, to);
  }
  ExprId loop_bound() {
    const ExprId bound = operand();
    skip_blanks();
    if (infix_at(at_) != nullptr)
      fail(at_, "a loop bound with an operator needs parentheses", "write `loop <name> in (<a> + <b>)..<to> {`");
    return bound;
  }

  void assign_or_store() {
    const NameId id = name("a name");
    skip_blanks();
    if (peek() == '(') {
      fail(at_, "a call is not a statement", "bind its result: `let <name> = <function>(...)`");
    }
    if (peek() != '[') {
      expect("=", "write `<name> = <value>`, or `let <name> = <value>` for a new variable");
      builder_.assign(id, expr());
      return;
    }
    const ExprId index = bracketed();
    expect("=", "write `<buffer>[<index>] = <value>`");
    builder_.store(id, index, expr());
  }

  void definition() {
    const std::size_t start = at_;
    const std::uint32_t number = reference_number();
    expect("=", "write `%<number> = <value>`");
    const ExprId value = expr();
    if (!numbered_.emplace(number, value).second) {
      fail(start, fmt::format("%{} is defined twice", number), "use another number, and one definition for each");
    }
  }

  std::uint32_t reference_number() {
    ++at_;
    if (!is_digit(peek())) fail_wanted("a number after `%`", "write a defined expression as % and its number, like %0");
    return number("the number after `%`");
  }

  // --- Expressions ---

  // The operator that starts at `at`, the longest one; null when none does.
  const BinOpInfo* infix_at(std::size_t at) const {
    const BinOpInfo* longest = nullptr;
    if (at == text_.size() || std::string_view("+-*/%&|^<>=!").find(text_[at]) == std::string_view::npos) return nullptr;
    for (const BinOpInfo& row : kBinOps) {
      if (row.infix.empty() || text_.compare(at, row.infix.size(), row.infix) != 0) continue;
      if (longest == nullptr || row.infix.size() > longest->infix.size()) longest = &row;
    }
    // `&&` and `||` are nobody's.
    if (longest != nullptr && longest->infix.size() == 1 && (text_[at] == '&' || text_[at] == '|') && at + 1 < text_.size() &&
        text_[at + 1] == text_[at]) {
      return nullptr;
    }
    return longest;
  }

  ExprId expr() {
    const ExprId left = operand();
    skip_within();
    const BinOpInfo* const op = infix_at(at_);
    if (op == nullptr) return left;
    at_ += op->infix.size();
    const ExprId right = operand();
    skip_within();
    if (infix_at(at_) != nullptr) {
      fail(at_, fmt::format("two operators in a row, `{}` and `{}`, without parentheses", op->infix, infix_at(at_)->infix),
           "operators have no order of precedence: write (a + b) * c or a + (b * c)");
    }
    return builder_.add(Binary{op->op, left, right});
  }

  void open_bracket() {
    if (++brackets_ > kMaxBrackets) {
      fail(at_, fmt::format("more than {} brackets are open", kMaxBrackets),
           "give an inner expression a line of its own, `%0 = ...`, and write %0 in its place");
    }
    ++at_;
  }
  void close_bracket(char symbol) {
    skip_lines();
    if (peek() != symbol) fail_wanted(fmt::format("`{}`", symbol), fmt::format("close the bracket with `{}`", symbol));
    ++at_;
    --brackets_;
  }

  // `[ expr ]`
  ExprId bracketed() {
    open_bracket();
    const ExprId inner = expr();
    close_bracket(']');
    return inner;
  }

  ExprId operand() {
    // After an operator, a comma or a bracket a line may break.
    skip_lines();
    const char c = peek();
    if (is_digit(c) || c == '-') return builder_.add(literal());
    if (c == '%') return reference();
    if (c == '(') {
      open_bracket();
      const ExprId inner = expr();
      close_bracket(')');
      return inner;
    }
    if (c == '"') return variable_or_load();
    const std::string_view word = word_at(at_);
    if (word.empty()) fail_wanted("a value", "write a number, a name, `%<number>`, a function call or an expression in parentheses");
    const std::size_t end = at_ + word.size();
    if (word == "true" || word == "false") {
      at_ = end;
      return builder_.add(LitBool{word == "true"});
    }
    if (end < text_.size() && text_[end] == '(') return function(word);
    if (end < text_.size() && text_[end] == '.' && text_.compare(end, 2, "..") != 0) return grid_id(word);
    return variable_or_load();
  }

  ExprId reference() {
    const std::size_t start = at_;
    const std::uint32_t number = reference_number();
    const auto defined = numbered_.find(number);
    if (defined == numbered_.end()) {
      fail(start, fmt::format("%{} is not defined before its use", number), fmt::format("write `%{} = <value>` above this line", number));
    }
    return defined->second;
  }

  ExprId grid_id(std::string_view word) {
    const auto kind = std::find(kGridIds.begin(), kGridIds.end(), word);
    if (kind == kGridIds.end()) fail(at_, fmt::format("{} has no axes", shown(word)), "write gid, wid or lid before the `.`");
    at_ += word.size() + 1;
    const std::string_view axis = word_at(at_);
    if (axis.size() != 1 || kAxes.find(axis) == std::string_view::npos) fail_wanted("an axis", "write .x, .y or .z");
    ++at_;
    return builder_.add(GridId{static_cast<GridIdKind>(kind - kGridIds.begin()), static_cast<std::uint32_t>(kAxes.find(axis))});
  }

  ExprId variable_or_load() {
    const NameId id = name("a name");
    if (peek() != '[') return builder_.add(Var{id});
    const ExprId index = bracketed();
    return builder_.add(Load{id, index});
  }

  void comma(std::string_view function) {
    skip_lines();
    if (!accept(",")) fail_wanted("`,`", fmt::format("separate the arguments of {} with commas", function));
  }

  // Further arguments up to the closing bracket, at the end of pending_. `first`: no comma before them.
  void arguments(bool first) {
    for (;; first = false) {
      skip_lines();
      if (peek() == ')') return close_bracket(')');
      if (!first && !accept(",")) fail_wanted("`,` or `)`", "separate arguments with commas and close the call with `)`");
      pending_.push_back(expr());
    }
  }

  ExprId function(std::string_view word) {
    const std::size_t start = at_;
    const auto known = functions().find(word);
    if (known == functions().end()) {
      fail(start, fmt::format("unknown function {}", shown(word)),
           "use a function of the text form; a registered operation is called as call(\"<id>\", ...)");
    }
    const Function function = known->second;
    at_ += word.size();
    open_bracket();
    const std::size_t base = pending_.size();
    const Expr made = made_by(function, word, start, base);
    pending_.resize(base);
    return builder_.add(made);
  }

  std::span<const ExprId> exactly(std::size_t least, std::size_t most, std::string_view word, std::size_t start, std::size_t base) {
    const std::span<const ExprId> given = std::span(pending_).subspan(base);
    if (given.size() < least || given.size() > most) {
      const std::string wanted = least == most ? fmt::format("{}", least) : fmt::format("{} or {}", least, most);
      fail(start, fmt::format("{} takes {} value{}, got {}", word, wanted, most == 1 ? "" : "s", given.size()),
           fmt::format("pass {} value{}", wanted, most == 1 ? "" : "s"));
    }
    return given;
  }

  // From behind the opening bracket to behind the closing one.
  Expr made_by(Function function, std::string_view word, std::size_t start, std::size_t base) {
    switch (function.kind) {
      case FunctionKind::Binary: {
        arguments(true);
        const auto given = exactly(2, 2, word, start, base);
        return Binary{static_cast<BinOp>(function.op), given[0], given[1]};
      }
      case FunctionKind::Unary:
        arguments(true);
        return Unary{static_cast<UnOp>(function.op), exactly(1, 1, word, start, base)[0]};
      case FunctionKind::Select: {
        arguments(true);
        const auto given = exactly(3, 3, word, start, base);
        return Select{given[0], given[1], given[2]};
      }
      case FunctionKind::Atomic: {
        const NameId buffer = name("a buffer's name");
        arguments(false);
        const auto given = exactly(2, 3, word, start, base);
        return Atomic{static_cast<AtomicOp>(function.op), given.size() == 3, buffer, builder_.list(given)};
      }
      case FunctionKind::Cast: {
        const DataType target = type();
        arguments(false);
        return Cast{target, exactly(1, 1, word, start, base)[0]};
      }
      case FunctionKind::Call: {
        skip_lines();
        if (peek() != '"') fail_wanted("an operation's id in quotes", "write call(\"primitive.bitwise.xor\", a, b)");
        const NameId op = builder_.name(quoted());
        arguments(false);
        return Call{op, builder_.list(std::span(pending_).subspan(base))};
      }
      case FunctionKind::Lane: {
        const ExprId value = expr();
        comma(word);
        const std::uint32_t lane = number("a lane");
        close_bracket(')');
        return Lane{value, lane};
      }
      case FunctionKind::Pack: {
        const DataType type = this->type();
        arguments(false);
        return Pack{type, builder_.list(std::span(pending_).subspan(base))};
      }
      case FunctionKind::Len: {
        const NameId buffer = name("a buffer's name");
        close_bracket(')');
        return BufLen{buffer};
      }
      case FunctionKind::GridId: {
        const std::uint32_t axis = number("an axis");
        close_bracket(')');
        return GridId{static_cast<GridIdKind>(function.op), axis};
      }
    }
    fail(start, "unknown function", "use a function of the text form");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t brackets_ = 0;  // open ones in this statement
  ProgramBuilder builder_;
  std::vector<Opened> opened_;
  std::vector<ExprId> pending_;               // arguments of the calls that are being read
  std::map<std::uint32_t, ExprId> numbered_;  // not a hash map: numbers that collide in one are easily chosen
  std::string scratch_;
};

}  // namespace

Program parse(std::string_view text) { return Parser(text)(); }

}  // namespace vyre::ir
