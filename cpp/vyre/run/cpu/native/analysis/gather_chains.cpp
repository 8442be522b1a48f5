// Walks over the code twice, because a variable may bring a word from the end of a loop to its begin. The walk marks the words that gathers
// in loops load, and what is computed from them. A gather whose index is marked waits for another one.
#include <algorithm>
#include <vector>

#include "vyre/run/cpu/native/analysis/analyses.hpp"

namespace vyre::run::cpu::native {
namespace {

using lower::Instruction;
using lower::Opcode;
using lower::ValueId;

}  // namespace

bool chains_gathers(const lower::Kernel& kernel, const Analysis& analysis) {
  std::vector<bool> marked(kernel.code.size(), false), variables(kernel.variables.size(), false);
  const auto is_marked = [&](ValueId value) { return value.valid() && marked[value.index]; };
  for (int walk = 0; walk < 2; ++walk) {
    int loops = 0;
    for (std::uint32_t position = 0; position < kernel.code.size(); ++position) {
      const Instruction& i = kernel.code[position];
      const bool loads = i.op == Opcode::LoadBuffer || i.op == Opcode::LoadShared;
      if (i.op == Opcode::Loop) ++loops;
      if (i.op == Opcode::EndLoop) --loops;
      if (i.op == Opcode::WriteVariable && is_marked(i.a)) variables[i.imm] = true;
      if (loads) {
        const bool gathers = loops != 0 && analysis.uniformity.varies(i.a) && !analysis.strides[i.a.index];
        if (gathers && is_marked(i.a)) return true;
        marked[position] = gathers;
      } else if (i.op == Opcode::ReadVariable) {
        marked[position] = variables[i.imm];
      } else if (i.op != Opcode::Loop) {
        marked[position] = std::ranges::any_of(i.operands(), is_marked);
      }
    }
  }
  return false;
}

}  // namespace vyre::run::cpu::native
