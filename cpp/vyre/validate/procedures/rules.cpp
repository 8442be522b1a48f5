#include "vyre/validate/procedures/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace vyre::validate {

std::optional<ProcedureRule> parse_procedure_rule(std::string_view id) {
  const auto same = [](char a, char b) { return a == static_cast<char>(std::toupper(static_cast<unsigned char>(b))); };
  for (const ProcedureRuleInfo& row : kProcedureRules) {
    if (std::equal(row.id.begin(), row.id.end(), id.begin(), id.end(), same)) return row.rule;
  }
  return std::nullopt;
}

std::string explain(ProcedureRule rule) {
  const ProcedureRuleInfo& row = info(rule);
  std::string text = fmt::format("{}: {}\n\nChecks: {}\n\nWhy: {}\n\nMessages:\n", row.id, row.title, row.checks, row.why);
  for (const ProcedureMessageInfo& message : kProcedureMessages) {
    if (message.rule == rule) text += fmt::format("  {}\n", message.sentence);
  }
  return text;
}

}  // namespace vyre::validate
