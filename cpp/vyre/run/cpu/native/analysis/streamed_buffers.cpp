#include <algorithm>
#include <cstddef>
#include <numeric>

#include "vyre/run/cpu/native/analysis/analyses.hpp"

namespace vyre::run::cpu::native {
namespace {

using lower::Instruction;
using lower::Opcode;

}  // namespace

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

}  // namespace vyre::run::cpu::native
