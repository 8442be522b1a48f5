// One walk from the last instruction to the first lets each cell live until its uses, so that a use in a loop keeps a cell from before the
// loop to the loop's end. The positions of a variable's accesses are collected on the way. The range of the variable covers them, and the
// loops around them if it may carry a value from one turn to the next.
#include <algorithm>
#include <array>
#include <cstddef>

#include "vyre/run/cpu/kernel_reader.hpp"
#include "vyre/run/cpu/native/analysis/analyse.hpp"

namespace vyre::run::cpu::native {
namespace {

class LiveRangeFinder : KernelReader {
 public:
  LiveRangeFinder(const Kernel& kernel, const std::vector<Form>& forms, Analysis& found)
      : KernelReader(kernel, found.uniformity), forms_(forms), found_(found) {}

  // Walks from the last instruction to the first, because a value is needed if one of its users is.
  void run() {
    accesses_.assign(kernel_.variables.size(), {});
    number_regions();
    for (std::uint32_t position = size_; position-- > 0;) {
      const Instruction& instruction = at(position);
      if (!found_.is_selected(position) || forms_[position] == Form::Folded) continue;
      if (instruction.op == Opcode::Lane || instruction.op == Opcode::Pack) continue;
      if (lower::is_of_variable(instruction.op)) accesses_[instruction.imm].push_back(position);
      const bool made = std::ranges::any_of(found_.of_value[position], [&](CellId id) { return lives(id); });
      const float weight = weight_at(position);
      if (const CellId first = found_.first_lane[position]; first != kNone) {
        if (made) {
          extend(found_.cells[first], position, 2 * position + 2);
          found_.cells[first].weight += weight;
        }
        if (lives(first)) use_first_lanes(instruction, position, weight);
        if (made || lives(first)) continue;
      }
      if (!made && !lower::has_effect(instruction.op)) continue;
      if (lower::divides(instruction.op) && varies(position)) found_.divides = true;
      if (divides_ids(instruction)) found_.divides = true;
      if (instruction.op == Opcode::Loop) {
        use_loop(position, weight);
      } else {
        use_operands(position, weight);
      }
    }
    for (auto& positions : accesses_) std::ranges::reverse(positions);
    settle_variables();
    find_crossings();
  }

 private:
  // The end of the outermost loop that contains the position, but not the definition; the position itself if there is no such loop.
  std::uint32_t until(std::uint32_t definition, std::uint32_t position) const {
    std::uint32_t result = position;
    for (std::uint32_t block = found_.around[position]; block != kNone && block >= definition; block = found_.around[block]) {
      if (at(block).op == Opcode::Loop && block > definition) result = kernel_.partner[block];
    }
    return result;
  }

  float weight_at(std::uint32_t position) const {
    float weight = 1;
    for (std::uint32_t block = found_.around[position]; block != kNone; block = found_.around[block]) {
      if (at(block).op == Opcode::Loop) weight *= 8;
      if (weight > 1e5f) break;
    }
    return weight;
  }

  // Whether the result may have the register of an operand. It may not if a part of it is written before all operands are read.
  bool reads_before_writing(std::uint32_t position) const {
    const Opcode op = at(position).op;
    if (op == Opcode::WriteVariable) return kernel_.variables[at(position).imm] == 1;
    if (at(position).lanes > 1) return false;
    return lower::is_lanewise(op) || op == Opcode::Select || op == Opcode::ReadVariable || op == Opcode::If;
  }

  // Whether the position is in the region that makes the value of the cell.
  bool is_near(const Cell& cell, std::uint32_t position) const {
    return cell.value != kNone && region_[cell.value] != kNone && region_[cell.value] == region_[position];
  }

  // Lets a cell live until `end`, where the instruction at the position reads it.
  void extend(Cell& cell, std::uint32_t position, std::uint32_t end) const {
    cell.end = std::max(cell.end, end);
    if (is_near(cell, position)) cell.near_end = std::max(cell.near_end, end);
  }

