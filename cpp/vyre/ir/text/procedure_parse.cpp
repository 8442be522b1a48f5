// Reads the text of a procedure by recursive descent, straight into a ProcedureBuilder.
//
// Each line has a function that reads it, and size_parse.hpp reads the sizes in it. Blocks of steps are kept in a list and not read
// recursively; the parser recurses over the brackets of a size, of which the lexer allows 200, and over procedures within procedures, of
// which there are at most kMostInvocations. Programs and procedures in braces are read where they stand, so that every place counts from
// the start of the text.
#include "vyre/ir/text/procedure_parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vyre/base/error.hpp"
#include "vyre/base/utf8.hpp"
#include "vyre/ir/text/parse.hpp"
#include "vyre/ir/text/size_parse.hpp"
#include "vyre/ir/text/text_form.hpp"

namespace vyre::ir {
namespace {

using namespace text_form;

constexpr std::string_view kDispatch = "write `dispatch <name> program <number> (<array>, ...) workgroups (<x>, <y>, <z>)`";
constexpr std::string_view kInvoke = "write `invoke <name> procedure <number> (<array>, ...; <number>, ...)`";
constexpr std::string_view kRequire = "write `require <condition> \"<problem>. Fix: <action>.\"`";
constexpr std::string_view kPart = "write `<array>[<first> + <length>]`";

std::optional<ArrayRole> parse_role(std::string_view word) {
  const auto row = std::ranges::find(kRoleNames, word);
  if (row == kRoleNames.end()) return std::nullopt;
  return static_cast<ArrayRole>(row - kRoleNames.begin());
}

class ProcedureParser : SizeParser {
 public:
  ProcedureParser(std::string_view text, std::size_t at, std::uint32_t depth) : SizeParser(text), depth_(depth) { at_ = at; }

  Procedure operator()() {
    check_text();
    Procedure made = whole();
    if (!at_end()) fail(at_, "this `}` closes nothing", "remove it, or open a block before it");
    return made;
  }
  // From `at` to the `}` behind it.
  Procedure within(std::size_t& at) {
    Procedure made = whole();
    at = at_;
    return made;
  }

 private:
  struct Opened {
    std::size_t at;
    bool is_when;  // the block belongs to a `when` that has no `otherwise` so far
  };

  Procedure whole() {
    header();
    for (skip_lines(); !at_end(); skip_lines()) {
      if (peek() != '}') {
        line();
      } else if (opened_.empty()) {
        break;
      } else {
        close_block();
      }
    }
    if (!opened_.empty()) fail(opened_.back().at, "this `{` is never closed", "add a `}` on a line of its own");
    return builder_.finish();
  }

  void header() {
    version_line();
    skip_lines();
    if (depth_ == 1 && word_at(at_) == "workgroup_size") fail(at_, "this is the text of a program", "read it with vyre.parse");
    if (!accept_word("procedure")) fail_wanted("`procedure`", "write the line `procedure \"<name>\"` before anything else");
    builder_ = ProcedureBuilder(std::string(name("the name of the procedure")));
    end_line();
  }

  // --- Lines ---

  // `}` may follow on the same line.
  void end_statement() {
    skip_blanks();
    if (!at_end() && peek() != '\n' && peek() != '}') fail_wanted("the end of the statement", "write one statement a line");
  }

  void line() {
    const std::size_t start = at_;
    const std::string_view word = word_at(at_);
    const std::optional<ArrayRole> role = parse_role(word);
    const bool declares = role || word == "number" || word == "program" || word == "procedure";
    if (has_returned_) fail(start, "a line stands behind `return`", "write `return` as the last line");
    if (declares && has_steps_) fail(start, "this is declared after the first step", "move the declaration up, above the steps");
    if (peek() == '%') return definition();
    at_ += word.size();
    if (word == "number") return number_declaration();
    if (role) return array(*role);
    if (word == "program") return nested_program();
    if (word == "procedure") return nested_procedure(start);
    if (word == "return") return results(start);
    at_ = start;
    step(word);
    has_steps_ = true;
  }

