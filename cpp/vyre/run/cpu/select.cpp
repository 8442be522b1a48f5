#include "vyre/run/cpu/select.hpp"

namespace vyre::run::cpu {
namespace {

using lower::Kernel;
using lower::Opcode;

// Whether the If at the position has no Else and is this pattern: if (index < length of the buffer) buffer[index] = value;
bool guards_only_a_store(const Kernel& kernel, std::size_t position) {
  const std::vector<lower::Instruction>& code = kernel.code;
  if (position + 2 >= code.size() || code[position].op != Opcode::If) return false;
  const lower::Instruction &condition = code[code[position].a.index], &store = code[position + 1];
  if (store.op != Opcode::StoreBuffer || code[position + 2].op != Opcode::EndIf) return false;
  if (condition.op != Opcode::Lt || condition.a != store.a) return false;
  const lower::Instruction& length = code[condition.b.index];
  return length.op == Opcode::Length && length.imm == store.imm;
}

// Drops the instructions whose values are not used any more.
void drop_unused(const Kernel& kernel, std::vector<Selected>& selected) {
  std::vector<std::uint32_t> uses(kernel.code.size(), 0);
  for (std::size_t position = 0; position < kernel.code.size(); ++position) {
    for_each_operand(kernel.code[position], selected[position], [&](std::uint32_t value) { ++uses[value]; });
  }
  for (std::size_t position = kernel.code.size(); position-- > 0;) {
    if (uses[position] != 0 || lower::has_effect(kernel.code[position].op)) continue;
    for_each_operand(kernel.code[position], selected[position], [&](std::uint32_t value) { --uses[value]; });
    selected[position] = Selected::Nothing;
  }
}

}  // namespace

std::vector<Selected> select_instructions(const Kernel& kernel) {
  std::vector<Selected> selected(kernel.code.size(), Selected::Itself);
  bool changed = false;
  for (std::size_t position = 0; position < kernel.code.size(); ++position) {
    if (!guards_only_a_store(kernel, position)) continue;
    selected[position] = selected[position + 2] = Selected::Nothing;
    selected[position + 1] = Selected::BoundedStore;
    changed = true;
  }
  if (changed) drop_unused(kernel, selected);
  return selected;
}

}  // namespace vyre::run::cpu
