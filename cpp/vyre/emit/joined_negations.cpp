#include "vyre/emit/joined_negations.hpp"

#include <algorithm>
#include <cstdint>

namespace vyre::emit {

using lower::Instruction;
using lower::Kernel;
using lower::Opcode;
using lower::ValueId;

namespace {

bool is_minimum_or_maximum(const Instruction& code) {
  return code.op == Opcode::Min || code.op == Opcode::Max || code.op == Opcode::SMin || code.op == Opcode::SMax ||
         code.op == Opcode::AddSat;
}

bool negates(const Kernel& kernel, const Instruction& it) {
  const auto is = [&](ValueId value, std::uint32_t number) {
    const Instruction& other = kernel.code[value.index];
    if (other.op == Opcode::LocalId) return number == 0 && kernel.workgroup_size[other.imm] == 1;
    return other.op == Opcode::Constant && other.imm == number;
  };
  if (it.op == Opcode::Sub) return is(it.a, 0);
  if (it.op == Opcode::Mul) return is(it.a, ~0u) || is(it.b, ~0u);
  return it.op == Opcode::Neg || it.op == Opcode::SDiv;
}

}  // namespace

std::vector<bool> joined_negations(const Kernel& kernel) {
  if (std::ranges::count_if(kernel.code, is_minimum_or_maximum) < 2) return {};
  std::vector<bool> found;
  for (std::size_t at = 0; at < kernel.code.size(); ++at) {
    if (!negates(kernel, kernel.code[at])) continue;
    found.resize(kernel.code.size());
    found[at] = true;
  }
  return found;
}

}  // namespace vyre::emit
