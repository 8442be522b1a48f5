#include "vyre/emit/uses.hpp"

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
}

void Uses::note_operands(std::uint32_t at) {
  const Instruction& it = kernel_.code[at];
  if (accesses_memory(it.op)) {
    uses_[it.a.index].as_index = true;
  } else if (uses_[at].as_index || it.op == Opcode::WriteVariable) {
    // A value that is read from a variable may be an index.
    for (const ValueId operand : {it.a, it.b, it.c, it.d}) {
      if (operand.valid()) uses_[operand.index].as_index = true;
    }
  }
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
