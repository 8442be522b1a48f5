#include <array>
#include <cstddef>

#include "vyre/run/cpu/kernel_reader.hpp"
#include "vyre/run/cpu/native/analysis/analyse.hpp"

namespace vyre::run::cpu::native {
namespace {

class CellMaker : KernelReader {
 public:
  CellMaker(const Kernel& kernel, const std::vector<Form>& forms, Analysis& found)
      : KernelReader(kernel, found.uniformity), forms_(forms), found_(found) {}

  void run() {
    make_cells();
    find_guards();
  }

 private:
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

  void find_guards() {
    found_.guards.assign(size_, false);
    for (std::uint32_t position = 0; position < size_; ++position) {
      if (at(position).op != Opcode::If || !found_.is_selected(position) || at(kernel_.partner[position]).op != Opcode::EndIf) continue;
      const Instruction& condition = at(at(position).a);
      if (condition.op != Opcode::Lt || found_.first_lane[condition.a.index] == kNone || varies(condition.b)) continue;
      found_.guards[position] = !found_.exits[position];
    }
  }

  const std::vector<Form>& forms_;
  Analysis& found_;
};

}  // namespace

void make_cells(const Kernel& kernel, const std::vector<Form>& forms, Analysis& found) { CellMaker(kernel, forms, found).run(); }

}  // namespace vyre::run::cpu::native
