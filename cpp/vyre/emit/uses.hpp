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
  // Whether the index of an access depends on the value in such a way that a second load, which finds another value in memory, could lead
  // the access out of its array. It could not where the index is in range for all operands, as in `array[x & 15]` of 16 elements.
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
  // Finds what indices depend on, also by way of variables. Leaves out accesses for which `is_safe` is true.
  void note_indices(const std::vector<bool>& is_safe);
  // Returns by instruction whether it accesses an array of a known size by an index that is in range whatever is in memory and variables.
  std::vector<bool> safe_accesses() const;
  // Whether an index depends on a load of memory that others may write.
  bool loads_an_index() const;
  // Whether the instruction reads memory that others may write. It does so once if an index depends on it, so that its result is one value
  // whatever its own index depends on.
  bool is_fixed(const lower::Instruction& instruction) const;

  const lower::Kernel& kernel_;
  std::vector<std::uint8_t> boolean_;  // by value
  std::vector<Use> uses_;              // by value
};

}  // namespace vyre::emit
