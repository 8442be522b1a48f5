#include "vyre/emit/unused_lanes.hpp"

#include <cstdint>

namespace vyre::emit {
namespace {

// The most lanes of a group on a processor. llvmpipe groups invocations that differ along x alone.
constexpr std::uint64_t kLanes = 16;

}  // namespace

std::vector<bool> loops_closed_to_unused_lanes(const lower::Kernel& kernel) {
  if (kernel.workgroup_size[0] % kLanes == 0) return {};
  std::vector<bool> closed;
  std::vector<std::uint32_t> open;  // the loops around the current instruction that are not marked yet
  for (std::uint32_t at = 0; at < kernel.code.size(); ++at) {
    const lower::Opcode op = kernel.code[at].op;
    if (op == lower::Opcode::Loop) open.push_back(at);
    if (op == lower::Opcode::EndLoop && !open.empty() && kernel.partner[open.back()] == at) open.pop_back();
    if (op != lower::Opcode::Barrier || open.empty()) continue;
    closed.resize(kernel.code.size());
    for (const std::uint32_t loop : open) closed[loop] = true;
    open.clear();
  }
  return closed;
}

}  // namespace vyre::emit
