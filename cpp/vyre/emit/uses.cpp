#include "vyre/emit/uses.hpp"

#include <utility>

namespace vyre::emit {

using lower::Instruction;
using lower::Opcode;
using lower::ValueId;

Uses::Uses(const lower::Kernel& kernel) : kernel_(kernel), boolean_(kernel.code.size()), uses_(kernel.code.size()) {
  for (std::uint32_t at = 0; at < kernel.code.size(); ++at) {
    const Instruction& it = kernel.code[at];
    boolean_[at] = is_comparison(it.op) || (is_bitwise(it.op) && boolean_[it.a.index] != 0 && boolean_[it.b.index] != 0);
  }
  for (auto at = static_cast<std::uint32_t>(kernel.code.size()); at-- > 0;) {
    if (is_made(at)) note_operands(at);
  }
  note_indices();
}

void Uses::note_indices() {
  std::vector<std::vector<std::uint32_t>> written(kernel_.variables.size());  // by variable
  std::vector<std::uint32_t> pending;
  const auto note = [&](ValueId value) {
    if (!value.valid() || uses_[value.index].as_index) return;
    uses_[value.index].as_index = true;
    pending.push_back(value.index);
  };
  for (std::uint32_t at = 0; at < kernel_.code.size(); ++at) {
    const Instruction& it = kernel_.code[at];
    if (accesses_memory(it.op)) note(it.a);
    if (it.op == Opcode::WriteVariable) written[it.imm].push_back(it.a.index);
  }
  while (!pending.empty()) {
    const Instruction& it = kernel_.code[pending.back()];
    pending.pop_back();
    if (it.op == Opcode::ReadVariable) {
      // The writes are taken out of the list, because the second read of the variable has nothing to add.
      for (const std::uint32_t value : std::exchange(written[it.imm], {})) note(ValueId{value});
    } else {
      for (const ValueId operand : {it.a, it.b, it.c, it.d}) note(operand);
    }
  }
}

void Uses::note_operands(std::uint32_t at) {
  const Instruction& it = kernel_.code[at];
  if (it.op == Opcode::If) {
    uses_[it.a.index].as_truth = true;
  } else if (it.op == Opcode::Select) {
    uses_[it.a.index].as_truth = true;
    uses_[it.b.index].as_bits = true;
    uses_[it.c.index].as_bits = true;
  } else if (tests_truth(it)) {
    uses_[it.a.index].as_truth = true;
  } else {
    const bool truths = is_boolean(at) && !is_comparison(it.op);
    for (const ValueId operand : {it.a, it.b, it.c, it.d}) {
      if (operand.valid()) (truths ? uses_[operand.index].as_truth : uses_[operand.index].as_bits) = true;
    }
  }
}

}  // namespace vyre::emit
