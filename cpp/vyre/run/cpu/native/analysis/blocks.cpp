#include <vector>

#include "vyre/run/cpu/kernel_reader.hpp"
#include "vyre/run/cpu/native/analysis/analyse.hpp"

namespace vyre::run::cpu::native {
namespace {

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

// Marks the instructions that all lanes of the workgroup take together: first the Barriers and the blocks around them, then the Returns and
// Breaks that end such blocks, and at last the Else and the end of each marked block. The code between marks is the regions.
class RegionFinder : KernelReader {
 public:
  RegionFinder(const Kernel& kernel, Analysis& found) : KernelReader(kernel, found.uniformity), found_(found) {}

  bool run() {
    found_.of_workgroup.assign(size_, false);
    if (!found_.whole_workgroups) {
      found_.regions = {{0, size_}};
      return true;
    }
    std::vector<bool>& whole = found_.of_workgroup;
    const auto mark_around = [&](std::uint32_t position, std::uint32_t up_to) {
      for (std::uint32_t block = found_.around[position]; block != up_to; block = found_.around[block]) {
        if (parts(block)) return false;
        whole[block] = true;
      }
      return true;
    };
    for (std::uint32_t position = 0; position < size_; ++position) {
      if (at(position).op != Opcode::Barrier) continue;
      whole[position] = true;
      if (!mark_around(position, kNone)) return false;
    }
    // A Return that all lanes reach together ends the region, so that all vectors have run the code before it.
    for (std::uint32_t position = 0; position < size_; ++position) {
      if (at(position).op != Opcode::Return) continue;
      bool parted = false;
      for (std::uint32_t block = found_.around[position]; block != kNone; block = found_.around[block]) parted = parted || parts(block);
      if (parted) continue;
      whole[position] = true;
      mark_around(position, kNone);
    }
    for (std::uint32_t position = 0; position < size_; ++position) {
      if (at(position).op != Opcode::Break) continue;
      std::uint32_t loop = found_.around[position];
      while (at(loop).op != Opcode::Loop) loop = found_.around[loop];
      if (!whole[loop]) continue;
      whole[position] = true;
      if (!mark_around(position, loop)) return false;
    }
    for (std::uint32_t position = 0; position < size_; ++position) {
      if (at(position).op != Opcode::If && at(position).op != Opcode::Loop) continue;
      if (!whole[position]) continue;
      for (std::uint32_t next = kernel_.partner[position]; next != position;) {  // the Else and the end of the block
        whole[next] = true;
        if (at(next).op != Opcode::Else) break;
        next = kernel_.partner[next];
      }
    }
    return cut();
  }

 private:
  bool cut() {
    std::uint32_t begin = 0;
    std::uint32_t last_whole = 0;
    for (std::uint32_t position = 0; position <= size_; ++position) {
      if (position < size_ && !found_.of_workgroup[position]) continue;
      if (position > begin) found_.regions.push_back({begin, position});
      begin = position + 1;
      if (position < size_) last_whole = position;
    }
    // Lanes that have returned are not remembered from one region to the next.
    for (std::uint32_t position = 0; position < last_whole; ++position) {
      if (at(position).op == Opcode::Return && !found_.of_workgroup[position]) return false;
    }
    return true;
  }

  Analysis& found_;
};

}  // namespace

bool find_nesting(const Kernel& kernel, Analysis& found) { return NestingFinder(kernel, found).run(); }

bool find_regions(const Kernel& kernel, Analysis& found) { return RegionFinder(kernel, found).run(); }

}  // namespace vyre::run::cpu::native
