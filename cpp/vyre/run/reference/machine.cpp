#include "vyre/run/reference/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "vyre/base/error.hpp"
#include "vyre/ir/semantics.hpp"

namespace vyre::run::reference {
namespace {

std::uint32_t read(const std::byte* bytes, std::size_t lane) {
  std::uint32_t value;
  std::memcpy(&value, bytes + lane * sizeof value, sizeof value);
  return value;
}

void write(std::byte* bytes, std::size_t lane, std::uint32_t value) { std::memcpy(bytes + lane * sizeof value, &value, sizeof value); }

}  // namespace

void Watch::look() {
  left_ = kBetweenLooks;
  if (options_.interrupted && options_.interrupted()) throw Interrupted();
  if (options_.timeout && std::chrono::steady_clock::now() - start_ > *options_.timeout) {
    throw DispatchTimeoutError(
        fmt::format("the reference did not finish within {} s. Fix: give a longer time-out, fewer workgroups, or name a faster backend.",
                    options_.timeout->count()));
  }
}

Machine::Machine(const Code& code, std::span<const Memory> memory, Watch& watch)
    : code_(code), memory_(memory), watch_(watch), slots_(code.slots, 0) {
  for (const Code::Constant& constant : code.constants) slots_[constant.slot] = constant.value;
  for (const Code::Length& length : code.lengths) slots_[length.slot] = memory[length.buffer.index].length;
}

void Machine::set_ids(std::span<const std::uint32_t, kIdSlots> ids) { std::copy(ids.begin(), ids.end(), slots_.begin()); }

Address Machine::run(Address at) {
  std::uint32_t* const slot = slots_.data();
  const Instruction* const code = code_.instructions.data();
  const Instruction* next = code + at;
  for (;;) {
    const Instruction& i = *next++;
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
      case Opcode::Copy:
        slot[i.dest] = slot[i.a];
        break;
      case Opcode::CopyLanes:
        for (std::uint32_t lane = 0; lane < i.lanes; ++lane) slot[i.dest + lane] = slot[i.a + lane];
        break;
      case Opcode::Select:
        slot[i.dest] = slot[i.a] != 0 ? slot[i.b] : slot[i.c];
        break;
      case Opcode::SelectLanes: {
        const Slot chosen = slot[i.a] != 0 ? i.b : i.c;
        for (std::uint32_t lane = 0; lane < i.lanes; ++lane) slot[i.dest + lane] = slot[chosen + lane];
        break;
      }
      case Opcode::AnyNonZero: {
        std::uint32_t any = 0;
        for (std::uint32_t lane = 0; lane < i.lanes; ++lane) any |= slot[i.a + lane];
        slot[i.dest] = any != 0;
        break;
      }
      case Opcode::ZeroExtend:
        slot[i.dest] = slot[i.a];
        slot[i.dest + 1] = 0;
        break;
      case Opcode::SignExtend:
        slot[i.dest] = slot[i.a];
        slot[i.dest + 1] = (slot[i.a] >> 31) != 0 ? ~0u : 0u;
        break;
      case Opcode::Splat:
        for (std::uint32_t lane = 0; lane < i.lanes; ++lane) slot[i.dest + lane] = slot[i.a];
        break;
      case Opcode::Load: {
        const Memory& buffer = memory_[i.b];
        const std::size_t index = slot[i.a];
        slot[i.dest] = index < buffer.length ? read(buffer.bytes, index) : 0;
        break;
      }
      case Opcode::LoadLanes: {
        const Memory& buffer = memory_[i.b];
        const std::size_t index = slot[i.a];
        const bool inside = index < buffer.length;
        for (std::uint32_t lane = 0; lane < i.lanes; ++lane) {
          slot[i.dest + lane] = inside ? read(buffer.bytes, index * i.lanes + lane) : 0;
        }
        break;
      }
      case Opcode::LoadBool: {
        const Memory& buffer = memory_[i.b];
        const std::size_t index = slot[i.a];
        slot[i.dest] = index < buffer.length && read(buffer.bytes, index) != 0;
        break;
      }
      case Opcode::Store: {
        const Memory& buffer = memory_[i.b];
        const std::size_t index = slot[i.a];
        if (index < buffer.length) write(buffer.bytes, index, slot[i.c]);
        break;
      }
      case Opcode::StoreLanes: {
        const Memory& buffer = memory_[i.b];
        const std::size_t index = slot[i.a];
        if (index >= buffer.length) break;
        for (std::uint32_t lane = 0; lane < i.lanes; ++lane) write(buffer.bytes, index * i.lanes + lane, slot[i.c + lane]);
        break;
      }
      case Opcode::Atomic: {
        const Memory& buffer = memory_[i.b];
        const std::size_t index = slot[i.a];
        std::uint32_t old = 0;
        if (index < buffer.length) {
          old = read(buffer.bytes, index);
          write(buffer.bytes, index, evaluate(i.op, old, slot[i.d], slot[i.c]));
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
        // Below its bound before, so this cannot wrap around.
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
