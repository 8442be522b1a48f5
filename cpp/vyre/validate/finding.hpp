// A finding of a rule: where, which rule, and the sentence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "vyre/validate/facts.hpp"
#include "vyre/validate/rules.hpp"

namespace vyre::validate {

// The subject of a diagnostic: a declaration, an expression that a statement evaluates, or a statement.
struct Site {
  enum class Kind : std::uint8_t { Buffer, Axis, Parameter, Entry, Node, Step };
  Kind kind;
  std::uint32_t index = 0;

  static Site axis(std::uint32_t axis) { return {Kind::Axis, axis}; }
  static Site parameter(std::uint32_t k) { return {Kind::Parameter, k}; }
  static Site entry() { return {Kind::Entry, 0}; }
  static Site of(BufferId id) { return {Kind::Buffer, id.index}; }
  static Site of(NodeId id) { return {Kind::Node, id.index}; }
  static Site of(StepId id) { return {Kind::Step, id.index}; }
};

struct Finding {
  Site site;
  Rule rule;
  std::string message;
  std::optional<Message> said;  // nothing for what is known of an operation's body alone
};

}  // namespace vyre::validate
