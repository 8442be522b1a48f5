#include "vyre/ir/text/size_parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "vyre/base/error.hpp"
#include "vyre/base/nearest.hpp"
#include "vyre/ir/text/text_form.hpp"

namespace vyre::ir {

using namespace text_form;

namespace {

bool is_infix(const SizeOpInfo& row) { return row.operands > 0 && !starts_word(row.text.front()); }

}  // namespace

template <class Known>
void SizeParser::unknown(std::size_t start, std::string_view what, std::string_view called, const Known& known, std::string_view fix) {
  std::vector<std::string_view> names;
  names.reserve(known.size());
  for (const auto& [name, id] : known) names.push_back(name);
  fail(start, fmt::format("unknown {} {}", what, shown(called)), std::string(fix) + did_you_mean(called, names));
}

std::uint32_t SizeParser::reference_number() {
  ++at_;
  if (!is_digit(peek())) fail_wanted("a number after `%`", "write a defined size as % and its number, like %0");
  return number("the number after `%`");
}

ArrayId SizeParser::array_name() {
  skip_within();
  const std::size_t start = at_;
  const std::string_view called = name("the name of an array");
  const auto found = arrays_.find(called);
  if (found != arrays_.end()) return found->second;
  unknown(start, "array", called, arrays_, "declare it above, like `input <name>: u32[]`");
}

std::vector<SizeId> SizeParser::sizes() {
  std::vector<SizeId> found;
  for (;;) {
    skip_lines();
    if (peek() == ')') break;
    if (!found.empty() && !accept(",")) fail_wanted("`,` or `)`", "separate sizes with commas and close the list with `)`");
    found.push_back(expr());
  }
  close_bracket(')');
  return found;
}

const SizeOpInfo* SizeParser::infix_row() const {
  const SizeOpInfo* longest = nullptr;
  for (const SizeOpInfo& row : kSizeOps) {
    if (!is_infix(row) || text_.compare(at_, row.text.size(), row.text) != 0) continue;
    if (longest == nullptr || row.text.size() > longest->text.size()) longest = &row;
  }
  return longest;
}

SizeId SizeParser::expr() {
  const SizeId left = operand();
  skip_within();
  const std::size_t start = at_;
  const SizeOpInfo* const op = infix_row();
  if (op == nullptr) {
    if (peek() != '\0' && std::string_view("<>=!&|^+-*/%").find(peek()) != std::string_view::npos)
      fail_wanted("an operator of sizes", "use one of +, -, *, /, %, <, <=, == and !=");
    return left;
  }
  at_ += op->text.size();
  const SizeId right = operand();
  skip_within();
  if (const SizeOpInfo* const second = infix_row(); second != nullptr) {
    fail(at_, fmt::format("two operators in a row, `{}` and `{}`, without parentheses", op->text, second->text),
         "operators have no order of precedence: write (a + b) * c or a + (b * c)");
  }
  return applied(start, op->op, {left, right, SizeId{}});
}

SizeId SizeParser::applied(std::size_t start, SizeOp op, const std::array<SizeId, 3>& operands) {
  try {
    return builder_.apply(op, operands[0], operands[1], operands[2]);
  } catch (const ArgumentError& error) {
    const std::string_view problem = error.what();
    fail(start, problem.substr(0, problem.find(". Fix: ")), "write sizes whose value is from 0 to 2^64 - 1");
  }
}

SizeId SizeParser::operand() {
  // After an operator, a comma or a bracket a line may break.
  skip_lines();
  const std::size_t start = at_;
  if (is_digit(peek())) {
    const std::uint64_t value = digits("a number");
    if (starts_word(peek())) fail_wanted("the end of the number", "write a plain number here, without a suffix");
    return builder_.literal(value);
  }
  if (peek() == '%') {
    const std::uint32_t number = reference_number();
    const auto defined = numbered_.find(number);
    if (defined != numbered_.end()) return defined->second;
    fail(start, fmt::format("%{} is not defined before its use", number), fmt::format("write `%{} = <size>` above this line", number));
  }
  if (peek() == '(') {
    open_bracket();
    const SizeId inner = expr();
    close_bracket(')');
    return inner;
  }
  const std::string_view word = word_at(at_);
  const std::size_t end = at_ + word.size();
  if (!word.empty() && end < text_.size() && text_[end] == '(') return function(word);
  if (is_turn(word)) return turn();
  if (word.empty() && peek() != '"')
    fail_wanted("a size", "write a number, the name of a number, `%<number>`, a function call or an operation in parentheses");
  const std::string_view called = name("the name of a number");
  const auto found = numbers_.find(called);
  if (found != numbers_.end()) return builder_.number(found->second);
  if (arrays_.contains(called)) fail(start, fmt::format("{} is an array, not a size", shown(called)), "write length(<array>)");
  unknown(start, "number", called, numbers_, "declare it above, like `number <name>: u32`");
}

std::uint32_t SizeParser::turn_number(std::string_view form) {
  const std::string_view word = word_at(at_);
  if (!is_turn(word)) fail_wanted("a turn", form);
  std::uint32_t value = 0;
  const std::string_view digits = word.substr(std::string_view("turn").size());
  if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc()) {
    fail(at_, fmt::format("the number of {} does not fit into 32 bits", shown(word)), "number the turns from 0");
  }
  at_ += word.size();
  return value;
}

