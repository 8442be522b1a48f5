// A value lives until its last use. If a loop contains that use but not the definition, the value lives until the end of the loop.
// A variable has its registers for the whole run. A value that is read from a variable, or written to it, may share the
// variable's registers as long as the variable keeps that value.
#include "vyre/run/cpu/live_ranges.hpp"

#include <algorithm>

#include "vyre/run/cpu/kernel_reader.hpp"

namespace vyre::run::cpu {
namespace {

using lower::Kernel;
using lower::Opcode;

class Computation : KernelReader {
 public:
  Computation(const Kernel& kernel, const Uniformity& uniformity, std::vector<Selected>& selected)
      : KernelReader(kernel, uniformity), selected_(selected) {}

  LiveRanges run() {
    find_last_uses();
    find_aliases();
    find_made_in();
    return std::move(result_);
  }

 private:
  bool is(std::uint32_t position, Opcode op) const { return selected_[position] == Selected::Itself && at(position).op == op; }

  void find_last_uses() {
    roots_.resize(size_);
    result_.last_use.resize(size_);
    writes_.assign(kernel_.variables.size(), {});
    std::vector<std::uint32_t> loops;
    for (std::uint32_t position = 0; position < size_; ++position) {
      const lower::Instruction& instruction = at(position);
      roots_[position] = is(position, Opcode::Lane) ? roots_[instruction.a.index] : position;
      result_.last_use[position] = position;
      if (is(position, Opcode::WriteVariable)) writes_[instruction.imm].push_back(position);
      if (instruction.op == Opcode::Loop) loops.push_back(position);
      for_each_operand(instruction, selected_[position], [&](std::uint32_t value) {
        // Each turn of a loop around the use reads the value again. The bounds of a loop are read in each turn, too.
        const std::uint32_t root = roots_[value];
        std::uint32_t until = position;
        const auto outermost = std::upper_bound(loops.begin(), loops.end(), root);
        if (outermost != loops.end()) until = kernel_.partner[*outermost];
        result_.last_use[root] = std::max(result_.last_use[root], until);
      });
      if (instruction.op == Opcode::Loop) result_.last_use[position] = kernel_.partner[position];
      if (instruction.op == Opcode::EndLoop) loops.pop_back();
    }
  }

  bool written_between(std::uint32_t variable, std::uint32_t after, std::uint32_t before) const {
    const auto& positions = writes_[variable];
    const auto next = std::upper_bound(positions.begin(), positions.end(), after);
    return next != positions.end() && *next < before;
  }

  void find_aliases() {
    result_.is_alias.assign(size_, false);
    reads_.assign(kernel_.variables.size(), {});
    for (std::uint32_t position = 0; position < size_; ++position) {
      if (!is(position, Opcode::ReadVariable)) continue;
      const std::uint32_t variable = at(position).imm, last_use = result_.last_use[position];
      const bool is_alias = !written_between(variable, position, last_use);
      result_.is_alias[position] = is_alias;
      auto& reads = reads_[variable];
      reads.push_back({position, std::max(is_alias ? last_use : position, reads.empty() ? 0 : reads.back().until)});
    }
  }

  // Coalesces values with variables: where a value is written to a variable, and the variable's register is free from the definition of the
  // value on, the value is computed in that register and the write is dropped. Definition and write must be in the same basic block.
  void find_made_in() {
    result_.made_in.assign(size_, LiveRanges::kNoVariable);
    // By variable: the last use of the value that was last computed in its register.
    std::vector<std::uint32_t> held_until(kernel_.variables.size(), 0);
    std::uint32_t straight = 0;  // where the basic block of the position starts; a Barrier ends a block, too
    for (std::uint32_t position = 0; position < size_; ++position) {
      const lower::Instruction& instruction = at(position);
      if (selected_[position] == Selected::Nothing) continue;
      if (lower::jumps(instruction.op) || instruction.op == Opcode::Barrier) straight = position;
      if (!is(position, Opcode::WriteVariable) || uniformity_.divergent[position]) continue;
      const std::uint32_t value = instruction.a.index, variable = instruction.imm;
      if (value < straight || !can_be_made_in(variable, value, position) || held_until[variable] > value) continue;
      result_.made_in[value] = variable;
      held_until[variable] = result_.last_use[value];
      selected_[position] = Selected::Nothing;
    }
  }

  // Whether the value can be computed in the register of the variable, into which the instruction at `write` writes it.
  bool can_be_made_in(std::uint32_t variable, std::uint32_t value, std::uint32_t write) const {
    if (!uniformity_.variable_varies[variable] || !varies(value) || at(value).lanes != 1) return false;
    if (selected_[value] != Selected::Itself || !is_elementwise(kernel_, uniformity_, value)) return false;
    if (roots_[value] != value || result_.made_in[value] != LiveRanges::kNoVariable) return false;
    // Other uses of the value read it from the variable, so the variable must still hold it there.
    if (written_between(variable, value, write) || written_between(variable, write, result_.last_use[value])) return false;
    // No value that was read from the variable before may be needed after the new value is made.
    const auto& reads = reads_[variable];
    const auto next = std::ranges::lower_bound(reads, write, {}, &Read::position);
    if (next == reads.begin()) return true;
    const Read& before = *std::prev(next);
    return before.position <= value && before.until <= value;
  }

  struct Read {
    std::uint32_t position;
    std::uint32_t until;  // the last use of this read and of those before it
  };

  std::vector<Selected>& selected_;
  LiveRanges result_;
  std::vector<std::uint32_t> roots_;                // by value: the value in whose registers it lies
  std::vector<std::vector<std::uint32_t>> writes_;  // by variable: the positions of its writes
  std::vector<std::vector<Read>> reads_;            // by variable
};

}  // namespace

LiveRanges compute_live_ranges(const Kernel& kernel, const Uniformity& uniformity, std::vector<Selected>& selected) {
  return Computation(kernel, uniformity, selected).run();
}

bool is_elementwise(const Kernel& kernel, const Uniformity& uniformity, std::uint32_t value) {
  const lower::Instruction& instruction = kernel.code[value];
  if (instruction.lanes != 1) return false;
  return lower::is_lanewise(instruction.op) || (instruction.op == Opcode::Select && uniformity.varies(instruction.a));
}

}  // namespace vyre::run::cpu
