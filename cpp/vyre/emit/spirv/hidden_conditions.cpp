#include "vyre/emit/spirv/hidden_conditions.hpp"

#include <algorithm>
#include <array>
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

// Returns for each instruction whether it is an If that an inversion or a conditional Return or Break stands in. The list is empty if there
// is none, which most kernels find out by looking at each opcode once.
std::vector<bool> ifs_that_tell(const Kernel& kernel) {
  std::vector<bool> found;
  std::vector<std::uint32_t> open;
  const auto add = [&](std::size_t ifs) {
    found.resize(kernel.code.size());
    for (std::size_t k = 0; k < ifs; ++k) found[open[k]] = true;
  };
  for (std::uint32_t at = 0; at < kernel.code.size(); ++at) {
    const Instruction& it = kernel.code[at];
    switch (it.op) {
      case Opcode::If:
        open.push_back(at);
        break;
      case Opcode::EndIf:
        open.pop_back();
        break;
      case Opcode::Return:
      case Opcode::Break:
        if (open.size() > 1) add(open.size() - 1);
        break;
      case Opcode::Not:
      case Opcode::Neg:
      case Opcode::AddSat:
      case Opcode::Sub:
      case Opcode::Xor:
        if (!open.empty() && inverted(kernel, it)) add(open.size());
        break;
      default:
        break;
    }
  }
  return found;
}

}  // namespace

std::vector<bool> hidden_conditions(const Kernel& kernel) {
  std::vector<bool> found = ifs_that_tell(kernel);
  if (found.empty()) return found;
  // Operands precede their uses: a loop backwards finds what inverted values depend on, and one forwards what depends on that.
  std::vector<bool> reaches(kernel.code.size()), variables(kernel.variables.size());
  for (std::size_t at = kernel.code.size(); at-- > 0;) {
    const Instruction& it = kernel.code[at];
    if (const auto operand = inverted(kernel, it)) reaches[operand->index] = true;
    if (!reaches[at]) continue;
    if (it.op == Opcode::ReadVariable) variables[it.imm] = true;
    if (!is_computed(it.op)) continue;
    // A Select is known by what it chooses from: its condition is mostly the check of an index.
    for (const ValueId operand : it.op == Opcode::Select ? std::array{it.b, it.c, ValueId{}, ValueId{}} : it.operands()) {
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
