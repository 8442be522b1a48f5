// The operations of a kernel, and facts about them for passes and targets. The rows stand in opcodes.def.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace vyre::lower {

enum class Opcode : std::uint8_t {
#define VYRE_OPCODE(op, name, ...) op,
#include "vyre/lower/opcodes.def"
};

// The meaning of an instruction's `imm`; None where it has none.
enum class Imm : std::uint8_t { None, Bits, Axis, Buffer, Shared, Variable, Lane, Private };

using OpcodeFlags = std::uint16_t;
enum : OpcodeFlags {
  kPlain = 0,               // has none of the properties below
  kEffect = 1 << 0,         // does more than make its value; an opcode without effects may be left out when its value is not used
  kLanewise = 1 << 1,       // arithmetic on u32: the result and each operand have one lane
  kDivides = 1 << 2,        // takes many times as long as other arithmetic
  kVariable = 1 << 3,       // reads or writes a variable
  kAccess = 1 << 4,         // reads or writes memory, at index a
  kChanges = 1 << 5,        // a load of writable memory may give another value after it than before it
  kReadsModifies = 1 << 6,  // reads the element and changes it in one step
  kOpens = 1 << 7,          // begins a region
  kCloses = 1 << 8,         // ends a region
  kJumps = 1 << 9,          // the code after it may be skipped, or run more than once
  kOptional = 1 << 10,      // a target may lack it (lower/target.hpp); lowering then expands it
  kCommutes = 1 << 11,      // op(a, b) = op(b, a)

  kLoad = kAccess,
  kStore = kAccess | kEffect | kChanges,
  kAtomic = kAccess | kEffect | kChanges | kReadsModifies,
  kControl = kEffect | kJumps,
  kBarrier = kEffect | kChanges,
};

// What a value is in targets that have more than words: the bits of its u32 lanes, or, of one lane, whether it is not zero.
enum class Form : std::uint8_t { Bits, Truth };
inline constexpr std::size_t kForms = 2;

// The forms of operand a, of the other operands and of the result. With `or_truths`, all are truths where the operands are made as such.
struct Forms {
  Form a = Form::Bits, others = Form::Bits, result = Form::Bits;
  bool or_truths = false;
};
inline constexpr Forms kBits{}, kTruths{Form::Truth, Form::Truth, Form::Truth}, kEither{.or_truths = true};
inline constexpr Forms kCompares{.result = Form::Truth}, kChooses{.a = Form::Truth};

struct OpcodeInfo {
  std::string_view name;
  Imm imm;
  OpcodeFlags flags;
  Forms forms;
};

inline constexpr OpcodeInfo kOpcodes[] = {
#define VYRE_OPCODE(op, name, imm, flags, forms, ...) {name, Imm::imm, flags, forms},
#include "vyre/lower/opcodes.def"
};
inline constexpr std::size_t kOpcodeCount = sizeof(kOpcodes) / sizeof(kOpcodes[0]);

constexpr const OpcodeInfo& info(Opcode op) { return kOpcodes[static_cast<std::size_t>(op)]; }
constexpr std::string_view name(Opcode op) { return info(op).name; }

constexpr bool has_effect(Opcode op) { return (info(op).flags & kEffect) != 0; }
constexpr bool is_lanewise(Opcode op) { return (info(op).flags & kLanewise) != 0; }
constexpr bool is_comparison(Opcode op) { return info(op).forms.result == Form::Truth; }
constexpr bool divides(Opcode op) { return (info(op).flags & kDivides) != 0; }
constexpr bool is_of_variable(Opcode op) { return (info(op).flags & kVariable) != 0; }
constexpr bool accesses_memory(Opcode op) { return (info(op).flags & kAccess) != 0; }
constexpr bool changes_memory(Opcode op) { return (info(op).flags & kChanges) != 0; }
constexpr bool is_atomic(Opcode op) { return (info(op).flags & kReadsModifies) != 0; }
constexpr bool opens(Opcode op) { return (info(op).flags & kOpens) != 0; }
constexpr bool closes(Opcode op) { return (info(op).flags & kCloses) != 0; }
constexpr bool jumps(Opcode op) { return (info(op).flags & kJumps) != 0; }
constexpr bool commutes(Opcode op) { return (info(op).flags & kCommutes) != 0; }
constexpr bool is_optional(Opcode op) { return (info(op).flags & kOptional) != 0; }

}  // namespace vyre::lower
