// Says which invocation may touch which element, so that every order of the invocations gives the same bytes.
//
// Between two barriers a buffer has one role:
//   Constant  never written in this program: every invocation may read any element
//   Shared    not written until the next barrier: every invocation may read the elements of its workgroup
//   Own       every invocation has elements of its own, and may do anything with them, atomics included;
//             private memory always has this role
//   Atomic    every invocation may use one commutative atomic on any element, and nothing depends on its result
// Barriers order a workgroup alone, so storage whose role changes is split among the workgroups, and storage that is not split keeps its
// role. An index that is out of bounds may be used anywhere.
#pragma once

#include <cstdint>

#include "vyre/fuzz/case.hpp"
#include "vyre/fuzz/writer.hpp"

namespace vyre::fuzz {

enum class Role : std::uint8_t { Constant, Shared, Own, Atomic };

// How invocations are numbered for their own elements: an injection of 0 .. n - 1 into 0 .. span - 1.
struct Numbering {
  enum class Kind : std::uint8_t { Same, Backwards, Turned, Flipped } kind = Kind::Same;
  std::uint32_t flip = 0;  // Flipped: number ^ flip
  ExprId turn;             // Turned: (number + turn) % n, with a turn that is the same for the workgroup
  bool planes = false;     // element k of an invocation is k * stride + number, not number * each + k
  bool operator==(const Numbering&) const = default;
};

struct Phase {
  Role role = Role::Constant;
  Numbering numbering;                    // of Own
  ir::AtomicOp op{};                      // of Atomic
  std::uint32_t expected = 0, value = 0;  // of Atomic: of Exchange and CompareExchange, which commute with themselves only
  bool operator==(const Phase&) const = default;
};

struct Memory {
  ir::BufferDecl decl;
  NameId name;
  std::uint32_t length = 0;  // elements
  bool zeros = false;        // given as a number of zeros
  bool split = false;        // among the workgroups; of workgroup memory always
  std::uint32_t part = 0;    // elements of each workgroup; all of them when it is not split
  std::uint32_t each = 1;    // own elements of each invocation
  bool readable = true;      // false in clean programs for memory that is not written before
  bool idle = false;         // declared, perhaps measured, and nothing else
  Phase phase;

  // The type of the values that its elements load as and store.
  ir::DataType value() const { return ir::value_type(decl.element); }
  bool accessible() const { return decl.element != ir::DataType::Bytes && !idle; }
  bool takes_atomics() const { return decl.element == ir::kU32 && (decl.access == ir::BufferAccess::ReadWrite || decl.atomic); }
  bool switches() const { return split && phase.role != Role::Constant && accessible(); }
};

// The ids that indices are made of.
struct Ids {
  std::uint32_t invocations = 1;  // of a workgroup
  std::uint32_t workgroups = 1;
  ExprId local, group, me;  // linear: in the workgroup, of the workgroup, in the grid
};

// Writes indices. `any` is what an index may be computed from.
class Indices {
 public:
  Indices(Random& random, Writer& writer, const Ids& ids, bool clean) : random_(random), writer_(writer), ids_(ids), clean_(clean) {}

  // An element that no other invocation uses, in bounds or behind the end.
  ExprId own(const Memory& memory, ExprId any);
  // An element that belongs, or belonged, to another invocation of the workgroup under this numbering, `by` further on. Of split memory.
  ExprId neighbour(const Memory& memory, const Numbering& numbering, std::uint32_t by, ExprId any);
  // An element of this workgroup, or of everybody where the memory is not split.
  ExprId shared(const Memory& memory, ExprId any);
  // Behind the end, whatever `any` is.
  ExprId outside(const Memory& memory, ExprId any);

 private:
  ExprId based(const Memory& memory, ExprId index);
  ExprId numbered(const Memory& memory, const Numbering& numbering, ExprId number, ExprId any);

  Random& random_;
  Writer& writer_;
  const Ids& ids_;
  bool clean_;
};

// The smallest span that every numbering of `n` fits into.
std::uint32_t span_of(std::uint32_t n);

// A role for the time after a barrier; `turn` is an expression to turn by, or invalid.
Phase next_phase(Random& random, const Memory& memory, const Ids& ids, ExprId turn);
// For storage that keeps its role.
Phase first_phase(Random& random, Role role);

}  // namespace vyre::fuzz
