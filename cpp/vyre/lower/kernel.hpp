// A program ready for any target: slots instead of names, u32 lanes instead of types, every rule of the IR (out of bounds,
// division, shifts) written out, one operation an instruction, control flow still structured.
//
// A value is 1, 2 or 4 u32 lanes: I32 is the same bits, Bool is 0 or 1, U64 is (low, high). Instruction k defines value k, and a
// value is used only where its definition is certain to have run in the same round (SSA without phis: what changes over
// time lives in variables).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vyre/base/id.hpp"
#include "vyre/ir/program.hpp"

namespace vyre::lower {

struct ValueTag;
using ValueId = Id<ValueTag>;

// What may be assumed of operands stands in the comment; emitters need no rule of their own.
enum class Opcode : std::uint8_t {
  // clang-format off
  Constant,        // imm: the bits; one lane
  WorkgroupId,     // imm: axis
  LocalId,         // imm: axis
  InvocationId,    // imm: axis
  Length,          // imm: buffer slot; in elements
  // One lane in, one lane out; modulo 2^32.
  Add, Sub, Mul, MulHigh,
  Div, Mod,        // the divisor is not zero
  SDiv, SMod,      // the divisor is neither 0 nor -1
  And, Or, Xor, Not, Neg,
  Shl, Shr, SShr,  // the amount is below 32
  Min, Max, SMin, SMax,
  Eq, Ne, Lt, Le, SLt, SLe,  // 1 or 0
  Popcount, ReverseBits,
  Clz, Ctz,        // the operand is not zero
  Select,          // a: one lane, zero or not; b if non-zero, else c; b and c have the same lanes
  Lane,            // lane imm of a
  Pack,            // a, b or a, b, c, d: two or four lanes
  ReadVariable,    // imm: variable
  WriteVariable,   // imm: variable, a: value
  LoadBuffer,      // imm: buffer slot, a: index, in range or 0 (every buffer has at least 16 bytes); raw lanes
  StoreBuffer,     // imm: buffer slot, a: index, in range, b: value
  LoadShared,      // imm: shared array, a: index, in range
  StoreShared,     // imm: shared array, a: index, in range, b: value
  AtomicAdd, AtomicAnd, AtomicOr, AtomicXor, AtomicMin, AtomicMax, AtomicExchange,  // imm: slot, a: index in range, b: value; the old value
  AtomicCompareExchange,     // imm: slot, a: index in range, b: expected, c: value; the old value
  If,              // a: one lane, zero or not
  Else,
  EndIf,
  Loop,            // from a to b, half-open; its value is the loop variable
  EndLoop,
  Barrier,         // uniform: orders buffers and shared arrays for the workgroup
  Return,          // ends this invocation; Else, EndIf, EndLoop or the end of the code follows
  // clang-format on
};
inline constexpr std::size_t kOpcodeCount = static_cast<std::size_t>(Opcode::Return) + 1;

struct Instruction {
  Opcode op;
  std::uint8_t lanes = 0;  // of the result; 0 when there is none
  std::uint32_t imm = 0;
  ValueId a{}, b{}, c{}, d{};
  bool operator==(const Instruction&) const = default;
};

struct KernelBuffer {
  std::uint32_t lanes = 1;  // u32 lanes an element; 1 for Bytes
  bool writable = false;    // ReadWrite
  bool atomic = false;      // some atomic targets it
  bool is_signed = false;   // of I32, for targets whose declarations tell it from U32; values are the same bits
  bool operator==(const KernelBuffer&) const = default;
};

struct SharedArray {
  std::uint32_t lanes = 1;
  std::uint32_t count = 1;  // elements; zero when a workgroup starts
  bool is_signed = false;   // as of buffers
  bool operator==(const SharedArray&) const = default;
};

struct Kernel {
  ir::WorkgroupSize workgroup_size{1, 1, 1};
  std::vector<KernelBuffer> buffers;  // slot k is ValidProgram::bound()[k]
  std::vector<SharedArray> shared;
  std::vector<std::uint8_t> variables;  // lanes of each
  std::vector<Instruction> code;
  // Index of the Else (or EndIf) of an If, of the EndIf of an Else, of the EndLoop of a Loop and of the Loop of an EndLoop.
  std::vector<std::uint32_t> partner;  // as long as code; own index where it means nothing

  std::uint64_t shared_bytes() const;
  bool operator==(const Kernel&) const = default;
};

// What Kernel::partner is for this code.
std::vector<std::uint32_t> partners(const std::vector<Instruction>& code);

// One line an instruction, for tests and the curious.
std::string to_text(const Kernel& kernel);
std::string_view name(Opcode op);

// Whether it does something beside making its value: without, it may be left out when nobody uses the value.
constexpr bool has_effect(Opcode op) { return op >= Opcode::WriteVariable && op != Opcode::LoadBuffer && op != Opcode::LoadShared; }

}  // namespace vyre::lower
