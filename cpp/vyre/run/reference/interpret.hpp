// Interprets one invocation's code from a given address until it ends, waits at a barrier, or pauses for others.
//
// It is a template, so that a plain run pays nothing for the observers of schedules and checked execution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vyre/ir/ops.hpp"
#include "vyre/ir/semantics.hpp"
#include "vyre/run/reference/group.hpp"
#include "vyre/run/reference/machine.hpp"

namespace vyre::run::reference {

// The interface of an observer of a dispatch; this one does nothing. Accesses are reported before they take place; `slots` are the
// invocation's. Several workgroups may run at a time, each under a number of its own.
struct Unobserved {
  void start(std::size_t /*number*/, const Group&) {}                  // a workgroup and its first phase begin
  void pass_barrier(std::size_t /*number*/) {}                         // its next phase begins
  void enter(std::size_t /*number*/, std::uint32_t /*invocation*/) {}  // the next accesses are of this invocation
  void diverged(const Group& group) { group.throw_diverged(); }        // the workgroup cannot go on and ends here

  // An instruction is about to run; one at which the invocation pauses comes again.
  void follow(const Instruction&, const std::uint32_t* /*slots*/) {}
  void load(const Instruction&, std::size_t /*index*/) {}
  void store(const Instruction&, std::size_t /*index*/, const std::uint32_t* /*slots*/) {}
  void atomic(const Instruction&, std::size_t /*index*/, std::uint32_t /*old*/, std::uint32_t /*value*/) {}
  void outside(const Instruction&, std::size_t /*index*/, const std::uint32_t* /*slots*/) {}
};

class Machine {
 public:
  // Both must outlive the machine.
  Machine(const Code& code, Watch& watch) : code_(code), watch_(watch) {}

  // Runs an invocation from `at` on, and returns the address of the Barrier or End where it stopped. With kPauses, it also stops after
  // `accesses` accesses to writable memory, before the next one, and returns the address of that one, so that the invocation can go on
  // there. `memory` is indexed by BufferId.
  template <bool kPauses, class Observer>
  Address run(std::uint32_t* slot, const Memory* memory, Address at, std::uint32_t accesses, Observer& observer);