  void definition() {
    const std::size_t start = at_;
    const std::uint32_t number = reference_number();
    expect("=", "write `%<number> = <size>`");
    const SizeId value = expr();
    if (!numbered_.emplace(number, value).second) {
      fail(start, fmt::format("%{} is defined twice", number), "use another number, and one definition for each");
    }
    end_statement();
  }
  void number_declaration() {
    skip_within();
    const std::size_t start = at_;
    NumberDecl decl{.name = std::string(name("the name of a number")), .type = DataType::U32};
    expect(":", "write `number <name>: <type>`");
    skip_blanks();
    const std::size_t at = at_;
    decl.type = type();
    if (!has_literals(decl.type)) {
      std::vector<TypeInfo> types;
      std::ranges::copy_if(kTypes, std::back_inserter(types), [](const TypeInfo& row) { return row.literal.has_value(); });
      fail(at, fmt::format("a number of type {}", shown(text(decl.type))),
           fmt::format("use one of {}", list_of(types, [](const TypeInfo& row) { return row.text; })));
    }
    end_line();
    const std::string key = decl.name;
    const std::uint32_t index = builder_.declare(std::move(decl));
    if (!numbers_.emplace(key, index).second)
      fail(start, fmt::format("two numbers are called {}", shown(key)), "give each a name of its own");
  }

  void array(ArrayRole role) {
    skip_within();
    const std::size_t start = at_;
    ArrayDecl decl;
    decl.name = name("the name of an array");
    decl.role = role;
    expect(":", "write `<role> <name>: <type>[<size>]`");
    decl.element = type();
    shape(decl);
    skip_blanks();
    decl.zeros = accept_word("zeros");
    skip_blanks();
    if (role == ArrayRole::Table) decl.contents = contents(decl.element);
    end_line();
    const std::string key = decl.name;
    const ArrayId id = builder_.array(std::move(decl));
    axes_.push_back(last_axes_);
    if (!arrays_.emplace(key, id).second) fail(start, fmt::format("two arrays are called {}", shown(key)), "give each a name of its own");
  }
  void shape(ArrayDecl& decl) {
    const bool is_given = decl.role == ArrayRole::Input || decl.role == ArrayRole::InOut;
    skip_blanks();
    if (peek() != '[') fail_wanted("`[`", "write the axes behind the type, like u32[] or u32[4, 4]");
    open_bracket();
    for (last_axes_ = 1;; ++last_axes_) {
      if (last_axes_ > 3) fail(at_, fmt::format("{} has more than three axes", shown(decl.name)), "declare one to three");
      skip_lines();
      const std::size_t at = at_;
      const bool is_empty = peek() == ',' || peek() == ']';
      if (is_empty && !is_given) fail_wanted(fmt::format("a size of {}", shown(decl.name)), "write a size for each axis");
      if (!is_empty) decl.shape.push_back(expr());
      if (!is_empty && is_given) {
        fail(at, fmt::format("{} {} has a size, which a call gives", kRoleNames[static_cast<std::size_t>(decl.role)], shown(decl.name)),
             "leave the size out: [] for one axis, [,] for two");
      }
      skip_lines();
      if (!accept(",")) break;
    }
    close_bracket(']');
    decl.axes = last_axes_;
  }

  // Words of the elements, the highest digit first. The last word may have fewer bytes.
  std::shared_ptr<const std::vector<std::byte>> contents(DataType element) {
    const std::size_t open = at_, digits = 2 * word_bytes(element);
    if (!accept("{")) fail_wanted("`{`", "write the contents of a table in braces, as words in hexadecimal");
    auto bytes = std::make_shared<std::vector<std::byte>>();
    bool is_short = false;
    for (skip_lines(); !accept("}"); skip_lines()) {
      const std::size_t start = at_;
      while (!at_end() && hexadecimal(peek()) >= 0) ++at_;
      const std::size_t count = at_ - start;
      if (at_end()) fail(open, "this `{` is never closed", "add a `}` on a line of its own");
      if (continues_word(peek()) || count == 0) fail_wanted("a word of hexadecimal digits, or `}`", "write digits from 0 to 9 and a to f");
      if (is_short || count % 2 != 0 || count > digits) {
        fail(start, fmt::format("{} hexadecimal digits, where each word of {} has {}", count, text(element), digits),
             fmt::format("write {} digits; the last word alone may have fewer, two for each byte", digits));
      }
      is_short = count < digits;
      for (std::size_t at = at_; at > start; at -= 2) {
        bytes->push_back(static_cast<std::byte>(16 * hexadecimal(text_[at - 2]) + hexadecimal(text_[at - 1])));
      }
    }
    return bytes;
  }
  static int hexadecimal(char c) {
    if (is_digit(c)) return c - '0';
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
  }

  // --- Programs and procedures in braces ---

