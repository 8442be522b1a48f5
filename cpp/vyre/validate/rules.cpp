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

std::string filled(std::string_view sentence, std::span<const std::string> values) {
  std::string result;
  for (const std::string& value : values) {
    const std::size_t open = sentence.find('<');
    result += sentence.substr(0, open);
    result += value;
    sentence.remove_prefix(sentence.find('>', open) + 1);
  }
  result += sentence;
  return result;
}

std::string explain(Rule rule) {
  const RuleInfo& row = info(rule);
  std::string text = fmt::format("{}: {}\n\nChecks: {}\n\nWhy: {}\n\nMessages:\n", row.id, row.title, row.checks, row.why);
  for (const MessageInfo& message : kMessages) {
    if (message.rule == rule) text += fmt::format("  {}\n", message.sentence);
  }
  bool headed = false;
  for (const HintInfo& hint : kHints) {
    if (hint.rule != rule) continue;
    text += fmt::format("{}  {}\n", headed ? "" : "\nIn Python:\n", hint.sentence);
    headed = true;
  }
  return text;
}

}  // namespace vyre::validate
