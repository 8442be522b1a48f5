// The operations of a kernel, and facts about them for passes and targets. The rows stand in opcodes.def.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace vyre::lower {

enum class Opcode : std::uint8_t {
#define VYRE_OPCODE(op, name, imm, flags, spirv, wgsl, ptx) op,
#include "vyre/lower/opcodes.def"
};

// The meaning of an instruction's `imm`; None where it has none.
enum class Imm : std::uint8_t { None, Bits, Axis, Buffer, Shared, Variable, Lane, Private };

using OpcodeFlags = std::uint16_t;
enum : OpcodeFlags {
  kPlain = 0,               // has none of the properties below
  kEffect = 1 << 0,         // does more than make its value; an opcode without effects may be left out when its value is not used
  kLanewise = 1 << 1,       // arithmetic on u32: the result and each operand have one lane
  kComparison = 1 << 2,     // gives 1 or 0
  kBitwise = 1 << 3,        // and, or, xor: operands that are 0 or 1 may be booleans, and then the result is a boolean
  kDivides = 1 << 4,        // takes many times as long as other arithmetic
  kVariable = 1 << 5,       // reads or writes a variable
  kAccess = 1 << 6,         // reads or writes memory, at index a
  kChanges = 1 << 7,        // a load of writable memory may give another value after it than before it
  kReadsModifies = 1 << 8,  // reads the element and changes it in one step
  kOpens = 1 << 9,          // begins a region
  kCloses = 1 << 10,        // ends a region
  kJumps = 1 << 11,         // the code after it may be skipped, or run more than once
  kOptional = 1 << 12,      // a target may lack it (lower/target.hpp); lowering then expands it

  kLoad = kAccess,
  kStore = kAccess | kEffect | kChanges,
  kAtomic = kAccess | kEffect | kChanges | kReadsModifies,
  kControl = kEffect | kJumps,
  kBarrier = kEffect | kChanges,
};

struct OpcodeInfo {
  std::string_view name;
  Imm imm;
  OpcodeFlags flags;
};

inline constexpr OpcodeInfo kOpcodes[] = {
#define VYRE_OPCODE(op, name, imm, flags, spirv, wgsl, ptx) {name, Imm::imm, flags},
#include "vyre/lower/opcodes.def"
};
inline constexpr std::size_t kOpcodeCount = sizeof(kOpcodes) / sizeof(kOpcodes[0]);

constexpr const OpcodeInfo& info(Opcode op) { return kOpcodes[static_cast<std::size_t>(op)]; }
constexpr std::string_view name(Opcode op) { return info(op).name; }

constexpr bool has_effect(Opcode op) { return (info(op).flags & kEffect) != 0; }
constexpr bool is_lanewise(Opcode op) { return (info(op).flags & kLanewise) != 0; }
constexpr bool is_comparison(Opcode op) { return (info(op).flags & kComparison) != 0; }
constexpr bool is_bitwise(Opcode op) { return (info(op).flags & kBitwise) != 0; }
constexpr bool divides(Opcode op) { return (info(op).flags & kDivides) != 0; }
constexpr bool is_of_variable(Opcode op) { return (info(op).flags & kVariable) != 0; }
constexpr bool accesses_memory(Opcode op) { return (info(op).flags & kAccess) != 0; }
constexpr bool changes_memory(Opcode op) { return (info(op).flags & kChanges) != 0; }
constexpr bool is_atomic(Opcode op) { return (info(op).flags & kReadsModifies) != 0; }
constexpr bool opens(Opcode op) { return (info(op).flags & kOpens) != 0; }
constexpr bool closes(Opcode op) { return (info(op).flags & kCloses) != 0; }
constexpr bool jumps(Opcode op) { return (info(op).flags & kJumps) != 0; }
constexpr bool is_optional(Opcode op) { return (info(op).flags & kOptional) != 0; }

}  // namespace vyre::lower
