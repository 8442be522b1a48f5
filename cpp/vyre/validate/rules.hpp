// The rules by name, their sentences, and what they are for. Everything is read from rules.def.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace vyre::validate {

enum class Rule : std::uint8_t {
#define RULE(id, ...) id,
#include "vyre/validate/rules.def"
};

struct RuleInfo {
  Rule rule;
  std::string_view id;  // "V014"
  std::string_view title;
  std::string_view checks;
  std::string_view why;
};

inline constexpr std::array kRules = {
#define RULE(id, title, checks, why) RuleInfo{Rule::id, #id, title, checks, why},
#include "vyre/validate/rules.def"
};
constexpr const RuleInfo& info(Rule rule) { return kRules[static_cast<std::size_t>(rule)]; }
constexpr std::string_view id(Rule rule) { return info(rule).id; }

enum class Message : std::uint8_t {
#define MESSAGE(id, enumerator, sentence) enumerator,
#include "vyre/validate/rules.def"
};

struct MessageInfo {
  Message message;
  Rule rule;
  std::string_view sentence;  // the text of the message, with `<...>` where a name, a number or a type goes
};

inline constexpr std::array kMessages = {
#define MESSAGE(id, enumerator, sentence) MessageInfo{Message::enumerator, Rule::id, sentence},
#include "vyre/validate/rules.def"
};
constexpr const MessageInfo& info(Message message) { return kMessages[static_cast<std::size_t>(message)]; }

// The Fix in Python, with the user's names: a Diagnostic's hint. A message may have several, by its cause.
enum class Hint : std::uint8_t {
#define HINT(id, enumerator, sentence) enumerator,
#include "vyre/validate/rules.def"
};

struct HintInfo {
  Hint hint;
  Rule rule;
  std::string_view sentence;
};

inline constexpr std::array kHints = {
#define HINT(id, enumerator, sentence) HintInfo{Hint::enumerator, Rule::id, sentence},
#include "vyre/validate/rules.def"
};
constexpr const HintInfo& info(Hint hint) { return kHints[static_cast<std::size_t>(hint)]; }

// The number of `<...>` in a sentence.
constexpr std::size_t places(std::string_view sentence) {
  std::size_t count = 0;
  for (char c : sentence) count += c == '<';
  return count;
}

// "V014" in any case; nothing when there is no such rule.
std::optional<Rule> parse_rule(std::string_view id);

// The sentence with its `<...>` filled, in order.
std::string filled(std::string_view sentence, std::span<const std::string> values);

// Explains a rule to a reader: what it checks and why, what it says, and what to write in Python.
std::string explain(Rule rule);

}  // namespace vyre::validate
