// The code that the cpu backend's machine runs: a kernel's instructions over registers that hold a whole batch of invocations.
//
// If the invocations of a workgroup wait for each other or share memory, a batch is one workgroup. Otherwise it is any run of consecutive
// invocations. An operand is a vector register (one word for each lane) or a scalar register (one word that is the same in all lanes); the
// compiler decides which. Where control flow may diverge, an execution mask says which lanes are active, and code is skipped if no lane is
// active in it.
#pragma once

#include <cstdint>
#include <vector>

#include "vyre/lower/kernel.hpp"
#include "vyre/run/cpu/lanes.hpp"

namespace vyre::run::cpu {

enum class Op : std::uint8_t {
  // clang-format off
  Vector1, Vector2, Vector3,  // dest = functions[function](a), (a, b) or (a, b, c), all lanes
  Scalar1, Scalar2, Scalar3,  // likewise, once
  Wide,                 // dest = functions[function](a, b), of two registers each
  VectorCopy,           // dest = a, all lanes
  Blend,                // dest = a, active lanes
  ScalarCopy,
  // Accesses. imm: buffer, shared or private array; a: index. The words of an element lie in `lanes` consecutive registers. If `bounded`,
  // the index may be out of range: then a load gives zeros, a store does nothing, and an atomic does nothing and gives 0.
  Load, LoadShared,                // dest = element a, active lanes
  ScalarLoad, ScalarLoadShared,    // likewise, once
  Store, StoreShared,              // element a = b, active lanes
  ScalarStore, ScalarStoreShared,  // likewise, once
  LoadPrivate,          // dest = element a of the lane's own array, active lanes
  StorePrivate,         // element a of the lane's own array = b, active lanes
  Atomic, AtomicShared, // dest = the old element a; element a = `atomic` of it and b (compare-exchange: expected b, new c), active lanes
  // Control flow. `target` and `empty` are addresses of instructions. Execution continues at `empty` when no lane is active any more.
  JumpIfZero,           // to target when the scalar a is zero
  Jump,
  If,                   // lanes diverge by a; to target (an Else or EndIf) when a is zero in all active lanes
  Else,                 // to target (its EndIf) when no lane takes it
  EndIf,                // the lanes active before the If are active again; to empty when all of them have returned
  UniformLoop,          // scalar dest = a; to target (after the end) unless a < b
  UniformEndLoop,       // ++dest; to target (the body) while dest < b
  Loop,                 // vector dest = a; lanes with a < b are active; to target (after the end) when there are none
  EndLoop,              // ++dest; lanes with dest < b stay; to target (the body) while there are some, else as EndIf
  Return,               // the active lanes return; to empty
  Break,                // the active lanes leave the innermost Loop, in which `imm` divergent Ifs are open; to empty
  Stop,
  // clang-format on
};

inline constexpr std::uint32_t kScalar = 0x80000000u;  // marks an operand that is a scalar register
constexpr bool is_scalar(std::uint32_t operand) { return (operand & kScalar) != 0; }

// Says which id along x a register holds, if any. The machine knows for each batch whether these ids rise by one from lane to lane.
enum class Row : std::uint8_t {
  No,          // none: the machine has to look at the words of the register
  Invocation,  // the x of InvocationId
  Local,       // the x of LocalId
};
inline constexpr std::size_t kRows = 3;

struct Instruction {
  Op op = Op::Stop;
  std::uint8_t lanes = 1;
  std::uint8_t function = 0;  // of Vector, Scalar and Wide: an Opcode
  std::uint8_t form = 0;      // of Vector2: Form; of Vector3: 1 when b, 2 when c is a scalar; of vector accesses: Row of the index
  bool bounded = false;       // of accesses
  lower::Opcode atomic = lower::Opcode::AtomicAdd;
  std::uint32_t imm = 0;
  std::uint32_t dest = 0, a = 0, b = 0, c = 0;
  std::uint32_t target = 0, empty = 0;
};
static_assert(sizeof(Instruction) == 36);

// The register of an id that the code uses.
struct IdRegister {
  lower::Opcode id;  // WorkgroupId, LocalId or InvocationId
  std::uint32_t axis;
  std::uint32_t reg;
};

struct Code {
  bool whole_workgroups = false;                                 // a batch is a workgroup
  std::uint32_t vectors = 0;                                     // vector registers
  std::uint32_t private_words = 0;                               // words in the private arrays of one lane
  std::uint32_t depth = 0;                                       // the deepest nesting of divergent Ifs and Loops
  std::vector<Word> scalars;                                     // the constants; lengths and ids are filled in before a run
  std::vector<std::pair<std::uint32_t, std::uint32_t>> lengths;  // scalar register, buffer slot
  std::vector<IdRegister> ids;
  std::vector<Instruction> instructions;
};

// Time and memory are linear in the kernel's size. Throws std::bad_alloc only.
Code compile(const lower::Kernel& kernel);

}  // namespace vyre::run::cpu
