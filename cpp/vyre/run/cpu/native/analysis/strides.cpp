#include <cstdint>
#include <optional>

#include "vyre/run/cpu/kernel_reader.hpp"
#include "vyre/run/cpu/native/analysis/analyse.hpp"

namespace vyre::run::cpu::native {
namespace {

class StrideFinder : KernelReader {
 public:
  StrideFinder(const Kernel& kernel, Analysis& found) : KernelReader(kernel, found.uniformity), found_(found) {}

  void run() {
    found_.strides.assign(size_, std::nullopt);
    for (std::uint32_t position = 0; position < size_; ++position) {
      if (at(position).lanes == 1) found_.strides[position] = stride(position);
    }
  }

 private:
  // Whether a vector's lanes always are neighbours along x in one row of the workgroup.
  bool rows() const {
    const auto& size = kernel_.workgroup_size;
    return (size[1] == 1 && size[2] == 1) || size[0] % kWidest == 0;
  }
  static constexpr std::uint32_t kWidest = 16;

  std::optional<std::uint32_t> stride(std::uint32_t position) const {
    const Instruction& instruction = at(position);
    if (!varies(position)) return 0;
    const auto of = [&](ValueId value) { return found_.strides[value.index]; };
    const auto constant = [&](ValueId value) -> std::optional<std::uint32_t> {
      if (!is_constant(value)) return std::nullopt;
      return at(value).imm;
    };
    switch (instruction.op) {
      case Opcode::InvocationId:
      case Opcode::LocalId:
      case Opcode::WorkgroupId:
        return id_stride(instruction);
      case Opcode::Add:
        if (of(instruction.a) && of(instruction.b)) return *of(instruction.a) + *of(instruction.b);
        return std::nullopt;
      case Opcode::Sub:
        if (of(instruction.a) && of(instruction.b)) return *of(instruction.a) - *of(instruction.b);
        return std::nullopt;
      case Opcode::Mul:
        if (of(instruction.a) && constant(instruction.b)) return *of(instruction.a) * *constant(instruction.b);
        if (of(instruction.b) && constant(instruction.a)) return *of(instruction.b) * *constant(instruction.a);
        return both_same(instruction);
      case Opcode::Shl:
        if (of(instruction.a) && constant(instruction.b)) return *of(instruction.a) << (*constant(instruction.b) & 31);
        return both_same(instruction);
      case Opcode::Loop:
        return of(instruction.a);  // the variable rises by one in every lane, also in lanes that have left the loop
      default:
        return lower::is_lanewise(instruction.op) ? both_same(instruction) : std::nullopt;
    }
  }
  std::optional<std::uint32_t> both_same(const Instruction& instruction) const {
    const auto same = [&](ValueId value) { return !value.valid() || found_.strides[value.index] == 0u; };
    if (same(instruction.a) && same(instruction.b)) return 0;
    return std::nullopt;
  }
  std::optional<std::uint32_t> id_stride(const Instruction& instruction) const {
    const auto& size = kernel_.workgroup_size;
    if (!found_.whole_workgroups) {
      if (instruction.op == Opcode::InvocationId) return 1;  // only the axis x varies along a row
      if (size[0] % kWidest != 0) return std::nullopt;
      return instruction.op == Opcode::LocalId ? 1 : 0;
    }
    if (instruction.imm == 0) return rows() ? std::optional<std::uint32_t>(1) : std::nullopt;
    if (size[0] % kWidest == 0) return 0;
    return std::nullopt;
  }

  Analysis& found_;
};

}  // namespace

void find_strides(const Kernel& kernel, Analysis& found) { StrideFinder(kernel, found).run(); }

}  // namespace vyre::run::cpu::native
