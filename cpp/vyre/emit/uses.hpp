// How the instructions of a kernel use its values, for targets that have booleans beside words: a value then has up to two forms, its bits
// and whether they are not zero, and an emitter makes those that something uses.
#pragma once

#include <cstdint>
#include <vector>

#include "vyre/lower/kernel.hpp"

namespace vyre::emit {

class Uses {
 public:
  explicit Uses(const lower::Kernel& kernel);

  // Whether a live instruction uses the value in this form.
  bool as_bits(std::uint32_t value) const { return uses_[value].as_bits; }
  bool as_truth(std::uint32_t value) const { return uses_[value].as_truth; }
  // Whether the index of an access may depend on the value.
  bool as_index(std::uint32_t value) const { return uses_[value].as_index; }
  // Without uses, only an instruction that has an effect is made.
  bool is_made(std::uint32_t at) const { return lower::has_effect(kernel_.code[at].op) || uses_[at].as_bits || uses_[at].as_truth; }
  // Whether the value is 0 or 1, and made as a boolean.
  bool is_boolean(std::uint32_t value) const { return boolean_[value] != 0; }
  // Whether the instruction compares a boolean with zero, so that its result is that boolean or its opposite.
  bool tests_truth(const lower::Instruction& code) const {
    return (code.op == lower::Opcode::Eq || code.op == lower::Opcode::Ne) && is_boolean(code.a.index) && is_zero(code.b);
  }

 private:
  struct Use {
    bool as_bits = false, as_truth = false, as_index = false;
  };

  bool is_zero(lower::ValueId value) const {
    const lower::Instruction& instruction = kernel_.code[value.index];
    return instruction.op == lower::Opcode::Constant && instruction.imm == 0;
  }
  void note_operands(std::uint32_t at);
  // Finds what indices depend on, also by way of variables.
  void note_indices();

  const lower::Kernel& kernel_;
  std::vector<std::uint8_t> boolean_;  // by value
  std::vector<Use> uses_;              // by value
};

}  // namespace vyre::emit