  template <class Value, class Read>
  void nested(std::string_view what, std::map<std::uint32_t, Value>& known, Read&& read) {
    skip_blanks();
    const std::size_t start = at_;
    const std::uint32_t key = number(fmt::format("the number of a {}", what));
    if (known.contains(key)) fail(start, fmt::format("{} {} is declared twice", what, key), "use another number");
    skip_blanks();
    const std::size_t open = at_;
    if (!accept("{")) fail_wanted("`{`", fmt::format("write `{} <number> {{` and its text", what));
    known.emplace(key, read());
    if (!accept("}")) fail(open, "this `{` is never closed", "add a `}` on a line of its own");
    end_line();
  }
  void nested_program() {
    nested("program", programs_, [&] { return parse_within(text_, at_); });
  }
  void nested_procedure(std::size_t start) {
    if (depth_ == kMostInvocations) {
      fail(start, fmt::format("procedures stand more than {} deep in each other", kMostInvocations), "invoke fewer levels");
    }
    nested("procedure", procedures_, [&] { return ProcedureParser(text_, at_, depth_ + 1).within(at_); });
  }
  template <class Value>
  const Value& declared(std::string_view what, const std::map<std::uint32_t, Value>& known, std::string_view form) {
    skip_blanks();
    if (!accept_word(what)) fail_wanted(fmt::format("`{}`", what), form);
    skip_blanks();
    const std::size_t start = at_;
    const std::uint32_t key = number(fmt::format("the number of a {}", what));
    const auto found = known.find(key);
    if (found == known.end()) {
      fail(start, fmt::format("{} {} is not declared above its use", what, key), fmt::format("write `{} {} {{` and its text", what, key));
    }
    return found->second;
  }

  // --- Steps ---

  void step(std::string_view word) {
    at_ += word.size();
    if (word == "dispatch") {
      dispatch();
    } else if (word == "invoke") {
      invoke();
    } else if (word == "repeat") {
      return repeat();
    } else if (word == "when") {
      builder_.when(expr());
      return open_block(true);
    } else if (word == "swap") {
      const ArrayId a = array_name();
      expect(",", "write `swap <array>, <array>`");
      builder_.swap(a, array_name());
    } else if (word == "clear") {
      builder_.clear(part());
    } else if (word == "require") {
      require();
    } else if (word == "otherwise") {
      fail(at_ - word.size(), "`otherwise` without a `when` before it", "write it after the `}` that closes the `when`");
    } else {
      at_ -= word.size();
      fail_wanted("a step or a declaration",
                  "begin the line with dispatch, invoke, repeat, when, swap, clear, require, return, number, input, in_out, output, "
                  "scratch, table, "
                  "program, procedure or `%<number> =`");
    }
    end_statement();
  }

  void require() {
    const SizeId condition = expr();
    skip_within();
    const std::size_t start = at_;
    if (peek() != '"') fail_wanted("a message in quotes", kRequire);
    try {
      builder_.require(condition, std::string(name("a message")));
    } catch (const ArgumentError&) {
      fail(start, "the message of a requirement has no Fix", kRequire);
    }
  }

  void open_block(bool is_when) {
    skip_blanks();
    if (peek() != '{') fail_wanted("`{`", "open the block with `{` on this line");
    opened_.push_back({at_++, is_when});
  }
  void close_block() {
    const std::size_t end = ++at_;
    if (opened_.back().is_when) {
      skip_lines();
      if (accept_word("otherwise")) {
        opened_.pop_back();
        builder_.otherwise();
        return open_block(false);
      }
      at_ = end;
    }
    opened_.pop_back();
    builder_.end();
    end_statement();
  }

  void repeat() {
    skip_blanks();
    const std::size_t start = at_;
    const std::uint32_t turn = turn_number(kRepeat);
    skip_blanks();
    if (!accept_word("in")) fail_wanted("`in`", kRepeat);
    skip_blanks();
    if (!accept("0")) fail_wanted("`0`", kRepeat);
    if (!accept("..")) fail_wanted("`..`", kRepeat);
    const SizeId count = operand();
    skip_blanks();
    if (infix_row() != nullptr) fail(at_, "a count with an operator needs parentheses", "write `repeat turn<number> in 0..(<a> + <b>) {`");
    std::optional<ArrayPart> until;
    if (accept_word("until")) until = part();
    if (!turns_.emplace(turn, builder_.repeat(count, until)).second) {
      fail(start, fmt::format("turn{} is the turn of two repetitions", turn), "give each repetition a turn of its own");
    }
    open_block(false);
  }

