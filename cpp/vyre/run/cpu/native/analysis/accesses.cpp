#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "vyre/run/cpu/native/analysis/analyse.hpp"

namespace vyre::run::cpu::native {

void find_streamed_buffers(const lower::Kernel& kernel, Analysis& found) {
  std::vector<std::uint32_t> accesses(kernel.buffers.size()), stores(kernel.buffers.size());
  std::size_t open_loops = 0;
  for (const Instruction& instruction : kernel.code) {
    if (instruction.op == Opcode::Loop) ++open_loops;
    if (instruction.op == Opcode::EndLoop) --open_loops;
    const bool atomic = lower::is_atomic(instruction.op) && !instruction.shared;
    if (instruction.op != Opcode::LoadBuffer && instruction.op != Opcode::StoreBuffer && !atomic) continue;
    ++accesses[instruction.imm];
    if (instruction.op == Opcode::StoreBuffer && open_loops == 0) ++stores[instruction.imm];
  }
  found.streamed.resize(kernel.buffers.size());
  for (std::size_t k = 0; k < accesses.size(); ++k) {
    found.streamed[k] = accesses[k] == 1 && stores[k] == 1 && kernel.buffers[k].narrow == 0;
  }
  constexpr std::ptrdiff_t kOfAnAccess = 8;  // instructions
  const auto computed = std::ranges::count_if(kernel.code, [](const Instruction& i) { return i.op != Opcode::Constant; });
  const bool loops = std::ranges::any_of(kernel.code, [](const Instruction& i) { return i.op == Opcode::Loop; });
  const auto all = std::accumulate(accesses.begin(), accesses.end(), std::ptrdiff_t{0});
  found.waits_for_memory = !loops && std::ranges::count(found.streamed, true) != 0 && computed <= kOfAnAccess * all;
}

// Walks over the code twice, because a variable may bring a word from the end of a loop to its begin. The walk marks the words that gathers
// in loops load, and what is computed from them. A gather whose index is marked waits for another one.
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
