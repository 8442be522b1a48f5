#include "vyre/validate/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace vyre::validate {

std::optional<Rule> parse_rule(std::string_view id) {
  auto same = [](char a, char b) { return a == static_cast<char>(std::toupper(static_cast<unsigned char>(b))); };
  for (const RuleInfo& row : kRules) {
    if (std::equal(row.id.begin(), row.id.end(), id.begin(), id.end(), same)) return row.rule;
  }
  return std::nullopt;
}

std::string explain(Rule rule) {
  const RuleInfo& row = info(rule);
  std::string text = fmt::format("{}: {}\n\nChecks: {}\n\nWhy: {}\n\nMessages:\n", row.id, row.title, row.checks, row.why);
  for (const MessageInfo& message : kMessages) {
    if (message.rule == rule) text += fmt::format("  {}\n", message.sentence);
  }
  return text;
}

}  // namespace vyre::validate
