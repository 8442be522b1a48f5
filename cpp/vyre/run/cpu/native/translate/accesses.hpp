// Declares what the translations of loads, stores, atomics and private arrays share: offsets in scratch memory, and code around the code of
// an access.
#pragma once

#include <cstdint>

#include "vyre/run/cpu/native/translate/translator.hpp"

namespace vyre::run::cpu::native {

// Offsets in the scratch memory of the frame.
inline constexpr std::uint32_t kWords = 0, kValues = 64, kResults = 192, kBase = 320, kWord = 328, kMask = 352;

inline int log2_of(std::uint32_t power) { return __builtin_ctz(power); }

// Emits a jump to a cold path, which is taken if some lanes of the part are not active. `rare` emits the cold path and its jump back.
template <class Rare>
void Translator::when_some_lanes(int part, const Rare& rare) {
  auto* const some = new_label();
  a_.mask_bits(a_.ecx, exec(part));
  a_.cmp(a_.ecx, (1u << a_.width()) - 1);
  a_.jne(*some, Xbyak::CodeGenerator::T_NEAR);
  a_.later([=, this] {
    a_.L(*some);
    masked_ = true;
    rare();
  });
}

// Emits `row`. Rows of elements of four words overwrite vector 4. Except with AVX-512, this vector holds the execution mask of the first
// part, so the mask is saved around `row`.
template <class Row>
void Translator::keeping_mask(const AccessedArray& accessed, const Row& row) {
  const bool is_taken = accessed.lanes == 4 && !a_.wide();
  if (is_taken) a_.mask_store(frame(scratch_memory_ + kMask), exec(0));
  row();
  if (is_taken) a_.mask_load(exec(0), frame(scratch_memory_ + kMask));
}

template <class Each>
void Translator::for_each_lane(const Xmm& words, const AccessedArray& accessed, const Xmm* index, int part, const Each& each) {
  const Active active = index != nullptr ? active_lanes(accessed, *index, part) : Active{exec(part), !masked_};
  a_.store(frame(scratch_memory_ + kWords), words);
  Label next, done;
  if (active.all) {
    a_.mov(a_.ecx, (1u << a_.width()) - 1);
  } else {
    a_.mask_bits(a_.ecx, active.mask);
    a_.test(a_.ecx, a_.ecx);
    a_.jz(done);
  }
  a_.L(next);
  a_.lowest_bit(a_.eax, a_.ecx);
  a_.mov(a_.r11d, a_.dword[a_.r14 + a_.rax * 4 + (scratch_memory_ + kWords)]);
  each();
  a_.clear_lowest_bit(a_.ecx);
  a_.jnz(next);
  a_.L(done);
}

}  // namespace vyre::run::cpu::native