 private:
  const Code& code_;
  Watch& watch_;
  std::vector<Address> calls_;  // the return address of each open Call; operations access no memory, so none is open at a pause
};

template <bool kPauses, class Observer>
Address Machine::run(std::uint32_t* const slot, const Memory* const memory, Address at, std::uint32_t accesses, Observer& observer) {
  const Instruction* const code = code_.instructions.data();
  const Instruction* next = code + at;
  auto pause = [&accesses](const Memory& buffer) {
    if constexpr (!kPauses) return false;
    return buffer.writable && accesses-- == 0;
  };
  for (;;) {
    const Instruction& i = *next++;
    observer.follow(i, slot);
    switch (i.code) {
#define BINOP(enumerator, ...)                                            \
  case Opcode::Binary##enumerator:                                        \
    slot[i.dest] = evaluate(ir::BinOp::enumerator, slot[i.a], slot[i.b]); \
    break;
#define UNOP(enumerator, ...)                                 \
  case Opcode::Unary##enumerator:                             \
    slot[i.dest] = evaluate(ir::UnOp::enumerator, slot[i.a]); \
    break;
#include "vyre/ir/ops.def"
#define TERNOP(enumerator, ...)                                                       \
  case Opcode::Ternary##enumerator:                                                   \
    slot[i.dest] = evaluate(ir::TernOp::enumerator, slot[i.a], slot[i.b], slot[i.c]); \
    break;
#include "vyre/ir/ternary.def"
#define LANES(kind, ...)                                                       \
  case Opcode::Cast##kind:                                                     \
    ir::cast(ir::CastKind::kind, {slot + i.a, i.b}, {slot + i.dest, i.lanes}); \
    break;
#include "vyre/ir/casts.def"
      case Opcode::Copy:
        slot[i.dest] = slot[i.a];
        break;
      case Opcode::CopyLanes:
        for (std::uint32_t lane = 0; lane < i.lanes; ++lane) slot[i.dest + lane] = slot[i.a + lane];
        break;
      case Opcode::SelectLanes: {
        const Slot chosen = slot[i.a] != 0 ? i.b : i.c;
        for (std::uint32_t lane = 0; lane < i.lanes; ++lane) slot[i.dest + lane] = slot[chosen + lane];
        break;
      }
      case Opcode::Load: {
        const Memory& buffer = memory[i.b];
        if (pause(buffer)) return static_cast<Address>(next - 1 - code);
        const std::size_t index = slot[i.a];
        if (index < buffer.length) {
          observer.load(i, index);
          slot[i.dest] = buffer.read(index);
        } else {
          observer.outside(i, index, slot);
          slot[i.dest] = 0;
        }
        break;
      }
      case Opcode::LoadLanes: {
        const Memory& buffer = memory[i.b];
        if (pause(buffer)) return static_cast<Address>(next - 1 - code);
        const std::size_t index = slot[i.a];
        if (index < buffer.length) {
          observer.load(i, index);
          for (std::uint32_t lane = 0; lane < i.lanes; ++lane) slot[i.dest + lane] = buffer.read(index * i.lanes + lane);
        } else {
          observer.outside(i, index, slot);
          for (std::uint32_t lane = 0; lane < i.lanes; ++lane) slot[i.dest + lane] = 0;
        }
        break;
      }
      case Opcode::LoadBool: {
        const Memory& buffer = memory[i.b];
        if (pause(buffer)) return static_cast<Address>(next - 1 - code);
        const std::size_t index = slot[i.a];
        if (index < buffer.length) {
          observer.load(i, index);
          slot[i.dest] = buffer.read(index) != 0;
        } else {
          observer.outside(i, index, slot);
          slot[i.dest] = 0;
        }
        break;
      }
      case Opcode::LoadNarrow: {
        const Memory& buffer = memory[i.b];
        if (pause(buffer)) return static_cast<Address>(next - 1 - code);
        const std::size_t index = slot[i.a];
        if (index < buffer.length) {
          observer.load(i, index);
          slot[i.dest] = buffer.read_narrow(index, i.lanes, i.extend());
        } else {
          observer.outside(i, index, slot);
          slot[i.dest] = 0;
        }
        break;
      }
      case Opcode::Store: {
        const Memory& buffer = memory[i.b];
        if (pause(buffer)) return static_cast<Address>(next - 1 - code);
        const std::size_t index = slot[i.a];
        if (index < buffer.length) {
          observer.store(i, index, slot);
          buffer.write(index, slot[i.c]);
        } else {
          observer.outside(i, index, slot);
        }
        break;
      }
      case Opcode::StoreLanes: {
        const Memory& buffer = memory[i.b];
        if (pause(buffer)) return static_cast<Address>(next - 1 - code);
        const std::size_t index = slot[i.a];
        if (index < buffer.length) {
          observer.store(i, index, slot);
          for (std::uint32_t lane = 0; lane < i.lanes; ++lane) buffer.write(index * i.lanes + lane, slot[i.c + lane]);
        } else {
          observer.outside(i, index, slot);
        }
        break;
      }
      case Opcode::StoreNarrow: {
        const Memory& buffer = memory[i.b];
        if (pause(buffer)) return static_cast<Address>(next - 1 - code);
        const std::size_t index = slot[i.a];
        if (index < buffer.length) {
          observer.store(i, index, slot);
          buffer.write_narrow(index, i.lanes, slot[i.c]);
        } else {
          observer.outside(i, index, slot);
        }
        break;
      }
      case Opcode::Atomic: {
        const Memory& buffer = memory[i.b];
        if (pause(buffer)) return static_cast<Address>(next - 1 - code);
        const std::size_t index = slot[i.a];
        std::uint32_t old = 0;
        if (index < buffer.length) {
          old = buffer.read(index);
          const std::uint32_t value = evaluate(i.op, old, slot[i.d], slot[i.c]);
          observer.atomic(i, index, old, value);
          buffer.write(index, value);
        } else {
          observer.outside(i, index, slot);
        }
        slot[i.dest] = old;
        break;
      }
      case Opcode::Jump:
        next = code + i.a;
        break;
      case Opcode::JumpIfZero:
        if (slot[i.a] == 0) next = code + i.b;
        break;
      case Opcode::EnterLoop:
        if (slot[i.a] >= slot[i.b]) next = code + i.c;
        break;
      case Opcode::NextRound: {
        const Instruction* const body = code + i.c;
        watch_.spend(static_cast<std::uint64_t>(next - body));
        // The variable is below its bound before, so this cannot wrap around.
        if (++slot[i.a] < slot[i.b]) next = body;
        break;
      }
      case Opcode::Call:
        watch_.spend(i.b);
        calls_.push_back(static_cast<Address>(next - code));
        next = code + i.a;
        break;
      case Opcode::Leave:
        next = code + calls_.back();
        calls_.pop_back();
        break;
      case Opcode::Barrier:
      case Opcode::End:
        return static_cast<Address>(next - 1 - code);
    }
  }
}

}  // namespace vyre::run::reference
