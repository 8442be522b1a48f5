// The rules of procedures by name, their sentences, and what they are for. Everything is read from rules.def.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vyre::validate {

enum class ProcedureRule : std::uint8_t {
#define RULE(id, ...) id,
#include "vyre/validate/procedures/rules.def"
};

struct ProcedureRuleInfo {
  ProcedureRule rule;
  std::string_view id;  // "P003"
  std::string_view title, checks, why;
};

inline constexpr std::array kProcedureRules = {
#define RULE(id, title, checks, why) ProcedureRuleInfo{ProcedureRule::id, #id, title, checks, why},
#include "vyre/validate/procedures/rules.def"
};
constexpr const ProcedureRuleInfo& info(ProcedureRule rule) { return kProcedureRules[static_cast<std::size_t>(rule)]; }

enum class ProcedureMessage : std::uint8_t {
#define MESSAGE(id, enumerator, sentence) enumerator,
#include "vyre/validate/procedures/rules.def"
};

struct ProcedureMessageInfo {
  ProcedureMessage message;
  ProcedureRule rule;
  std::string_view sentence;
};

inline constexpr std::array kProcedureMessages = {
#define MESSAGE(id, enumerator, sentence) ProcedureMessageInfo{ProcedureMessage::enumerator, ProcedureRule::id, sentence},
#include "vyre/validate/procedures/rules.def"
};
constexpr const ProcedureMessageInfo& info(ProcedureMessage message) { return kProcedureMessages[static_cast<std::size_t>(message)]; }

// "P003" in any case; nothing when there is no such rule.
std::optional<ProcedureRule> parse_procedure_rule(std::string_view id);

std::string explain(ProcedureRule rule);

}  // namespace vyre::validate
