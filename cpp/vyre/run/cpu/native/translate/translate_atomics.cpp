// Translates atomics, one lane after the other: once for each lane that is active and whose index is in range.
#include "vyre/run/cpu/native/translate/accesses.hpp"

namespace vyre::run::cpu::native {

void Translator::atomic(std::uint32_t position) {
  const Instruction& i = at(position);
  const AccessedArray accessed = accessed_array(i, i.bounded);
  const CellId dest = cell_of_result(position, 0);
  const bool needed = dest != kNone && is_needed(dest);
  for (int part = 0; part < parts_; ++part) {
    const Xmm index = in(cell_of(i.a), part, 0);
    a_.store(frame(scratch_memory_ + kValues), in(cell_of(i.b), part, 1));
    if (i.c.valid()) a_.store(frame(scratch_memory_ + kValues + 64), in(cell_of(i.c), part, 1));
    if (needed) {
      a_.zero(a_.v(1));
      a_.store(frame(scratch_memory_ + kResults), a_.v(1));
    }
    for_each_lane(index, accessed, &index, part, [&] { atomic_once(i, accessed, needed); });
    if (!needed) continue;
    const Xmm to = target(dest, part, 1);
    a_.load(to, frame(scratch_memory_ + kResults));
    out(dest, part, to);
  }
}

// Emits the atomic of lane rax on the element with index r11d. On a buffer it is locked, because other threads access the buffer as well.
void Translator::atomic_once(const Instruction& i, const AccessedArray& accessed, bool is_needed) {
  const auto value = [&](std::uint32_t which) { return a_.dword[a_.r14 + a_.rax * 4 + (scratch_memory_ + kValues + 64 * which)]; };
  const auto locked = [&] {
    if (!accessed.shared) a_.lock();
  };
  const Address word = a_.dword[a_.r11];
  base_to_rdx(accessed);
  a_.lea(a_.r11, a_.ptr[a_.rdx + a_.r11 * 4]);
  a_.mov(a_.edx, value(0));
  switch (i.op) {
    case Opcode::AtomicAdd:
      locked();
      a_.xadd(word, a_.edx);
      break;
    case Opcode::AtomicExchange:
      a_.xchg(word, a_.edx);
      break;
    case Opcode::AtomicCompareExchange:
      a_.mov(a_.dword[a_.r14 + (scratch_memory_ + kWord)], a_.edx);
      a_.mov(a_.edx, value(1));
      a_.mov(a_.eax, a_.dword[a_.r14 + (scratch_memory_ + kWord)]);
      locked();
      a_.cmpxchg(word, a_.edx);
      a_.mov(a_.edx, a_.eax);
      break;
    default: {
      Label again;
      a_.mov(a_.dword[a_.r14 + (scratch_memory_ + kWord)], a_.edx);
      a_.mov(a_.eax, word);
      a_.L(again);
      a_.mov(a_.edx, a_.dword[a_.r14 + (scratch_memory_ + kWord)]);
      if (i.op == Opcode::AtomicAnd) a_.and_(a_.edx, a_.eax);
      if (i.op == Opcode::AtomicOr) a_.or_(a_.edx, a_.eax);
      if (i.op == Opcode::AtomicXor) a_.xor_(a_.edx, a_.eax);
      if (i.op == Opcode::AtomicMin || i.op == Opcode::AtomicMax) {
        a_.cmp(a_.eax, a_.edx);
        i.op == Opcode::AtomicMin ? a_.cmovb(a_.edx, a_.eax) : a_.cmova(a_.edx, a_.eax);
      }
      locked();
      a_.cmpxchg(word, a_.edx);
      a_.jne(again);
      a_.mov(a_.edx, a_.eax);
    }
  }
  if (!is_needed) return;
  a_.lowest_bit(a_.eax, a_.ecx);
  a_.mov(a_.dword[a_.r14 + a_.rax * 4 + (scratch_memory_ + kResults)], a_.edx);
}

}  // namespace vyre::run::cpu::native
