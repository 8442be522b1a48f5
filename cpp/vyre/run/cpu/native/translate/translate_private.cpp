// Translates private arrays. Word w of lane l is at (w * lanes + l), so that lanes with equal indices use neighbouring words.
#include <cstddef>

#include "vyre/run/cpu/native/translate/accesses.hpp"

namespace vyre::run::cpu::native {

void Translator::clear_privates() {
  a_.zero(a_.v(0));
  const auto bytes = static_cast<std::uint32_t>(kernel_.private_bytes()) * static_cast<std::uint32_t>(lanes());
  Label next;
  a_.lea(a_.rdx, a_.ptr[a_.r14 + privates_]);
  a_.mov(a_.ecx, bytes / static_cast<std::uint32_t>(a_.vector_bytes()));
  a_.L(next);
  a_.store(a_.ptr[a_.rdx], a_.v(0));
  a_.add(a_.rdx, a_.vector_bytes());
  a_.dec(a_.ecx);
  a_.jnz(next);
}

// rdx = the address of the part's first word in the private array; rax is scratch.
void Translator::private_base(const Instruction& i, int part) {
  std::uint32_t before = 0;  // words of a lane in the arrays before this one
  for (std::uint32_t array = 0; array < i.imm; ++array) before += kernel_.privates[array].lanes * kernel_.privates[array].count;
  const auto offset = static_cast<int>(before * 4 * static_cast<std::uint32_t>(lanes())) + part * a_.vector_bytes();
  if (!analysis_.whole_workgroups) {
    a_.lea(a_.rdx, a_.ptr[a_.r14 + (static_cast<int>(privates_) + offset)]);
    return;
  }
  a_.mov(a_.rdx, a_.qword[a_.r15 + offsetof(Context, privates)]);
  a_.imul(a_.rax, a_.r13, static_cast<int>(kernel_.private_bytes()));
  a_.lea(a_.rdx, a_.ptr[a_.rdx + a_.rax + offset]);
}

// Vector 2 = the index of the word that each lane accesses, counted from private_base.
void Translator::private_offsets(const Instruction& i, std::uint32_t lane, int part) {
  const auto stride = static_cast<std::uint32_t>(lanes());
  const std::uint32_t words = kernel_.privates[i.imm].lanes;
  a_.vpslld(a_.v(2), in(cell_of(i.a), part, 0), static_cast<std::uint8_t>(log2_of(words * stride)));
  a_.vpaddd(a_.v(2), a_.v(2), a_.count_up());
  if (lane != 0) a_.vpaddd(a_.v(2), a_.v(2), a_.constant(lane * stride));
}

void Translator::load_private(std::uint32_t position) {
  const Instruction& i = at(position);
  const lower::PrivateArray& array = kernel_.privates[i.imm];
  const AccessedArray accessed{.lanes = array.lanes, .bounded = i.bounded, .count = array.count};
  for (int part = 0; part < parts_; ++part) {
    for (std::uint32_t lane = 0; lane < array.lanes; ++lane) {
      const CellId dest = cell_of_result(position, lane);
      if (!is_needed(dest)) continue;
      private_base(i, part);
      const Xmm to = target(dest, part, 1);
      if (varies(i.a)) {
        const Xmm index = in(cell_of(i.a), part, 0);
        const int mask = active_mask(active_lanes(accessed, index, part));
        private_offsets(i, lane, part);
        a_.gather(to, a_.rdx, 0, a_.v(2), 4, mask);
      } else {
        Label outside, end;
        get(a_.eax, cell_of(i.a));
        if (i.bounded) {
          a_.cmp(a_.eax, array.count);
          a_.jae(outside);
        }
        a_.shl(a_.rax, log2_of(4 * array.lanes * static_cast<std::uint32_t>(lanes())));
        a_.load(to, a_.ptr[a_.rdx + a_.rax + std::size_t{4} * lane * lanes()]);
        if (i.bounded) {
          a_.jmp(end);
          a_.L(outside);
          a_.zero(to);
          a_.L(end);
        }
      }
      out(dest, part, to);
    }
  }
}

void Translator::store_private(std::uint32_t position) {
  const Instruction& i = at(position);
  const lower::PrivateArray& array = kernel_.privates[i.imm];
  const AccessedArray accessed{.lanes = array.lanes, .bounded = i.bounded, .count = array.count};
  for (int part = 0; part < parts_; ++part) {
    for (std::uint32_t lane = 0; lane < array.lanes; ++lane) {
      private_base(i, part);
      if (varies(i.a)) {
        a_.mov(a_.qword[a_.r14 + (scratch_memory_ + kBase)], a_.rdx);
        a_.store(frame(scratch_memory_ + kValues), in(cell_of(i.b, lane), part, 1));
        const Xmm index = in(cell_of(i.a), part, 0);
        const Active active = active_lanes(accessed, index, part);
        const int mask = active_mask(active);
        private_offsets(i, lane, part);
        a_.store(frame(scratch_memory_ + kWords), a_.v(2));
        Label next, done;
        a_.mask_bits(a_.ecx, mask);
        a_.test(a_.ecx, a_.ecx);
        a_.jz(done);
        a_.mov(a_.rdx, a_.qword[a_.r14 + (scratch_memory_ + kBase)]);
        a_.L(next);
        a_.lowest_bit(a_.eax, a_.ecx);
        a_.mov(a_.r11d, a_.dword[a_.r14 + a_.rax * 4 + (scratch_memory_ + kWords)]);
        a_.mov(a_.eax, a_.dword[a_.r14 + a_.rax * 4 + (scratch_memory_ + kValues)]);
        a_.mov(a_.dword[a_.rdx + a_.r11 * 4], a_.eax);
        a_.clear_lowest_bit(a_.ecx);
        a_.jnz(next);
        a_.L(done);
        continue;
      }
      Label end;
      get(a_.eax, cell_of(i.a));
      if (i.bounded) {
        a_.cmp(a_.eax, array.count);
        a_.jae(end);
      }
      a_.shl(a_.rax, log2_of(4 * array.lanes * static_cast<std::uint32_t>(lanes())));
      a_.lea(a_.rdx, a_.ptr[a_.rdx + a_.rax + std::size_t{4} * lane * lanes()]);
      const Xmm value = in(cell_of(i.b, lane), part, 1);
      if (masked_) {
        a_.load(a_.v(0), a_.ptr[a_.rdx]);
        a_.select(a_.v(0), {exec(part)}, value, a_.v(0));
        a_.store(a_.ptr[a_.rdx], a_.v(0));
      } else {
        a_.store(a_.ptr[a_.rdx], value);
      }
      a_.L(end);
    }
  }
}

}  // namespace vyre::run::cpu::native
