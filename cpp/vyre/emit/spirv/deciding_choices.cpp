#include "vyre/emit/spirv/deciding_choices.hpp"

#include <cstddef>

namespace vyre::emit {

using lower::Instruction;
using lower::Kernel;
using lower::Opcode;
using lower::ValueId;

std::vector<bool> deciding_choices(const Kernel& kernel, const Opcodes& opcodes, bool may_have_short_ifs) {
  if (!has(opcodes, Opcode::If)) return {};
  const auto is_constant = [&](ValueId value) { return kernel.code[value.index].op == Opcode::Constant; };
  const auto is_choice = [&](std::size_t at) {
    while (kernel.code[at].op == Opcode::Lane) at = kernel.code[at].a.index;
    const Instruction& it = kernel.code[at];
    if (it.op == Opcode::ReadVariable) return may_have_short_ifs;
    return it.op == Opcode::Select && !is_constant(it.b) && !is_constant(it.c);
  };
  std::size_t first = 0;
  while (first < kernel.code.size() && !is_choice(first)) ++first;
  if (first == kernel.code.size()) return {};
  std::vector<bool> found, decides(kernel.code.size());
  for (std::size_t at = kernel.code.size(); at-- > first;) {
    const Instruction& it = kernel.code[at];
    if (it.op == Opcode::If) decides[it.a.index] = true;
    if (!decides[at]) continue;
    if (is_comparison(it.op) || it.op == Opcode::And || it.op == Opcode::Or) decides[it.a.index] = decides[it.b.index] = true;
    if (!is_choice(at)) continue;
    found.resize(kernel.code.size());
    found[at] = true;
  }
  return found;
}

}  // namespace vyre::emit
