#include "vyre/fuzz/memory.hpp"

#include <bit>

#include "vyre/ir/ops.hpp"

namespace vyre::fuzz {

using ir::BinOp;

std::uint32_t span_of(std::uint32_t n) { return std::bit_ceil(n); }

ExprId Indices::based(const Memory& memory, ExprId index) {
  if (!memory.split || memory.decl.access == ir::BufferAccess::Workgroup) return index;
  if (ids_.workgroups == 1 && random_.chance(50)) return index;
  return writer_.add(writer_.times(ids_.group, memory.part), index);
}

ExprId Indices::numbered(const Memory& memory, const Numbering& numbering, ExprId number, ExprId any) {
  const std::uint32_t n = memory.split ? ids_.invocations : ids_.invocations * ids_.workgroups;
  switch (numbering.kind) {
    case Numbering::Kind::Same:
      break;
    case Numbering::Kind::Backwards:
      number = writer_.binary(BinOp::Sub, writer_.u32(n - 1), number);
      break;
    case Numbering::Kind::Turned:
      number = writer_.binary(BinOp::Mod, writer_.add(number, writer_.binary(BinOp::Mod, numbering.turn, writer_.u32(n))), writer_.u32(n));
      break;
    case Numbering::Kind::Flipped:
      number = writer_.binary(BinOp::BitXor, number, writer_.u32(numbering.flip));
      break;
  }
  const ExprId which = memory.each == 1     ? ExprId()
                       : random_.chance(50) ? writer_.u32(random_.below(memory.each))
                                            : writer_.below(any, memory.each);
  ExprId index = number;
  if (which.valid()) {
    index = numbering.planes ? writer_.add(writer_.times(which, memory.split ? span_of(n) : n), number)
                             : writer_.add(writer_.times(number, memory.each), which);
  }
  return based(memory, index);
}

ExprId Indices::neighbour(const Memory& memory, const Numbering& numbering, std::uint32_t by, ExprId any) {
  const ExprId number = writer_.binary(BinOp::Mod, writer_.add(ids_.local, by), writer_.u32(ids_.invocations));
  return numbered(memory, numbering, number, any);
}

ExprId Indices::own(const Memory& memory, ExprId any) {
  if (memory.decl.access == ir::BufferAccess::Private) {
    return !clean_ && random_.chance(10) ? outside(memory, any) : writer_.below(any, memory.length);
  }
  const ExprId index = numbered(memory, memory.phase.numbering, memory.split ? ids_.local : ids_.me, any);
  if (!clean_ && random_.chance(6)) return writer_.select(writer_.binary(BinOp::BitAnd, any, writer_.u32(1)), index, outside(memory, any));
  return index;
}

ExprId Indices::shared(const Memory& memory, ExprId any) {
  if (!clean_ && random_.chance(memory.split ? 5 : 15)) return memory.split ? outside(memory, any) : any;
  const std::uint32_t limit = memory.split ? memory.part : memory.length;
  if (limit == 0) return any;  // nothing is in bounds
  return based(memory, writer_.below(any, limit));
}

ExprId Indices::outside(const Memory& memory, ExprId any) {
  const std::uint32_t length = memory.length;
  const ExprId len = writer_.length(memory.name);
  switch (random_.below(7)) {
    case 0:
      return len;
    case 1:
      return writer_.add(len, writer_.below(any, 4));
    case 2:
      return writer_.binary(BinOp::Max, any, len);
    case 3:
      return writer_.binary(BinOp::BitOr, any, writer_.u32(0x80000000));
    case 4:
      return writer_.u32(length + random_.below(3));
    default: {
      // The byte offsets of these elements wrap at 4 GiB, where the indices do not.
      static constexpr std::uint32_t kFar[] = {0x10000000, 0x20000000, 0x40000000, 0x80000000, 0xC0000000, 0xFFFFFFFF, 0x3FFFFFFF};
      return writer_.u32(kFar[random_.below(std::size(kFar))]);
    }
  }
}

namespace {

Numbering numbering(Random& random, std::uint32_t n, ExprId turn) {
  Numbering result;
  result.planes = random.chance(40);
  switch (random.below(4)) {
    case 0:
      break;
    case 1:
      result.kind = Numbering::Kind::Backwards;
      break;
    case 2:
      if (!turn.valid()) break;
      result.kind = Numbering::Kind::Turned;
      result.turn = turn;
      break;
    default:
      result.kind = Numbering::Kind::Flipped;
      result.flip = random.below(span_of(n));
  }
  return result;
}

void choose_atomic(Random& random, Phase& phase) {
  phase.role = Role::Atomic;
  phase.op = random.pick(ir::kAtomicOps).op;
  phase.expected = random.below(4);
  phase.value = edge_u32(random);
}

}  // namespace

Phase next_phase(Random& random, const Memory& memory, const Ids& ids, ExprId turn) {
  Phase phase;
  const bool atomics = memory.takes_atomics();
  const std::uint32_t roll = random.below(100);
  if (atomics && roll < 25) {
    choose_atomic(random, phase);
  } else if (roll < 60 && memory.readable) {
    phase.role = Role::Shared;
  } else {
    phase.role = Role::Own;
    phase.numbering = numbering(random, ids.invocations, turn);
  }
  return phase;
}

Phase first_phase(Random& random, Role role) {
  Phase phase;
  phase.role = role;
  if (role == Role::Atomic) choose_atomic(random, phase);
  // Not flipped, which would take up to twice the elements.
  if (role == Role::Own) {
    phase.numbering.planes = random.chance(40);
    if (random.chance(30)) phase.numbering.kind = Numbering::Kind::Backwards;
  }
  return phase;
}

}  // namespace vyre::fuzz
