#include "vyre/emit/places.hpp"

#include <utility>

namespace vyre::emit {

using lower::Instruction;
using lower::Kernel;
using lower::Opcode;
using lower::ValueId;

std::size_t place_count(const Kernel& kernel) {
  return kernel.buffers.size() + kernel.shared.size() + kernel.privates.size() + kernel.variables.size();
}

std::optional<std::size_t> place_of(const Kernel& kernel, const Instruction& it) {
  const std::size_t shared = kernel.buffers.size(), privates = shared + kernel.shared.size();
  switch (it.op) {
    case Opcode::LoadBuffer:
    case Opcode::StoreBuffer:
      return it.imm;
    case Opcode::LoadShared:
    case Opcode::StoreShared:
      return shared + it.imm;
    case Opcode::LoadPrivate:
    case Opcode::StorePrivate:
      return privates + it.imm;
    case Opcode::ReadVariable:
    case Opcode::WriteVariable:
      return privates + kernel.privates.size() + it.imm;
    default:
      if (!is_atomic(it.op)) return std::nullopt;
      return it.shared ? shared + it.imm : it.imm;
  }
}

bool may_be_alike(const Kernel& kernel, ValueId one, ValueId other) {
  constexpr int kMostLooked = 32;
  std::vector<std::pair<ValueId, ValueId>> open{{one, other}};
  for (int looked = 0; !open.empty() && looked < kMostLooked; ++looked) {
    const auto [left, right] = open.back();
    open.pop_back();
    if (left == right) continue;
    if (!left.valid() || !right.valid()) return false;
    const Instruction &a = kernel.code[left.index], &b = kernel.code[right.index];
    if (a.op != b.op || a.imm != b.imm) return false;
    open.insert(open.end(), {{a.a, b.a}, {a.b, b.b}, {a.c, b.c}, {a.d, b.d}});
  }
  return true;
}

std::vector<ValueId> parts_of(const Kernel& kernel, ValueId condition) {
  constexpr int kMostLooked = 8;
  std::vector<ValueId> open{condition}, parts;
  for (int looked = 0; !open.empty() && looked < kMostLooked; ++looked) {
    const ValueId value = open.back();
    const Instruction& it = kernel.code[value.index];
    open.pop_back();
    if (it.op == Opcode::And || it.op == Opcode::Or) {
      open.insert(open.end(), {it.a, it.b});
    } else {
      parts.push_back(value);
      // `not` is a comparison with 0.
      if (is_comparison(it.op) && is_comparison(kernel.code[it.a.index].op)) open.push_back(it.a);
      if (is_comparison(it.op) && is_comparison(kernel.code[it.b.index].op)) open.push_back(it.b);
    }
  }
  return parts;
}

Opcodes opcodes_of(const Kernel& kernel) {
  Opcodes found{};
  for (const Instruction& it : kernel.code) found[static_cast<std::size_t>(it.op)] = true;
  return found;
}

}  // namespace vyre::emit