SizeId SizeParser::turn() {
  const std::size_t start = at_;
  const std::uint32_t number = turn_number(kRepeat);
  const auto found = turns_.find(number);
  if (found != turns_.end()) return builder_.turn(found->second);
  fail(start, fmt::format("turn{} is the turn of no repetition above", number),
       fmt::format("write `repeat turn{} in 0..<size> {{`", number));
}

SizeId SizeParser::function(std::string_view word) {
  const std::size_t start = at_;
  at_ += word.size();
  open_bracket();
  if (word == text(SizeOp::Length)) return length();
  if (word == text(SizeOp::Limit)) return limit();
  const auto row = std::ranges::find_if(kSizeOps, [&](const SizeOpInfo& each) { return each.operands > 0 && each.text == word; });
  if (row == kSizeOps.end()) {
    std::vector<std::string_view> names = {text(SizeOp::Length), text(SizeOp::Limit)};
    for (const SizeOpInfo& each : kSizeOps) {
      if (each.operands > 0 && !is_infix(each)) names.push_back(each.text);
    }
    fail(start, fmt::format("unknown function {}", shown(word)),
         fmt::format("use one of {}{}", fmt::join(names, ", "), did_you_mean(word, names)));
  }
  const std::vector<SizeId> given = sizes();
  if (given.size() != row->operands) {
    fail(start, fmt::format("{} takes {} size{}, got {}", word, row->operands, row->operands == 1 ? "" : "s", given.size()),
         fmt::format("pass {} size{}", row->operands, row->operands == 1 ? "" : "s"));
  }
  std::array<SizeId, 3> operands{};
  std::copy(given.begin(), given.end(), operands.begin());
  return applied(start, row->op, operands);
}

SizeId SizeParser::length() {
  const ArrayId array = array_name();
  skip_lines();
  std::uint32_t axis = 0;
  if (accept(",")) {
    skip_lines();
    const std::size_t at = at_;
    axis = number("an axis");
    if (axis >= axes_[array.index]) {
      fail(at, fmt::format("axis {} of an array of {}", axis, axes_[array.index]),
           fmt::format("write an axis below {}", axes_[array.index]));
    }
  }
  close_bracket(')');
  return builder_.length(array, axis);
}

SizeId SizeParser::limit() {
  skip_lines();
  const std::string_view word = word_at(at_);
  const auto row = std::ranges::find(kLimitNames, word);
  if (row == kLimitNames.end()) fail_wanted("a limit", fmt::format("use one of {}", fmt::join(kLimitNames, ", ")));
  at_ += word.size();
  close_bracket(')');
  return builder_.limit(static_cast<Limit>(row - kLimitNames.begin()));
}

}  // namespace vyre::ir
