// Describes what a target of the lowering can do by itself. Operators and accesses that it cannot do are expanded into opcodes that it has
// (lower/operators.cpp, lower/accesses.cpp), or replaced by an operation.
#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <string_view>

#include "vyre/ir/op_spec.hpp"
#include "vyre/lower/opcode.hpp"
#include "vyre/transform/replace_operators.hpp"

namespace vyre::lower {

// The opcodes that every target has, and some of the optional ones.
class OpcodeSet {
 public:
  constexpr OpcodeSet(std::initializer_list<Opcode> optional) {
    for (std::size_t index = 0; index < kOpcodeCount; ++index) contains_[index] = !is_optional(static_cast<Opcode>(index));
    for (const Opcode op : optional) contains_[static_cast<std::size_t>(op)] = true;
  }
  constexpr bool contains(Opcode op) const { return contains_[static_cast<std::size_t>(op)]; }

 private:
  std::array<bool, kOpcodeCount> contains_{};
};

struct Target {
  std::string_view name;
  OpcodeSet opcodes{};
  // Accesses to memory may be bounded (Instruction::bounded). Otherwise every access that may be out of range is guarded.
  bool bounded_accesses = false;
  // Buffers may have elements of 8 and of 16 bits (KernelBuffer::narrow). Otherwise the code accesses the words that contain them.
  bool accesses_8_bits = false, accesses_16_bits = false;
  // The operators that are replaced by operations before lowering, and the table that has these operations.
  std::span<const transform::OperatorBody> bodies{};
  const ir::OpTable* operations = nullptr;

  constexpr bool has(Opcode op) const { return opcodes.contains(op); }
  constexpr bool accesses(std::uint32_t narrow_bytes) const { return narrow_bytes == 1 ? accesses_8_bits : accesses_16_bits; }
};

// SPIR-V and WGSL.
inline constexpr Target kShaderTarget{.name = "shader"};
// A device that accesses elements of 8 or 16 bits itself, or has integers of 64 bits.
constexpr Target shader_target(bool accesses_8_bits, bool accesses_16_bits, bool integers_64_bits) {
  Target target = kShaderTarget;
  if (integers_64_bits) target.opcodes = {Opcode::WideMulHigh, Opcode::WideDiv, Opcode::WideMod};
  target.accesses_8_bits = accesses_8_bits;
  target.accesses_16_bits = accesses_16_bits;
  return target;
}
// The machine of the cpu backend.
inline constexpr Target kCpuTarget{.name = "cpu",
                                   .opcodes = {Opcode::RotateLeft, Opcode::RotateRight, Opcode::WideDiv, Opcode::WideMod},
                                   .bounded_accesses = true,
                                   .accesses_8_bits = true,
                                   .accesses_16_bits = true};
// PTX has predicates for all accesses.
inline constexpr Target kPtxTarget{
    .name = "ptx",
    .opcodes = {Opcode::RotateLeft, Opcode::RotateRight, Opcode::WideMulHigh, Opcode::WideDiv, Opcode::WideMod},
    .bounded_accesses = true,
    .accesses_8_bits = true,
    .accesses_16_bits = true};

}  // namespace vyre::lower
