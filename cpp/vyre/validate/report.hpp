// Collects what the rules find, in whatever order they run, and gives it back in program order.
#pragma once

#include <array>
#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vyre/base/diagnostic.hpp"
#include "vyre/validate/finding.hpp"
#include "vyre/validate/gathered.hpp"
#include "vyre/validate/options.hpp"
#include "vyre/validate/rules.hpp"
#include "vyre/validate/valid.hpp"

namespace vyre::validate {

// One value of a sentence. NUL is shown as \0, so that a message can be printed and compared everywhere.
class Text {
 public:
  Text(std::string_view text);  // NOLINT: a sentence takes names as they are
  Text(const char* text) : Text(std::string_view(text)) {}
  Text(const std::string& text) : Text(std::string_view(text)) {}
  Text(std::integral auto number) : text_(std::to_string(number)) {}
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class Report {
 public:
  explicit Report(const Gathered& gathered) : gathered_(gathered) {}

  // Fills the sentence's `<...>` with `values`, in order.
  template <Message message, class Where, class... Values>
  void add(Where where, const Values&... values) {
    static_assert(places(info(message).sentence) == sizeof...(Values));
    const std::array<std::string, sizeof...(Values)> texts{Text(values).text()...};
    add_filled(site(where), message, texts);
  }
  void add(Site site, Rule rule, std::string message) { findings_.push_back({site, rule, std::move(message), {}}); }

  // Declarations in order, then statements; in a statement operands in evaluation order, then the statement's own; what one thing
  // breaks by the number of the rule.
  std::vector<Finding> in_program_order() &&;

 private:
  static Site site(Site site) { return site; }
  template <class Tag>
  static Site site(Id<Tag> id) {
    return Site::of(id);
  }
  void add_filled(Site site, Message message, std::span<const std::string> texts);

  const Gathered& gathered_;
  std::vector<Finding> findings_;
};

// With places, and with hints if the options have advice. `findings` are in program order. The grammar of a path:
//   path       = "buffers[" k "]" | "workgroup_size[" axis "]" | "parameters[" k "]" | "entry" | statement { "." operand }
//   statement  = "entry[" k "]" { "." list "[" k "]" }
//   list       = "then" | "otherwise" | "body"
//   operand    = "value" | "index" | "condition" | "from" | "to" | "left" | "right" | "operand" | "if_true" | "if_false" | "expected"
//              | "arguments[" k "]" | "lanes[" k "]"
// An expression that a statement reaches several times has the path of its first evaluation. Of a very deep statement or operand only the
// first and last few parts are written, with "..." between them.
Diagnostics locate(const Gathered& gathered, std::vector<Finding> findings, const Options& options = {});

// The places of what is known of a program that breaks no rule, in program order.
std::vector<Place> locate(const ValidProgram& program, const std::vector<Site>& sites);

// The place of a statement, or of an expression that it evaluates, in a program that breaks no rule.
Place locate(const ValidProgram& program, NodeId statement, ExprId expr = {});

}  // namespace vyre::validate
