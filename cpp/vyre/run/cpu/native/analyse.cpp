// The analysis walks over the code a fixed number of times. It finds blocks and regions, uses and forms, strides, cells, and live ranges,
// in this order, because each step needs the results of the steps before it.
#include "vyre/run/cpu/native/analyse.hpp"

#include <algorithm>
#include <numeric>

#include "vyre/run/cpu/kernel_reader.hpp"
#include "vyre/run/cpu/native/forms.hpp"
#include "vyre/run/cpu/native/gather_chains.hpp"
#include "vyre/run/cpu/native/strides.hpp"

namespace vyre::run::cpu::native {
namespace {

using lower::Instruction;
using lower::Kernel;
using lower::Opcode;
using lower::ValueId;

// The deepest nesting of blocks that is translated. It is limited because some steps look at all blocks around a position.
constexpr std::uint32_t kDeepest = 64;  // the refusal below names this number, too

class Analyser : KernelReader {
 public:
  Analyser(const Kernel& kernel, Vectors vectors, Refusal& refusal, Analysis& found)
      : KernelReader(kernel, found.uniformity), vectors_(vectors), refusal_(refusal), found_(found) {}

  // Returns false if the kernel cannot be translated.
  bool run() {
    found_.whole_workgroups = needs_whole_workgroups(kernel_);
    found_.uniformity = find_uniformity(kernel_, found_.whole_workgroups ? Batch::Workgroup : Batch::Row, Turns::Shared);
    found_.selected = select_instructions(kernel_);
    if (!find_blocks()) {
      refusal_ = {"its Ifs and Loops are nested more than 64 deep", "nest fewer of them"};
      return false;
    }
    if (!find_regions()) {
      refusal_ = {"some invocations of a workgroup may not reach its Barriers together with the others",
                  "put Barriers only under conditions that are uniform in the workgroup, and divergent Returns behind the last one"};
      return false;
    }
    forms_ = find_forms(kernel_, found_);
    if (vectors_ == Vectors::Avx512) find_ternaries();
    find_strides(kernel_, found_);
    make_cells();
    find_guards();
    find_live_ranges();
    find_streamed();
    found_.chains_gathers = chains_gathers(kernel_, found_);
    return true;
  }

 private:
  // Whether control flow may diverge in the If or Loop that begins at position `block`.
  bool parts(std::uint32_t block) const { return at(block).op == Opcode::Loop ? uniformity_.parts_loop(block) : varies(at(block).a); }

  // --- Blocks and regions ---

