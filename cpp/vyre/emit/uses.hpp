// How the instructions of a kernel use its values, for targets that have more than words: a value then has several forms
// (lower/opcode.hpp), and an emitter makes those that something uses.
#pragma once

#include <cstdint>
#include <vector>

#include "vyre/lower/kernel.hpp"

namespace vyre::emit {

class Uses {
 public:
  // Without `looks_at_indices`, nobody asks as_index().
  explicit Uses(const lower::Kernel& kernel, bool looks_at_indices = true);

  // The forms of the instruction's operands and of its result.
  const lower::Forms& forms(std::uint32_t at) const { return *forms_[at]; }
  // Whether a live instruction uses the value in this form.
  bool as(lower::Form form, std::uint32_t value) const { return (uses_[value].as & bit(form)) != 0; }
  // Whether a live instruction uses the value in this form alone, or not at all.
  bool as_nothing_but(lower::Form form, std::uint32_t value) const { return (uses_[value].as & ~bit(form)) == 0; }
  // Whether the index of an access depends on the value in such a way that a second load, which finds another value in memory, could lead
  // the access out of its array. It could not where the index is in range for all operands, as in `array[x & 15]` of 16 elements.
  bool as_index(std::uint32_t value) const { return uses_[value].as_index; }
  // Without uses, only an instruction that has an effect is made.
  bool is_made(std::uint32_t at) const { return lower::has_effect(kernel_.code[at].op) || uses_[at].as != 0; }
  // Whether the value is 0 or 1, and made as a boolean.
  bool is_boolean(std::uint32_t value) const { return forms(value).result == lower::Form::Truth; }
  // Whether the instruction compares a boolean with zero, so that its result is that boolean or its opposite.
  bool tests_truth(const lower::Instruction& code) const {
    return (code.op == lower::Opcode::Eq || code.op == lower::Opcode::Ne) && is_boolean(code.a.index) && is_zero(code.b);
  }

 private:
  struct Use {
    std::uint8_t as = 0;  // a bit for each form
    bool as_index = false;
  };
  static constexpr std::uint8_t bit(lower::Form form) { return static_cast<std::uint8_t>(1u << static_cast<unsigned>(form)); }

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
  std::vector<const lower::Forms*> forms_;  // by instruction
  std::vector<Use> uses_;                   // by value
};

}  // namespace vyre::emit
