// All values start as uniform. A walk over the code marks values that vary because an operand varies, and variables that vary because a
// varying value is written or because lanes may have diverged where they are written. Walks are repeated until no further
// variable is marked, and no further Loop that some lanes leave by a Break before others.
#include "vyre/run/cpu/uniformity.hpp"

#include <algorithm>

namespace vyre::run::cpu {
namespace {

using lower::Kernel;
using lower::Opcode;
using lower::ValueId;

// The most walks. A variable that varies may make another one vary, so a program may need as many walks as it has variables. After this
// many walks, all variables are assumed to vary, and all Loops to be left by some lanes before others.
constexpr int kMaxWalks = 6;

bool id_varies(const Kernel& kernel, Batch batch, const lower::Instruction& instruction) {
  const bool is_id = instruction.op == Opcode::WorkgroupId || instruction.op == Opcode::LocalId || instruction.op == Opcode::InvocationId;
  if (!is_id) return false;
  const bool one_a_workgroup = kernel.workgroup_size[instruction.imm] == 1;
  if (instruction.op == Opcode::LocalId && one_a_workgroup) return false;
  switch (batch) {
    case Batch::Row:
      return instruction.imm == 0;
    case Batch::Workgroup:
      return instruction.op != Opcode::WorkgroupId && !one_a_workgroup;
    default:
      return true;
  }
}

// Walks over the code once. Returns whether it marked another variable, or another Loop that some lanes leave before others.
bool walk(const Kernel& kernel, Batch batch, Turns turns, Uniformity& found) {
  bool changed = false;
  std::vector<bool> parted{false};  // for each open block: whether lanes may have diverged in it
  std::vector<bool> apart{false};   // the same, but only for divergence by the innermost Loop and the Ifs in it
  std::vector<std::size_t> loops;
  for (std::size_t position = 0; position < kernel.code.size(); ++position) {
    const lower::Instruction& instruction = kernel.code[position];
    bool any = std::ranges::any_of(instruction.operands(), [&](ValueId operand) { return found.varies(operand); });
    switch (instruction.op) {
      case Opcode::ReadVariable:
        any = found.variable_varies[instruction.imm];
        break;
      case Opcode::WriteVariable:
        if ((any || parted.back()) && !found.variable_varies[instruction.imm]) {
          found.variable_varies[instruction.imm] = changed = true;
        }
        break;
      case Opcode::Loop:
        apart.push_back(any || found.parted_by_break[position]);
        parted.push_back(parted.back() || apart.back());
        if (turns == Turns::OfLanes) any = apart.back();
        loops.push_back(position);
        break;
      case Opcode::If:
        parted.push_back(parted.back() || any);
        apart.push_back(apart.back() || any);
        break;
      case Opcode::EndLoop:
        loops.pop_back();
        [[fallthrough]];
      case Opcode::EndIf:
        parted.pop_back();
        apart.pop_back();
        break;
      case Opcode::Break:
        if (apart.back() && !found.parted_by_break[loops.back()]) found.parted_by_break[loops.back()] = changed = true;
        break;
      default:
        any = any || lower::is_atomic(instruction.op) || instruction.op == Opcode::LoadPrivate || id_varies(kernel, batch, instruction);
    }
    found.varying[position] = any;
    found.divergent[position] = parted.back();
  }
  return changed;
}

}  // namespace

bool needs_whole_workgroups(const Kernel& kernel) {
  return !kernel.shared.empty() || std::ranges::count(kernel.code, Opcode::Barrier, &lower::Instruction::op) != 0;
}

Uniformity find_uniformity(const Kernel& kernel, Batch batch, Turns turns) {
  Uniformity found;
  found.whole_workgroups = batch == Batch::Workgroup;
  found.varying.assign(kernel.code.size(), false);
  found.divergent.assign(kernel.code.size(), false);
  found.variable_varies.assign(kernel.variables.size(), false);
  found.parted_by_break.assign(kernel.code.size(), false);
  for (int walks = 1; walk(kernel, batch, turns, found); ++walks) {
    if (walks <= kMaxWalks) continue;
    std::fill(found.variable_varies.begin(), found.variable_varies.end(), true);
    std::fill(found.parted_by_break.begin(), found.parted_by_break.end(), true);
  }
  return found;
}

}  // namespace vyre::run::cpu
