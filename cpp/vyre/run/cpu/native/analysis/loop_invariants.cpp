// The pass walks over the code four times. The first walk gives each value its level: the number of loops around it that it depends on. A
// value whose level is below its depth can stand before the loop at that level, because its operators are total: what they give for
// operands that the program never has, such as a divisor of zero, is not used. Loads can move too, from memory that nothing writes, and
// become bounded, because the check that their index is in range may stay behind.
//
// The second and the third walk choose what moves. A value that lives through a loop takes a register there or is read from memory in each
// turn, so moving pays if the value costs more than a load, if it is the same for all lanes (such values have general registers), or if it
// takes the place of an operand that would live through the loop otherwise. The fourth walk writes the code in its new order.
#include <algorithm>
#include <bit>

#include "vyre/run/cpu/kernel_reader.hpp"
#include "vyre/run/cpu/native/analysis/analyse.hpp"
#include "vyre/run/cpu/select.hpp"

namespace vyre::run::cpu::native {
namespace {

class Pass : KernelReader {
 public:
  explicit Pass(const Kernel& kernel) : KernelReader(kernel, found_) {}

  std::optional<Hoisted> run() {
    if (std::ranges::count(kernel_.code, Opcode::Loop, &Instruction::op) == 0) return std::nullopt;
    find_levels();
    if (std::ranges::all_of(target_, [](std::uint32_t loop) { return loop == kStays; })) return std::nullopt;
    found_ = find_uniformity(kernel_, needs_whole_workgroups(kernel_) ? Batch::Workgroup : Batch::Row, Turns::Shared);
    choose_costly();
    choose_replacing();
    if (std::ranges::count(moves_, true) == 0) return std::nullopt;
    return in_new_order();
  }

 private:
  static constexpr std::uint32_t kStays = ~std::uint32_t{0};

  // --- Levels ---

  void find_levels() {
    std::vector<std::vector<std::uint32_t>> writes(kernel_.variables.size());
    for (std::uint32_t position = 0; position < size_; ++position) {
      if (at(position).op == Opcode::WriteVariable) writes[at(position).imm].push_back(position);
    }
    target_.assign(size_, kStays);
    std::vector<std::size_t> levels(size_, 0);
    std::vector<std::uint32_t> loops;  // those that are open, the outermost first
    for (std::uint32_t position = 0; position < size_; ++position) {
      const Instruction& instruction = at(position);
      if (instruction.op == Opcode::EndLoop) loops.pop_back();
      if (instruction.op == Opcode::Loop) loops.push_back(position);
      std::size_t level = loops.size();
      if (instruction.op == Opcode::ReadVariable) {
        level = level_of_read(writes[instruction.imm], loops);
      } else if (can_move(instruction)) {
        level = 0;
        for_each_operand(instruction, [&](std::uint32_t value) { level = std::max(level, levels[value]); });
      }
      levels[position] = level;
      if (level < loops.size()) target_[position] = loops[level];
    }
  }

  // The number of the loops, from the outermost on, that write the variable.
  std::size_t level_of_read(const std::vector<std::uint32_t>& writes, const std::vector<std::uint32_t>& loops) const {
    std::size_t level = 0;
    for (; level < loops.size(); ++level) {
      const auto next = std::ranges::lower_bound(writes, loops[level]);
      if (next == writes.end() || *next > kernel_.partner[loops[level]]) break;
    }
    return level;
  }

  bool can_move(const Instruction& instruction) const {
    switch (instruction.op) {
      case Opcode::Constant:
      case Opcode::WorkgroupId:
      case Opcode::LocalId:
      case Opcode::InvocationId:
      case Opcode::Length:
      case Opcode::Select:
      case Opcode::Lane:
      case Opcode::Pack:
        return true;
      case Opcode::LoadBuffer:
        return !kernel_.buffers[instruction.imm].writable;
      default:
        return lower::is_lanewise(instruction.op);
    }
  }

  // --- Choice ---

  bool is_power_of_two(ValueId value) const {
    return is_constant(value) && static_cast<std::int32_t>(at(value).imm) > 0 && std::has_single_bit(at(value).imm);
  }