  void use(CellId id, std::uint32_t position, bool as_vector, float weight) {
    Cell& cell = found_.cells[id];
    const std::uint32_t held = reads_before_writing(position) ? 0 : 2;
    if (cell.value != kNone) extend(cell, position, 2 * until(cell.value, position) + held);
    cell.weight += weight;
    if (is_near(cell, position)) cell.near_weight += weight;
    cell.read_as_vector = cell.read_as_vector || (as_vector && !cell.varying);
  }

  void use_value(ValueId value, std::uint32_t position, bool as_vector, float weight) {
    if (!value.valid()) return;
    for (const CellId id : found_.of_value[value.index]) {
      if (id == kNone) continue;
      if (found_.cells[id].form == Form::Folded) {
        const Instruction& comparison = at(found_.cells[id].value);
        use_value(comparison.a, position, true, weight);  // goes as deep as a condition has comparisons
        use_value(comparison.b, position, true, weight);
      } else {
        use(id, position, as_vector, weight);
      }
    }
  }

  bool lives(CellId id) const { return id != kNone && found_.cells[id].end > found_.cells[id].begin; }
  bool is_row_access(const Instruction& instruction) const {
    return lower::accesses_memory(instruction.op) && !lower::is_atomic(instruction.op) && instruction.op != Opcode::LoadPrivate &&
           instruction.op != Opcode::StorePrivate && found_.first_lane[instruction.a.index] != kNone;
  }

  void use_first_lanes(const Instruction& instruction, std::uint32_t position, float weight) {
    if (instruction.op != Opcode::Add && instruction.op != Opcode::Sub) return;
    for (const ValueId operand : {instruction.a, instruction.b}) {
      const CellId first = found_.first_lane[operand.index];
      use(first != kNone ? first : found_.of_value[operand.index][0], position, false, weight);
    }
  }

  void use_operands(std::uint32_t position, float weight) {
    const Instruction& instruction = at(position);
    const bool as_vector = reads_vectors(position), row = is_row_access(instruction);
    const Ternary* const ternary = found_.ternaries.at(position);
    if (row) use(found_.first_lane[instruction.a.index], position, false, weight);
    if (found_.guards[position]) {
      const Instruction& condition = at(instruction.a);
      use(found_.first_lane[condition.a.index], position, false, weight);
      use_value(condition.b, position, false, weight);
    }
    for (const ValueId operand : {row ? ValueId{} : instruction.a, instruction.b, instruction.c, instruction.d}) {
      if (ternary == nullptr) use_value(operand, position, as_vector, weight);
    }
    for (const ValueId operand : ternary == nullptr ? std::array<ValueId, 3>{} : ternary->operands) {
      use_value(operand, position, true, weight);
    }
    for (const CellId id : found_.of_value[position]) {
      if (id == kNone || found_.cells[id].value != position) continue;
      found_.cells[id].weight += weight;
      found_.cells[id].near_weight += weight;
    }
  }

  void use_loop(std::uint32_t position, float weight) {
    const Instruction& instruction = at(position);
    use_value(instruction.a, position, varies(position), weight);
    use_value(instruction.b, position, varies(position), 8 * weight);
    for (const CellId bound : found_.of_value[instruction.b.index]) {
      if (bound != kNone) extend(found_.cells[bound], position, 2 * until_end(bound, position) + 2);
    }
    Cell& turn = found_.cells[found_.of_value[position][0]];
    turn.end = std::max(turn.end, 2 * kernel_.partner[position] + 2);
    turn.weight += 16 * weight;
  }

  std::uint32_t until_end(CellId bound, std::uint32_t loop) const {
    const std::uint32_t definition = found_.cells[bound].value == kNone ? 0 : found_.cells[bound].value;
    return std::max(kernel_.partner[loop], until(definition, loop));
  }

