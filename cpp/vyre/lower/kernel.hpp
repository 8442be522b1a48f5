// Defines Kernel, a program that is lowered for one target (lower/target.hpp). It has slots instead of names, u32 lanes instead of types,
// one operation in each instruction, and control flow that is still structured. The rules of the IR for indices out of bounds, division and
// shifts are expanded into instructions, unless an opcode of the target follows them.
//
// A value is 1, 2 or 4 u32 lanes: I32 is the same bits, Bool is 0 or 1, U64 is (low, high). Instruction k defines value k, and a definition
// dominates all uses of its value. A value that is defined in a loop is used only in the same turn of that loop. This is SSA form without
// phis: a quantity that changes over time is kept in a variable.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "vyre/base/id.hpp"
#include "vyre/ir/program.hpp"
#include "vyre/lower/opcode.hpp"

namespace vyre::lower {

struct ValueTag;
using ValueId = Id<ValueTag>;

struct Instruction {
  Opcode op;
  std::uint8_t lanes = 0;  // of the result; 0 when there is none
  // The index of this access may be out of range. A load then gives zeros, a store does nothing, and an atomic does nothing and gives 0.
  bool bounded = false;
  bool shared = false;  // of an atomic: it targets a shared array, not a buffer
  std::uint32_t imm = 0;
  ValueId a{}, b{}, c{}, d{};
  std::array<ValueId, 4> operands() const { return {a, b, c, d}; }  // an operand that the opcode lacks is invalid
  bool operator==(const Instruction&) const = default;
};
// Kernels may have a million instructions.
static_assert(sizeof(Instruction) == 24);

struct KernelBuffer {
  std::uint32_t lanes = 1;  // u32 lanes of an element; 1 for Bytes
  bool writable = false;    // ReadWrite
  bool atomic = false;      // some atomic targets it
  // The size of a narrow element in bytes, 1 or 2, if the target accesses such elements itself; otherwise 0. A load extends the element to
  // a lane, and a store keeps the low bits of a lane.
  std::uint32_t narrow = 0;
  ir::Extend extend{};  // of the elements' type
  // The buffer has narrow elements, but the code accesses the words that contain them. Opcode::Length still counts the narrow elements.
  bool packed = false;
  std::uint32_t bytes() const { return narrow != 0 ? narrow : 4 * lanes; }
  bool operator==(const KernelBuffer&) const = default;
};

struct SharedArray {
  std::uint32_t lanes = 1;
  std::uint32_t count = 1;  // elements; zero when a workgroup starts
  ir::Extend extend{};      // as for buffers
  bool atomic = false;      // some atomic targets it
  bool operator==(const SharedArray&) const = default;
};

// An array that each invocation has for itself.
struct PrivateArray {
  std::uint32_t lanes = 1;
  std::uint32_t count = 1;  // elements; zero when an invocation starts
  ir::Extend extend{};      // as for buffers
  bool operator==(const PrivateArray&) const = default;
};

struct Kernel {
  ir::WorkgroupSize workgroup_size{1, 1, 1};
  std::vector<KernelBuffer> buffers;  // slot k is ValidProgram::bound()[k]
  std::vector<SharedArray> shared;
  std::vector<PrivateArray> privates;
  std::vector<std::uint8_t> variables;  // lanes of each
  std::vector<Instruction> code;
  // By instruction, the index of its partner: an If has its Else, or its EndIf if there is no Else; an Else has its EndIf; a Loop has its
  // EndLoop, and an EndLoop its Loop. Every other instruction has its own index.
  std::vector<std::uint32_t> partner;

  std::uint64_t shared_bytes() const;
  std::uint64_t private_bytes() const;  // of one invocation
  bool operator==(const Kernel&) const = default;
};

// Computes Kernel::partner.
std::vector<std::uint32_t> partners(const std::vector<Instruction>& code);

// One line for each instruction, for tests and for debugging.
std::string to_text(const Kernel& kernel);
// Returns the line of the instruction at `position`.
std::string to_text(const Kernel& kernel, std::uint32_t position);

}  // namespace vyre::lower
