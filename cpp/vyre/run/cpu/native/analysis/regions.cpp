// Marks the instructions that all lanes of the workgroup take together: first the Barriers and the blocks around them, then the Returns and
// Breaks that end such blocks, and at last the Else and the end of each marked block. The code between marks is the regions.
#include <vector>

#include "vyre/run/cpu/kernel_reader.hpp"
#include "vyre/run/cpu/native/analysis/analyses.hpp"

namespace vyre::run::cpu::native {
namespace {

using lower::Kernel;
using lower::Opcode;

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

bool find_regions(const Kernel& kernel, Analysis& found) { return RegionFinder(kernel, found).run(); }

}  // namespace vyre::run::cpu::native