  // Whether the instruction is an id that is computed by a division by the workgroup's size along x.
  bool divides_ids(const Instruction& instruction) const {
    const std::uint32_t size = kernel_.workgroup_size[0];
    if (found_.whole_workgroups || (size & (size - 1)) == 0) return false;
    return instruction.op == Opcode::LocalId || instruction.op == Opcode::WorkgroupId;
  }

  // Whether the instruction works on whole vectors, so that it reads its uniform operands as vectors too.
  bool reads_vectors(std::uint32_t position) const {
    const Instruction& instruction = at(position);
    if (instruction.op == Opcode::WriteVariable) return uniformity_.variable_varies[instruction.imm];
    if (instruction.op == Opcode::If) return varies(instruction.a);
    if (instruction.op == Opcode::StorePrivate) return true;
    return varies(position) || varies(instruction.a) || varies(instruction.b);
  }

  void settle_variables() {
    for (std::size_t variable = 0; variable < accesses_.size(); ++variable) {
      const auto& positions = accesses_[variable];
      std::uint32_t begin = 0, end = 0;
      if (!positions.empty()) range_of(positions, begin, end);
      float weight = 0;
      for (const std::uint32_t position : positions) weight += weight_at(position);
      for (const CellId id : found_.of_variable[variable]) {
        if (id == kNone) continue;
        Cell& cell = found_.cells[id];
        cell.begin = 2 * begin;
        cell.end = 2 * end + 2;
        cell.weight = weight;
      }
    }
  }

  // Finds the live range of a variable from the positions of its accesses. If the first access is a write, and no access is outside of the
  // block of this write, the range begins with the write. Otherwise the variable may carry a value from one turn of a loop to the next, so
  // the range covers all loops around the accesses.
  void range_of(const std::vector<std::uint32_t>& positions, std::uint32_t& begin, std::uint32_t& end) const {
    begin = positions.front();
    end = positions.back();
    const std::uint32_t home = found_.around[begin];
    const std::uint32_t home_end = home == kNone ? size_ : at(home).op == Opcode::If ? if_end(home, begin) : kernel_.partner[home];
    if (at(begin).op == Opcode::WriteVariable && end <= home_end) {
      for (const std::uint32_t position : positions) end = std::max(end, until(begin, position));
      return;
    }
    for (const std::uint32_t position : positions) {
      for (std::uint32_t block = found_.around[position]; block != kNone; block = found_.around[block]) {
        if (at(block).op != Opcode::Loop) continue;
        begin = std::min(begin, block);
        end = std::max(end, kernel_.partner[block]);
      }
    }
  }
  // The end of the arm of an If in which the position stands.
  std::uint32_t if_end(std::uint32_t block, std::uint32_t position) const {
    const std::uint32_t middle = kernel_.partner[block];
    return at(middle).op == Opcode::Else && position > middle ? kernel_.partner[middle] : middle;
  }

  void number_regions() {
    region_.assign(size_ + 1, kNone);
    for (std::uint32_t k = 0; k < found_.regions.size(); ++k) {
      for (std::uint32_t position = found_.regions[k].begin; position < found_.regions[k].end; ++position) region_[position] = k;
    }
  }

  void find_crossings() {
    for (Cell& cell : found_.cells) {
      const std::uint32_t first = region_[cell.begin / 2], last = region_[std::min((cell.end - 1) / 2, size_)];
      cell.crosses = found_.regions.size() != 1 && (first == kNone || first != last);
      if (found_.regions.size() == 1 && found_.whole_workgroups) cell.crosses = first == kNone || first != last;
    }
  }

  const std::vector<Form>& forms_;
  Analysis& found_;
  std::vector<std::uint32_t> region_;                 // by instruction: the number of its region; kNone outside of regions
  std::vector<std::vector<std::uint32_t>> accesses_;  // by variable
};

}  // namespace

void find_live_ranges(const Kernel& kernel, const std::vector<Form>& forms, Analysis& found) {
  LiveRangeFinder(kernel, forms, found).run();
}

}  // namespace vyre::run::cpu::native
