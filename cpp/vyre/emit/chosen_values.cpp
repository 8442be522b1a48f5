#include "vyre/emit/chosen_values.hpp"

#include <algorithm>
#include <iterator>

namespace vyre::emit {

using lower::Instruction;
using lower::Kernel;
using lower::Opcode;
using lower::ValueId;

bool is_checked_load(const Kernel& kernel, const Instruction& select) {
  const Opcode loads = kernel.code[select.b.index].op, zeros = kernel.code[select.c.index].op;
  return accesses_memory(loads) && !has_effect(loads) && (zeros == Opcode::Constant || zeros == Opcode::Pack);
}

const ChosenValues::Variable& ChosenValues::variable(std::uint32_t number) {
  if (variables_.empty()) {
    variables_.resize(kernel_.variables.size());
    for (const Instruction& it : kernel_.code) {
      if (it.op != Opcode::WriteVariable) continue;
      ++variables_[it.imm].writes;
      variables_[it.imm].written = it.a;
    }
  }
  return variables_[number];
}

bool ChosenValues::chooses(std::uint32_t at, std::vector<std::uint32_t>& operands) {
  const Instruction& it = kernel_.code[at];
  if (it.op == Opcode::Select) return !is_checked_load(kernel_, it);
  if (it.op == Opcode::ReadVariable) {
    const Variable& read = variable(it.imm);
    if (read.writes > 1) return true;
    if (read.writes == 1) operands.push_back(read.written.index);
  } else if (it.op == Opcode::Loop) {
    operands.push_back(it.a.index);
  } else if (is_computed(it.op) && !is_comparison(it.op)) {
    for (const ValueId each : it.operands()) {
      if (each.valid()) operands.push_back(each.index);
    }
  }
  return false;
}

bool ChosenValues::contains(ValueId value) {
  known_.resize(kernel_.code.size());
  std::vector<std::uint32_t> todo{value.index}, operands;
  while (!todo.empty()) {
    const std::uint32_t at = todo.back();
    operands.clear();
    Known& known = known_[at];
    if (known == Known::Nothing) {
      known = chooses(at, operands) ? Known::Is : operands.empty() ? Known::IsNot : Known::Opened;
      std::ranges::copy_if(operands, std::back_inserter(todo), [&](std::uint32_t each) { return known_[each] == Known::Nothing; });
      if (known == Known::Opened) continue;
    } else if (known == Known::Opened) {
      chooses(at, operands);
      // An operand that is open depends on this value, and counts as chosen.
      const auto is_not = [&](std::uint32_t each) { return known_[each] == Known::IsNot; };
      known = std::ranges::all_of(operands, is_not) ? Known::IsNot : Known::Is;
    }
    todo.pop_back();
  }
  return known_[value.index] == Known::Is;
}

std::vector<bool> checked_choices(const Kernel& kernel, const Opcodes& opcodes) {
  const bool may_choose = has(opcodes, Opcode::Select) || has(opcodes, Opcode::ReadVariable);
  if (!has(opcodes, Opcode::If) || !has(opcodes, Opcode::Length) || !may_choose) return {};
  ChosenValues chosen(kernel);
  std::vector<std::uint32_t> open;  // what decides a branch
  for (const Instruction& it : kernel.code) {
    if (it.op == Opcode::If) open.push_back(it.a.index);
  }
  std::vector<bool> result, seen(kernel.code.size());
  const auto check = [&](ValueId value, ValueId with) {
    if (kernel.code[with.index].op != Opcode::Length || !chosen.contains(value)) return;
    result.resize(kernel.code.size());
    result[value.index] = true;
  };
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    if (seen[at]) continue;
    seen[at] = true;
    const Instruction& it = kernel.code[at];
    if (it.op == Opcode::And || it.op == Opcode::Or) {
      open.insert(open.end(), {it.a.index, it.b.index});
    } else if (is_comparison(it.op)) {
      check(it.a, it.b);
      check(it.b, it.a);
    }
  }
  return result;
}

}  // namespace vyre::emit
