// The code that the reference interprets: a valid program's steps as a flat list of instructions over a flat array of u32 slots.
//
// Every value has a fixed place. Literals, lengths and ids have slots that are filled once; a local has a slot for as long as its
// block is open; the temporaries of one statement are free again at the next. An operation cannot call itself (V017), so its
// parameters, locals and result have fixed slots too, and a call is two copies and two jumps.
#pragma once

#include <cstdint>
#include <vector>

#include "vyre/base/id.hpp"
#include "vyre/ir/grid_id.hpp"
#include "vyre/ir/semantics.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run::reference {

using Slot = std::uint32_t;
using Address = std::uint32_t;  // index of an instruction

// clang-format off
enum class Opcode : std::uint8_t {
#define BINOP(enumerator, ...) Binary##enumerator,  // dest = op(a, b)
#define UNOP(enumerator, ...) Unary##enumerator,    // dest = op(a)
#include "vyre/ir/ops.def"
#define TERNOP(enumerator, ...) Ternary##enumerator,  // dest = op(a, b, c)
#include "vyre/ir/ternary.def"
#define LANES(kind, ...) Cast##kind,                // dest, `lanes` slots, is the cast of the b slots at a
#include "vyre/ir/casts.def"
  Copy,         // dest = a
  CopyLanes,    // dest = a, `lanes` slots
  SelectLanes,  // dest = a != 0 ? b : c, `lanes` slots
  Load,         // dest = buffer b at index a; zero when out of bounds
  LoadLanes,
  LoadBool,     // 0 or 1, whatever the host stored
  LoadNarrow,   // an element of `lanes` bytes, extended as extend() says
  Store,        // buffer b at index a = c; nothing when out of bounds
  StoreLanes,
  StoreNarrow,  // the low `lanes` bytes of c
  Atomic,       // dest = the element of buffer b at index a; element = `op` of it, expected d and value c
  Jump,         // to a
  JumpIfZero,   // to b when a == 0
  EnterLoop,    // to c when a >= b: no turn
  NextRound,    // ++a, to c when a < b
  Call,         // to a; b is the length of the callee, for Watch::spend()
  Leave,        // to the instruction after the Call
  Barrier,      // waits
  End,          // the invocation has ended
};
// clang-format on

struct Instruction {
  Opcode code;
  std::uint8_t lanes = 1;
  ir::AtomicOp op = ir::AtomicOp::Add;
  Slot dest = 0;
  std::uint32_t a = 0, b = 0, c = 0, d = 0;

  ir::Extend extend() const { return static_cast<ir::Extend>(d); }  // of LoadNarrow and StoreNarrow
};
static_assert(sizeof(Instruction) == 24);

// The ids have the first slots, three axes each.
inline constexpr Slot kIdSlots = 3 * ir::kGridIds.size();
constexpr Slot id_slot(ir::GridIdKind kind, std::size_t axis) { return static_cast<Slot>(static_cast<std::size_t>(kind) * 3 + axis); }

struct Code {
  struct Constant {
    Slot slot;
    std::uint32_t value;
  };
  struct Length {
    Slot slot;
    BufferId buffer;
  };

  std::vector<Instruction> instructions;
  std::vector<NodeId> statements;  // by instruction; invalid inside operations
  std::vector<Constant> constants;
  std::vector<Length> lengths;
  std::vector<BufferId> shared;    // Workgroup buffers that have memory: see accessed_buffers()
  std::vector<BufferId> privates;  // likewise, Private ones
  Slot slots = kIdSlots;
  bool barriers = false;
  // The number of slots that an invocation keeps while others run. These come first: ids, and the locals that are alive at a barrier.
  Slot kept = kIdSlots;
};

// Compiles a valid program, Calls included, to the reference's flat code.
Code compile(const validate::ValidProgram& program);

}  // namespace vyre::run::reference
