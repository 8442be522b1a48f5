#include "vyre/emit/uses.hpp"

#include <algorithm>
#include <utility>

#include "vyre/lower/ranges.hpp"

namespace vyre::emit {

using lower::Instruction;
using lower::Opcode;
using lower::Range;
using lower::ValueId;

namespace {

// Whether the opcode is defined for all operands of these ranges, which lowering may have made sure of by another value.
bool is_defined(Opcode op, const Range& b) {
  switch (op) {
    case Opcode::Div:
    case Opcode::Mod:
      return b.least > 0;
    case Opcode::Shl:
    case Opcode::Shr:
    case Opcode::SShr:
    case Opcode::RotateLeft:
    case Opcode::RotateRight:
      return b.greatest < 32;
    default:
      return true;
  }
}

}  // namespace

Uses::Uses(const lower::Kernel& kernel, bool looks_at_indices) : kernel_(kernel), forms_(kernel.code.size()), uses_(kernel.code.size()) {
  for (std::uint32_t at = 0; at < kernel.code.size(); ++at) {
    const Instruction& it = kernel.code[at];
    const lower::Forms& forms = info(it.op).forms;
    const bool truths = forms.or_truths && is_boolean(it.a.index) && is_boolean(it.b.index);
    forms_[at] = truths || tests_truth(it) ? &lower::kTruths : &forms;
  }
  for (auto at = static_cast<std::uint32_t>(kernel.code.size()); at-- > 0;) {
    if (is_made(at)) note_operands(at);
  }
  if (!looks_at_indices) return;
  note_indices({});
  const bool has_arrays = !kernel.shared.empty() || !kernel.privates.empty();
  if (!has_arrays || !loads_an_index()) return;
  for (Use& use : uses_) use.as_index = false;
  note_indices(safe_accesses());
}

bool Uses::loads_an_index() const {
  for (std::uint32_t at = 0; at < kernel_.code.size(); ++at) {
    const Instruction& it = kernel_.code[at];
    if (!is_atomic(it.op) && is_fixed(it) && uses_[at].as_index) return true;
  }
  return false;
}

bool Uses::is_fixed(const Instruction& it) const {
  return it.op == Opcode::LoadShared || is_atomic(it.op) || (it.op == Opcode::LoadBuffer && kernel_.buffers[it.imm].writable);
}

std::vector<bool> Uses::safe_accesses() const {
  std::vector<bool> is_safe(kernel_.code.size(), false);
  std::vector<Range> ranges(kernel_.code.size());
  for (std::uint32_t at = 0; at < kernel_.code.size(); ++at) {
    const Instruction& it = kernel_.code[at];
    const auto range = [&](ValueId value) { return value.valid() ? ranges[value.index] : Range{}; };
    const auto fits = [&](std::uint32_t count) { return ranges[it.a.index].greatest < count; };
    if (it.op == Opcode::Constant) {
      ranges[at] = Range::only(it.imm);
    } else if (it.op == Opcode::LocalId) {
      ranges[at] = Range::at_most(std::max(kernel_.workgroup_size[it.imm], 1u) - 1);
    } else if (it.lanes == 1 && (is_lanewise(it.op) || it.op == Opcode::Select) && is_defined(it.op, range(it.b))) {
      ranges[at] = range_of(it.op, range(it.a), range(it.b), range(it.c));
    } else if (it.op == Opcode::LoadShared || it.op == Opcode::StoreShared || it.shared) {
      is_safe[at] = fits(kernel_.shared[it.imm].count);
    } else if (it.op == Opcode::LoadPrivate || it.op == Opcode::StorePrivate) {
      is_safe[at] = fits(kernel_.privates[it.imm].count);
    }
  }
  return is_safe;
}

void Uses::note_indices(const std::vector<bool>& is_safe) {
  std::vector<std::vector<std::uint32_t>> written(kernel_.variables.size());  // by variable
  std::vector<std::uint32_t> pending;
  const auto note = [&](ValueId value) {
    if (!value.valid() || uses_[value.index].as_index) return;
    uses_[value.index].as_index = true;
    pending.push_back(value.index);
  };
  for (std::uint32_t at = 0; at < kernel_.code.size(); ++at) {
    const Instruction& it = kernel_.code[at];
    if (accesses_memory(it.op) && (is_safe.empty() || !is_safe[at])) note(it.a);
    if (it.op == Opcode::WriteVariable) written[it.imm].push_back(it.a.index);
  }
  while (!pending.empty()) {
    const Instruction& it = kernel_.code[pending.back()];
    pending.pop_back();
    if (it.op == Opcode::ReadVariable) {
      // The writes are taken out of the list, because the second read of the variable has nothing to add.
      for (const std::uint32_t value : std::exchange(written[it.imm], {})) note(ValueId{value});
    } else if (!is_fixed(it)) {
      for (const ValueId operand : it.operands()) note(operand);
    }
  }
}

void Uses::note_operands(std::uint32_t at) {
  const Instruction& it = kernel_.code[at];
  const lower::Forms& taken = forms(at);
  const auto note = [uses = uses_.data()](ValueId value, std::uint8_t form) {
    if (value.valid()) uses[value.index].as |= form;
  };
  // Read before the first note: a compiler takes a byte that is written for a part of anything.
  const ValueId b = it.b, c = it.c, d = it.d;
  const std::uint8_t others = bit(taken.others);
  const bool is_alone = tests_truth(it);  // without the zero
  note(it.a, bit(taken.a));
  if (is_alone) return;
  note(b, others);
  note(c, others);
  note(d, others);
}

}  // namespace vyre::emit
