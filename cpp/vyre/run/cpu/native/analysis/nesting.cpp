#include <vector>

#include "vyre/run/cpu/kernel_reader.hpp"
#include "vyre/run/cpu/native/analysis/analyses.hpp"

namespace vyre::run::cpu::native {
namespace {

using lower::Kernel;
using lower::Opcode;

class NestingFinder : KernelReader {
 public:
  NestingFinder(const Kernel& kernel, Analysis& found) : KernelReader(kernel, found.uniformity), found_(found) {}

  bool run() {
    std::uint32_t depth = 0;
    found_.around.assign(size_, kNone);
    found_.exits.assign(size_, false);
    std::uint32_t open = kNone;
    for (std::uint32_t position = 0; position < size_; ++position) {
      const Opcode op = at(position).op;
      if (op == Opcode::EndIf || op == Opcode::EndLoop) {
        open = found_.around[open];
        --depth;
      }
      found_.around[position] = op == Opcode::Else ? found_.around[open] : open;
      if (op != Opcode::If && op != Opcode::Loop) continue;
      open = position;
      if (++depth > kDeepest) return false;
    }
    for (std::uint32_t position = 0; position < size_; ++position) {
      const Opcode op = at(position).op;
      if (lower::accesses_memory(op) && in_parted_loop(position)) found_.accesses_in_parted_loop = true;
      if (op != Opcode::Return && op != Opcode::Break) continue;
      mark_exit(position);
    }
    return true;
  }

 private:
  bool in_parted_loop(std::uint32_t position) const {
    for (std::uint32_t block = found_.around[position]; block != kNone; block = found_.around[block]) {
      if (at(block).op == Opcode::Loop && parts(block)) return true;
    }
    return false;
  }

  // Marks the blocks that the Return or Break at the position leaves, if some lanes may leave them while others go on.
  void mark_exit(std::uint32_t position) {
    const bool is_break = at(position).op == Opcode::Break;
    std::vector<std::uint32_t> left;
    bool parted = false;
    for (std::uint32_t block = found_.around[position]; block != kNone; block = found_.around[block]) {
      left.push_back(block);
      parted = parted || parts(block);
      if (is_break && at(block).op == Opcode::Loop) break;
    }
    if (!parted) return;
    for (const std::uint32_t block : left) found_.exits[block] = true;
    found_.returns = found_.returns || !is_break;
  }

  Analysis& found_;
};

}  // namespace

bool find_nesting(const Kernel& kernel, Analysis& found) { return NestingFinder(kernel, found).run(); }

}  // namespace vyre::run::cpu::native
