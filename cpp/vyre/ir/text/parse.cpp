// Reads the text form by recursive descent, straight into a ProgramBuilder.
//
// Each statement and each kind of expression has a function that reads it from its first character to its last. Blocks are not read
// recursively: the parser keeps a list of the open ones, so that a million may be nested. Only brackets within a statement are, and the
// lexer allows 200 of them.

#include "vyre/ir/text/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <vector>

#include "vyre/base/nearest.hpp"
#include "vyre/ir/builder.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/ir/text/lexer.hpp"
#include "vyre/ir/text/text_form.hpp"

namespace vyre::ir {
namespace {

using namespace text_form;

enum class FunctionKind : std::uint8_t { Operator, Atomic, Cast, Call, Lane, Pack, Len, GridId };

struct Function {
  FunctionKind kind;
  std::uint8_t op = 0;  // the number of an OpInfo, AtomicOp or GridIdKind
};

const std::unordered_map<std::string_view, Function>& functions() {
  static const auto* const table = [] {
    auto* all = new std::unordered_map<std::string_view, Function>{
        {"cast", {FunctionKind::Cast}}, {"call", {FunctionKind::Call}}, {"lane", {FunctionKind::Lane}},
        {"pack", {FunctionKind::Pack}}, {"len", {FunctionKind::Len}},
    };
    const auto add = [&](std::string_view name, FunctionKind kind, auto op) {
      all->emplace(name, Function{kind, static_cast<std::uint8_t>(op)});
    };
    for (const OpInfo* row : kOps) add(row->text, FunctionKind::Operator, number(*row));
    for (const AtomicOpInfo& row : kAtomicOps) add(row.text, FunctionKind::Atomic, row.op);
    for (const GridIdInfo& row : kGridIds) add(row.text, FunctionKind::GridId, static_cast<std::size_t>(row.kind));
    return all;
  }();
  return *table;
}

class Parser : Lexer {
 public:
  explicit Parser(std::string_view text) : Lexer(text) {}

  Program operator()() {
    check_text();
    header();
    statements();
    return builder_.finish();
  }
  // From `at` to the `}` behind it.
  Program within(std::size_t& at) {
    is_within_ = true;
    at_ = at;
    header();
    statements();
    at = at_;
    return builder_.finish();
  }

 private:
  struct Opened {
    std::uint32_t at;
    bool is_if;  // the block belongs to an If that has no `else` so far
  };

  // --- Header ---

  void header() {
    version_line();

    skip_lines();
    if (!is_within_ && word_at(at_) == "procedure") fail(at_, "this is the text of a procedure", "read it with Procedure.parse");
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
    const NameId id = builder_.name(name("a buffer's name"));
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
    skip_blanks();
    if (decl.access == BufferAccess::Workgroup) decl.atomic = accept_word("atomic");
    decl.element = type();
    skip_blanks();
    if (accept_word("binding")) {
      decl.binding = number("a binding");
    } else if (is_bound(decl.access)) {
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

  // `}` may follow on the same line.
  void end_statement() {
    skip_blanks();
    if (at_end() || peek() == '\n' || peek() == '}') return;
    if (text_.compare(at_, 2, "&&") == 0 || text_.compare(at_, 2, "||") == 0) {
      fail(at_, fmt::format("`{}` is not an operator", text_.substr(at_, 2)), "write logical_and(a, b) or logical_or(a, b)");
    }
    fail_wanted("the end of the statement", "write one statement a line");
  }

  // `break` is no keyword, so that a variable may be called so: it is the statement where nothing else follows.
  bool ends_statement(std::size_t at) const {
    const std::size_t next = text_.find_first_not_of(" \t\r", at);
    return next == std::string_view::npos || text_[next] == '\n' || text_[next] == '}' || text_[next] == '#';
  }

  void statements() {
    for (skip_lines(); !at_end(); skip_lines()) {
      if (peek() == '}') {
        if (is_within_ && opened_.empty()) return;
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
      const NameId id = builder_.name(name("the name of a variable"));
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
    } else if (word == "break" && ends_statement(at_ + word.size())) {
      at_ += word.size();
      builder_.break_();
    } else if (word == "else") {
      fail(start, "`else` without an `if` before it", "write it after the `}` that closes the `if`");
    } else if (word == "buffer") {
      fail(start, "a buffer is declared after the first statement", "move the declaration up, below `workgroup_size`");
    } else if (!word.empty() || peek() == '"') {
      assign_or_store();
    } else {
      fail_wanted("a statement", "write let, if, loop, block, barrier, return, break, `<name> = <value>` or `<buffer>[<index>] = <value>`");
    }
    end_statement();
  }

  void loop() {
    const NameId variable = builder_.name(name("the name of the loop variable"));
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
    const NameId id = builder_.name(name("a name"));
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

  ExprId expr() {
    const ExprId left = operand();
    skip_within();
    const OpInfo* const op = infix_at(at_);
    if (op == nullptr) return left;
    at_ += op->infix.size();
    const ExprId right = operand();
    skip_within();
    if (infix_at(at_) != nullptr) {
      fail(at_, fmt::format("two operators in a row, `{}` and `{}`, without parentheses", op->infix, infix_at(at_)->infix),
           "operators have no order of precedence: write (a + b) * c or a + (b * c)");
    }
    return builder_.add(Binary{static_cast<BinOp>(op->index), left, right});
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
      return builder_.add(Literal::boolean(word == "true"));
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
    const auto row = std::ranges::find(kGridIds, word, &GridIdInfo::text);
    if (row == kGridIds.end()) fail(at_, fmt::format("{} has no axes", shown(word)), "write gid, wid or lid before the `.`");
    at_ += word.size() + 1;
    const std::string_view axis = word_at(at_);
    if (axis.size() != 1 || kAxes.find(axis) == std::string_view::npos) fail_wanted("an axis", "write .x, .y or .z");
    ++at_;
    return builder_.add(GridId{row->kind, static_cast<std::uint32_t>(kAxes.find(axis))});
  }

  ExprId variable_or_load() {
    const NameId id = builder_.name(name("a name"));
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
      std::vector<std::string_view> names;
      for (const auto& [name, row] : functions()) names.push_back(name);
      std::ranges::sort(names);
      fail(start, fmt::format("unknown function {}", shown(word)),
           "use a function of the text form; a registered operation is called as call(\"<id>\", ...)" + did_you_mean(word, names));
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
      case FunctionKind::Operator: {
        const OpInfo& op = *kOps[function.op];
        arguments(true);
        return application(op, exactly(op.arity, op.arity, word, start, base));
      }
      case FunctionKind::Atomic: {
        const NameId buffer = builder_.name(name("a buffer's name"));
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
        const NameId buffer = builder_.name(name("a buffer's name"));
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

  bool is_within_ = false;  // a part of the text
  ProgramBuilder builder_;
  std::vector<Opened> opened_;
  std::vector<ExprId> pending_;               // arguments of the calls that are being read
  std::map<std::uint32_t, ExprId> numbered_;  // not a hash map: numbers that collide in one are easily chosen
};

}  // namespace

Program parse(std::string_view text) { return Parser(text)(); }
Program parse_within(std::string_view text, std::size_t& at) { return Parser(text).within(at); }

}  // namespace vyre::ir
