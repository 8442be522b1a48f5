// Translates divisions of numbers of two words. No vector instruction divides integers, so the lanes are divided one after the other, by
// way of memory.
#include "vyre/run/cpu/native/translate/accesses.hpp"

namespace vyre::run::cpu::native {

// Leaves the result in rax. Lanes that are not active may have a divisor of zero, which becomes one. Many processors divide words in a
// fraction of the time.
void Translator::divide_rax_by_rcx(Opcode op) {
  Label words, end;
  a_.cmp(a_.rcx, 1);
  a_.adc(a_.rcx, 0);
  a_.mov(a_.rdx, a_.rax);
  a_.or_(a_.rdx, a_.rcx);
  a_.shr(a_.rdx, 32);
  a_.jz(words);
  a_.xor_(a_.edx, a_.edx);
  a_.div(a_.rcx);
  a_.jmp(end);
  a_.L(words);
  a_.div(a_.ecx);
  a_.L(end);
  if (op == Opcode::WideMod) a_.mov(a_.rax, a_.rdx);
}

void Translator::wide_divide(std::uint32_t position) {
  const Instruction& i = at(position);
  const auto dest = [&](std::uint32_t word) { return cell_of_result(position, word); };
  if (!is_needed(dest(0)) && !is_needed(dest(1))) return;
  // rdx is scratch.
  const auto join = [&](const Reg64& to, const auto& get_word) {
    get_word(a_.edx, 1);
    get_word(to.cvt32(), 0);
    a_.shl(a_.rdx, 32);
    a_.or_(to, a_.rdx);
  };
  if (!varies(position)) {
    join(a_.rcx, [&](const Reg32& to, std::uint32_t word) { get(to, cell_of(i.b, word)); });
    join(a_.rax, [&](const Reg32& to, std::uint32_t word) { get(to, cell_of(i.a, word)); });
    divide_rax_by_rcx(i.op);
    if (is_needed(dest(0))) put(dest(0), a_.eax);
    a_.shr(a_.rax, 32);
    if (is_needed(dest(1))) put(dest(1), a_.eax);
    return;
  }
  for (int part = 0; part < parts_; ++part) {
    for (const std::uint32_t word : {0u, 1u}) {
      a_.store(frame(scratch_memory_ + kValues + 64 * word), in(cell_of(i.a, word), part, 1));
      a_.store(frame(scratch_memory_ + kResults + 64 * word), in(cell_of(i.b, word), part, 1));
    }
    for (int lane = 0; lane < a_.width(); ++lane) {
      const auto at_lane = [&](std::uint32_t offset) {
        return a_.dword[a_.r14 + (scratch_memory_ + offset + 4 * static_cast<unsigned>(lane))];
      };
      join(a_.rcx, [&](const Reg32& to, std::uint32_t word) { a_.mov(to, at_lane(kResults + 64 * word)); });
      join(a_.rax, [&](const Reg32& to, std::uint32_t word) { a_.mov(to, at_lane(kValues + 64 * word)); });
      divide_rax_by_rcx(i.op);
      a_.mov(at_lane(kValues), a_.eax);
      a_.shr(a_.rax, 32);
      a_.mov(at_lane(kValues + 64), a_.eax);
    }
    for (const std::uint32_t word : {0u, 1u}) {
      if (!is_needed(dest(word))) continue;
      const Xmm to = target(dest(word), part, 1);
      a_.load(to, frame(scratch_memory_ + kValues + 64 * word));
      out(dest(word), part, to);
    }
  }
}

}  // namespace vyre::run::cpu::native