  // Whether the value takes several instructions to make.
  bool is_costly(std::uint32_t position) const {
    const Instruction& instruction = at(position);
    switch (instruction.op) {
      case Opcode::MulHigh:
      case Opcode::Popcount:
      case Opcode::ReverseBits:
      case Opcode::Clz:
      case Opcode::Ctz:
      case Opcode::LoadBuffer:
        return true;
      case Opcode::Constant:
      case Opcode::ReadVariable:
      case Opcode::Lane:
      case Opcode::Pack:
        return false;
      default:
        if (!varies(position)) return true;
        return lower::divides(instruction.op) && !is_power_of_two(instruction.b);
    }
  }

  // Chooses the costly values and, of their operands, what would stand behind them.
  void choose_costly() {
    moves_.assign(size_, false);
    for (std::uint32_t position = size_; position-- > 0;) {
      if (target_[position] == kStays || !(moves_[position] || is_costly(position))) continue;
      moves_[position] = true;
      for_each_operand(at(position), [&](std::uint32_t value) { moves_[value] = moves_[value] || target_[value] != kStays; });
    }
  }

  // Chooses values whose operands no other value in the loop needs: one value lives through it in place of another.
  void choose_replacing() {
    std::vector<std::uint32_t> staying(size_, 0);  // uses by what stays
    for (std::uint32_t position = 0; position < size_; ++position) {
      if (!moves_[position]) for_each_operand(at(position), [&](std::uint32_t value) { ++staying[value]; });
    }
    for (std::uint32_t position = 0; position < size_; ++position) {
      const Instruction& instruction = at(position);
      if (target_[position] == kStays || moves_[position] || instruction.lanes != 1) continue;
      if (lower::is_comparison(instruction.op) || !(lower::is_lanewise(instruction.op) || instruction.op == Opcode::Select)) continue;
      bool can = true, replaces = false;
      for_each_operand(instruction, [&](std::uint32_t value) {
        can = can && (moves_[value] || target_[value] == kStays || at(value).op == Opcode::Constant);
        replaces = replaces || (staying[value] == 1 && varies(value));
      });
      if (!can || !replaces) continue;
      moves_[position] = true;
      for_each_operand(instruction, [&](std::uint32_t value) {
        moves_[value] = moves_[value] || target_[value] != kStays;
        --staying[value];
      });
    }
  }

  // --- The new code ---

  Hoisted in_new_order() const {
    std::vector<std::vector<std::uint32_t>> before(size_);  // by loop
    for (std::uint32_t position = 0; position < size_; ++position) {
      if (moves_[position]) before[target_[position]].push_back(position);
    }
    Hoisted result{.kernel = kernel_, .origin = {}};
    result.origin.reserve(size_);
    for (std::uint32_t position = 0; position < size_; ++position) {
      const auto& moved = before[position];
      result.origin.insert(result.origin.end(), moved.begin(), moved.end());
      if (!moves_[position]) result.origin.push_back(position);
    }
    std::vector<std::uint32_t> now(size_);
    for (std::uint32_t position = 0; position < size_; ++position) now[result.origin[position]] = position;
    for (std::uint32_t position = 0; position < size_; ++position) {
      const std::uint32_t origin = result.origin[position];
      Instruction& instruction = result.kernel.code[position] = at(origin);
      for (ValueId* const operand : {&instruction.a, &instruction.b, &instruction.c, &instruction.d}) {
        if (operand->valid()) *operand = ValueId{now[operand->index]};
      }
      if (instruction.op == Opcode::LoadBuffer && moves_[origin]) instruction.bounded = true;
    }
    result.kernel.partner = lower::partners(result.kernel.code);
    return result;
  }

  Uniformity found_;
  std::vector<std::uint32_t> target_;  // by instruction: the loop that it can stand before, or kStays
  std::vector<bool> moves_;
};

}  // namespace

std::optional<Hoisted> hoist_loop_invariants(const Kernel& kernel) { return Pass(kernel).run(); }

}  // namespace vyre::run::cpu::native