  // Finds for each position the innermost If or Loop around it. The instructions that open and close a block lie outside of it, so around_
  // leads from the start of each block to the next outer one. Returns false if the nesting is too deep.
  bool find_blocks() {
    std::uint32_t depth = 0;
    around_.assign(size_, kNone);
    found_.exits.assign(size_, false);
    std::uint32_t open = kNone;
    for (std::uint32_t position = 0; position < size_; ++position) {
      const Opcode op = at(position).op;
      if (op == Opcode::EndIf || op == Opcode::EndLoop) {
        open = around_[open];
        --depth;
      }
      around_[position] = op == Opcode::Else ? around_[open] : open;
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

  bool in_parted_loop(std::uint32_t position) const {
    for (std::uint32_t block = around_[position]; block != kNone; block = around_[block]) {
      if (at(block).op == Opcode::Loop && parts(block)) return true;
    }
    return false;
  }

  // Marks the blocks that the Return or Break at the position leaves, if some lanes may leave them while others go on.
  void mark_exit(std::uint32_t position) {
    const bool is_break = at(position).op == Opcode::Break;
    std::vector<std::uint32_t> left;
    bool parted = false;
    for (std::uint32_t block = around_[position]; block != kNone; block = around_[block]) {
      left.push_back(block);
      parted = parted || parts(block);
      if (is_break && at(block).op == Opcode::Loop) break;
    }
    if (!parted) return;
    for (const std::uint32_t block : left) found_.exits[block] = true;
    found_.returns = found_.returns || !is_break;
  }

  bool find_regions() {
    found_.of_workgroup.assign(size_, false);
    if (!found_.whole_workgroups) {
      found_.regions = {{0, size_}};
      return true;
    }
    std::vector<bool>& whole = found_.of_workgroup;
    const auto mark_around = [&](std::uint32_t position, std::uint32_t up_to) {
      for (std::uint32_t block = around_[position]; block != up_to; block = around_[block]) {
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
      for (std::uint32_t block = around_[position]; block != kNone; block = around_[block]) parted = parted || parts(block);
      if (parted) continue;
      whole[position] = true;
      mark_around(position, kNone);
    }
    for (std::uint32_t position = 0; position < size_; ++position) {
      if (at(position).op != Opcode::Break) continue;
      std::uint32_t loop = around_[position];
      while (at(loop).op != Opcode::Loop) loop = around_[loop];
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

  void find_ternaries() {
    std::vector<bool> vectors(size_);
    for (std::uint32_t position = 0; position < size_; ++position) vectors[position] = varies(position) && forms_[position] == Form::Word;
    found_.ternaries = Ternaries(kernel_, found_.selected, vectors);
  }

  // --- Cells and live ranges ---

  // Whether the lanes of a group, and not only those of each of its vectors, are neighbours along x.
  bool lines() const {
    const auto& size = kernel_.workgroup_size;
    return !found_.whole_workgroups || (size[1] == 1 && size[2] == 1);
  }

  // Whether the value rises by one from lane to lane of a group, and its value in the first lane can be computed without the vectors: it is
  // an id, or the sum or difference of a uniform operand and an operand whose first lane is known.
  bool has_first_lane(std::uint32_t position) const {
    const Instruction& instruction = at(position);
    if (!varies(position) || !lines() || found_.strides[position] != 1u) return false;
    const auto follows = [&](ValueId row, ValueId uniform) { return found_.first_lane[row.index] != kNone && !varies(uniform); };
    switch (instruction.op) {
      case Opcode::InvocationId:
        return true;
      case Opcode::LocalId:
        return found_.whole_workgroups;
      case Opcode::Add:
        return follows(instruction.a, instruction.b) || follows(instruction.b, instruction.a);
      case Opcode::Sub:
        return follows(instruction.a, instruction.b);
      default:
        return false;
    }
  }

  CellId new_cell(std::uint32_t value, bool varying) {
    found_.cells.push_back({.value = value, .varying = varying});
    return static_cast<CellId>(found_.cells.size() - 1);
  }

  void make_cells() {
    const std::array<CellId, 4> none{kNone, kNone, kNone, kNone};
    found_.of_value.assign(size_, none);
    found_.of_variable.assign(kernel_.variables.size(), none);
    for (std::size_t variable = 0; variable < kernel_.variables.size(); ++variable) {
      for (std::uint32_t lane = 0; lane < kernel_.variables[variable]; ++lane) {
        found_.of_variable[variable][lane] = new_cell(kNone, uniformity_.variable_varies[variable]);
      }
    }
    found_.first_lane.assign(size_, kNone);
    for (std::uint32_t position = 0; position < size_; ++position) {
      const Instruction& instruction = at(position);
      if (!found_.is_selected(position) || instruction.lanes == 0) continue;
      if (has_first_lane(position)) {
        const CellId id = found_.first_lane[position] = new_cell(position, false);
        found_.cells[id].begin = found_.cells[id].end = 2 * position + 1;
        found_.cells[id].of_group = true;
      }
      auto& cells = found_.of_value[position];
      if (instruction.op == Opcode::Lane) {
        cells[0] = found_.of_value[instruction.a.index][instruction.imm];
        continue;
      }
      if (instruction.op == Opcode::Pack) {
        std::uint32_t lane = 0;
        for (const ValueId part : instruction.operands()) {
          if (part.valid()) cells[lane++] = found_.of_value[part.index][0];
        }
        continue;
      }
      for (std::uint32_t lane = 0; lane < instruction.lanes; ++lane) {
        cells[lane] = new_cell(position, varies(position));
        Cell& cell = found_.cells[cells[lane]];
        cell.begin = cell.end = 2 * position + 1;
        cell.form = forms_[position];
        cell.constant = instruction.op == Opcode::Constant;
      }
    }
  }

  // The end of the outermost loop that contains the position, but not the definition; the position itself if there is no such loop.
  std::uint32_t until(std::uint32_t definition, std::uint32_t position) const {
    std::uint32_t result = position;
    for (std::uint32_t block = around_[position]; block != kNone && block >= definition; block = around_[block]) {
      if (at(block).op == Opcode::Loop && block > definition) result = kernel_.partner[block];
    }
    return result;
  }

  float weight_at(std::uint32_t position) const {
    float weight = 1;
    for (std::uint32_t block = around_[position]; block != kNone; block = around_[block]) {
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

  // Walks from the last instruction to the first, because a value is needed if one of its users is.
  void find_live_ranges() {
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
    const std::uint32_t home = around_[begin];
    const std::uint32_t home_end = home == kNone ? size_ : at(home).op == Opcode::If ? if_end(home, begin) : kernel_.partner[home];
    if (at(begin).op == Opcode::WriteVariable && end <= home_end) {
      for (const std::uint32_t position : positions) end = std::max(end, until(begin, position));
      return;
    }
    for (const std::uint32_t position : positions) {
      for (std::uint32_t block = around_[position]; block != kNone; block = around_[block]) {
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

  void find_guards() {
    found_.guards.assign(size_, false);
    for (std::uint32_t position = 0; position < size_; ++position) {
      if (at(position).op != Opcode::If || !found_.is_selected(position) || at(kernel_.partner[position]).op != Opcode::EndIf) continue;
      const Instruction& condition = at(at(position).a);
      if (condition.op != Opcode::Lt || found_.first_lane[condition.a.index] == kNone || varies(condition.b)) continue;
      found_.guards[position] = !found_.exits[position];
    }
  }

  // A buffer that one store outside of loops writes, and nothing reads: each of its elements is in use once.
  void find_streamed() {
    std::vector<std::uint32_t> accesses(kernel_.buffers.size()), stores(kernel_.buffers.size());
    for (std::uint32_t position = 0; position < size_; ++position) {
      const Instruction& instruction = at(position);
      const bool atomic = lower::is_atomic(instruction.op) && !instruction.shared;
      if (instruction.op != Opcode::LoadBuffer && instruction.op != Opcode::StoreBuffer && !atomic) continue;
      ++accesses[instruction.imm];
      if (instruction.op == Opcode::StoreBuffer && weight_at(position) == 1) ++stores[instruction.imm];
    }
    found_.streamed.resize(kernel_.buffers.size());
    for (std::size_t k = 0; k < accesses.size(); ++k) {
      found_.streamed[k] = accesses[k] == 1 && stores[k] == 1 && kernel_.buffers[k].narrow == 0;
    }
    constexpr std::ptrdiff_t kOfAnAccess = 8;  // instructions
    const auto computed = std::ranges::count_if(kernel_.code, [](const Instruction& i) { return i.op != Opcode::Constant; });
    const bool loops = std::ranges::any_of(kernel_.code, [](const Instruction& i) { return i.op == Opcode::Loop; });
    const auto all = std::accumulate(accesses.begin(), accesses.end(), std::ptrdiff_t{0});
    found_.waits_for_memory = !loops && std::ranges::count(found_.streamed, true) != 0 && computed <= kOfAnAccess * all;
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

  const Vectors vectors_;
  Refusal& refusal_;
  Analysis& found_;
  std::vector<std::uint32_t> around_;
  std::vector<Form> forms_;
  std::vector<std::uint32_t> region_;  // by instruction: the number of its region; kNone outside of regions

  std::vector<std::vector<std::uint32_t>> accesses_;  // by variable
};

}  // namespace

std::optional<Analysis> analyse(const Kernel& kernel, Vectors vectors, Refusal& refusal) {
  Analysis found;
  if (!Analyser(kernel, vectors, refusal, found).run()) return std::nullopt;
  return found;
}

}  // namespace vyre::run::cpu::native
