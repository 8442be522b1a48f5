#include "vyre/emit/spirv/hidden_conditions.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace vyre::emit {
namespace {

using lower::Instruction;
using lower::Kernel;
using lower::Opcode;
using lower::ValueId;

// The compiler knows the value once it knows the operands.
bool is_computed(Opcode op) { return is_lanewise(op) || op == Opcode::Select || op == Opcode::Lane || op == Opcode::Pack; }

// The operand that an instruction inverts, or negates, because `-(x + 1)` is an inverse, too.
std::optional<ValueId> inverted(const Kernel& kernel, const Instruction& it) {
  const auto is_ones = [&](ValueId value) {
    const Instruction& other = kernel.code[value.index];
    return other.op == Opcode::Constant && other.imm == ~0u;
  };
  switch (it.op) {
    case Opcode::Not:
    case Opcode::Neg:
    case Opcode::AddSat:
      return it.a;
    case Opcode::Sub:
      return is_ones(it.a) ? std::optional(it.b) : std::nullopt;
    case Opcode::Xor:
      if (is_ones(it.b)) return it.a;
      return is_ones(it.a) ? std::optional(it.b) : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::vector<bool> around_conditional_jumps(const Kernel& kernel) {
  std::vector<bool> found(kernel.code.size());
  std::vector<std::uint32_t> open;
  for (std::uint32_t at = 0; at < kernel.code.size(); ++at) {
    const Opcode op = kernel.code[at].op;
    if (op == Opcode::If) open.push_back(at);
    if (op == Opcode::EndIf) open.pop_back();
    if (op != Opcode::Return && op != Opcode::Break) continue;
    for (std::size_t k = 0; k + 1 < open.size(); ++k) found[open[k]] = true;
  }
  return found;
}

}  // namespace

std::vector<bool> hidden_conditions(const Kernel& kernel) {
  std::vector<bool> found = around_conditional_jumps(kernel);
  if (std::ranges::find(found, true) == found.end()) return {};
  // Operands precede their uses: a loop backwards finds what inverted values depend on, and one forwards what depends on that.
  std::vector<bool> reaches(kernel.code.size()), variables(kernel.variables.size());
  for (std::size_t at = kernel.code.size(); at-- > 0;) {
    const Instruction& it = kernel.code[at];
    if (const auto operand = inverted(kernel, it)) reaches[operand->index] = true;
    if (!reaches[at]) continue;
    if (it.op == Opcode::ReadVariable) variables[it.imm] = true;
    if (!is_computed(it.op)) continue;
    for (const ValueId operand : it.operands()) {
      if (operand.valid()) reaches[operand.index] = true;
    }
  }
  for (std::size_t at = 0; at < kernel.code.size(); ++at) {
    const Instruction& it = kernel.code[at];
    if (it.op == Opcode::Constant) reaches[at] = false;
    if (it.op == Opcode::ReadVariable) reaches[at] = variables[it.imm];
    if (is_computed(it.op)) {
      reaches[at] = std::ranges::any_of(it.operands(), [&](ValueId operand) { return operand.valid() && reaches[operand.index]; });
    }
    if (it.op == Opcode::If) found[at] = found[at] && reaches[it.a.index];
  }
  return found;
}

}  // namespace vyre::emit