  void dispatch() {
    Dispatch made;
    skip_blanks();
    made.name = name("the name of a kernel");
    made.program = builder_.program(declared("program", programs_, kDispatch));
    open_list(kDispatch);
    if (!closes_list()) {
      do {
        skip_lines();
        if (word_at(at_) == "words" && at_ + 5 < text_.size() && text_[at_ + 5] == '(') {
          at_ += 5;
          open_bracket();
          made.bound.emplace_back(sizes());
        } else {
          made.bound.emplace_back(part());
        }
        skip_lines();
      } while (accept(","));
    }
    close_bracket(')');
    grid(made.grid);
    builder_.dispatch(std::move(made));
  }
  void grid(StepGrid& grid) {
    skip_blanks();
    const std::size_t start = at_;
    grid.counts_invocations = accept_word("invocations");
    if (!grid.counts_invocations && !accept_word("workgroups")) fail_wanted("`workgroups` or `invocations`", kDispatch);
    skip_blanks();
    if (peek() != '(') {
      grid.counts = part();
      skip_blanks();
      const bool is_at = accept_word("at");
      skip_blanks();
      if (!is_at || !accept_word("most")) fail_wanted("`at most`", "write `workgroups <array> at most (<x>, <y>, <z>)`");
      skip_blanks();
    } else if (grid.counts_invocations) {
      fail(start, "the invocations of a dispatch are counted by an array", "write `workgroups (<x>, <y>, <z>)`");
    }
    if (peek() != '(') fail_wanted("`(`", kDispatch);
    const std::size_t open = at_;
    open_bracket();
    const Words most = sizes();
    if (most.size() != grid.most.size()) fail(open, fmt::format("a grid of {} sizes", most.size()), "write three: (<x>, <y>, <z>)");
    std::copy(most.begin(), most.end(), grid.most.begin());
  }

  void invoke() {
    Invoke made;
    skip_blanks();
    const std::size_t start = at_;
    const std::string called(name("the name of a procedure"));
    const Procedure& procedure = declared("procedure", procedures_, kInvoke);
    if (procedure.name() != called) {
      fail(start, fmt::format("this procedure is called {}, not {}", shown(procedure.name()), shown(called)),
           fmt::format("write {}", is_bare_name(procedure.name()) ? procedure.name() : fmt::format("\"{}\"", escaped(procedure.name()))));
    }
    made.procedure = builder_.procedure(procedure);
    open_list(kInvoke);
    if (!closes_list() && peek() != ';') {
      do {
        made.arrays.push_back(part());
        skip_lines();
      } while (accept(","));
    }
    if (accept(";")) {
      made.numbers = sizes();
    } else {
      close_bracket(')');
    }
    builder_.invoke(std::move(made));
  }

  void results(std::size_t start) {
    if (!opened_.empty()) fail(start, "`return` stands in a block", "write it as the last line, outside of all blocks");
    do {
      builder_.result(array_name());
      skip_blanks();
    } while (accept(","));
    has_returned_ = true;
    end_statement();
  }

  void open_list(std::string_view form) {
    skip_blanks();
    if (peek() != '(') fail_wanted("`(`", form);
    open_bracket();
    skip_lines();
  }
  bool closes_list() const { return peek() == ')'; }

  // --- Arrays ---

  ArrayPart part() {
    ArrayPart found{.array = array_name(), .view = {}, .offset = {}, .length = {}};
    if (peek() == '[') {
      open_bracket();
      found.offset = operand();
      skip_lines();
      if (!accept("+")) fail_wanted("`+`", kPart);
      found.length = operand();
      skip_lines();
      if (infix_row() != nullptr) fail(at_, "a length with an operator needs parentheses", kPart);
      close_bracket(']');
    }
    const std::size_t end = at_;
    skip_within();
    if (accept_word("as")) {
      found.view = type();
    } else {
      at_ = end;
    }
    return found;
  }

  std::uint32_t depth_;  // 1 and one more for each procedure around this one
  std::vector<Opened> opened_;
  bool has_steps_ = false, has_returned_ = false;
  std::uint32_t last_axes_ = 1;
  // By number. No hash maps: keys that collide in one are easily chosen.
  std::map<std::uint32_t, Program> programs_;
  std::map<std::uint32_t, Procedure> procedures_;
};

}  // namespace

Procedure parse_procedure(std::string_view text) { return ProcedureParser(text, 0, 1)(); }

}  // namespace vyre::ir
