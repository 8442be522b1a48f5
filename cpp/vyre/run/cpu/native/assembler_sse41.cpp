// The instructions of the assembler that SSE4.1 has in another form than AVX. Everything here uses the encodings from before AVX.
#include <array>
#include <cstddef>

#include "vyre/base/assert.hpp"
#include "vyre/run/cpu/native/assembler.hpp"

namespace vyre::run::cpu::native {
namespace {

using lower::Opcode;

// A shuffle that copies the lowest byte of each word to all of its bytes.
constexpr std::array<std::uint8_t, 16> kLowestByte = {0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12};
// The bytes of powers of two, by index. pshufb takes the lowest four bits of an index, and gives zero where the highest bit is set. For
// each byte of a power, the exponent plus the byte of kIndices at that place is the index into kPowers. If the exponent's bit lies in
// another byte, the byte that is looked up is zero.
constexpr std::array<std::uint8_t, 16> kPowers = {1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0};
constexpr std::uint32_t kIndices = 0xE8F06870;

}  // namespace

// --- Operands ---

// `from` is a vector, or memory at any address.
void Assembler::copy(const Xmm& to, const Operand& from) {
  if (from.isMEM()) return movdqu(to, from);
  if (to.getIdx() != from.getIdx()) movdqa(to, from);
}

// to = a op b by an operation that overwrites its first operand. An operand `b` in memory is aligned.
template <class Operation>
void Assembler::in_place(const Xmm& to, const Xmm& a, const Operand& b, bool commutes, const Operation& operation) {
  const bool is_second = !b.isMEM() && b.getIdx() == to.getIdx();
  if (to.getIdx() == a.getIdx()) return operation(to, b);
  if (!is_second) {
    movdqa(to, a);
    return operation(to, b);
  }
  if (commutes) return operation(to, a);
  copy(spare(), a);
  operation(spare(), b);
  movdqa(to, spare());
}

#define THREE(avx, sse, commutes)                                                                                \
  void Assembler::avx(const Xmm& to, const Xmm& a, const Operand& b) {                                           \
    if (!narrow_) return CodeGenerator::avx(to, a, b);                                                           \
    in_place(to, a, b, commutes, [this](const Xmm& first, const Operand& second) { this->sse(first, second); }); \
  }
#define TWO(avx, sse) \
  void Assembler::avx(const Xmm& to, const Operand& a) { narrow_ ? this->sse(to, a) : CodeGenerator::avx(to, a); }
#define SHIFT(avx, sse)                                                       \
  void Assembler::avx(const Xmm& to, const Operand& a, std::uint8_t amount) { \
    if (!narrow_) return CodeGenerator::avx(to, a, amount);                   \
    copy(to, a);                                                              \
    this->sse(to, int{amount});                                               \
  }
#include "vyre/run/cpu/native/instructions.def"

void Assembler::vroundpd(const Xmm& to, const Xmm& a, std::uint8_t how) {
  narrow_ ? roundpd(to, a, how) : CodeGenerator::vroundpd(to, a, how);
}
void Assembler::vshufps(const Xmm& to, const Xmm& a, const Xmm& b, std::uint8_t which) {
  if (!narrow_) return CodeGenerator::vshufps(to, a, b, which);
  in_place(to, a, b, false, [&](const Xmm& first, const Operand& second) { shufps(first, second, which); });
}
void Assembler::vmovd(const Xmm& to, const Xbyak::Reg32& from) { narrow_ ? movd(to, from) : CodeGenerator::vmovd(to, from); }
void Assembler::vmovd(const Xbyak::Reg32& to, const Xmm& from) { narrow_ ? movd(to, from) : CodeGenerator::vmovd(to, from); }
void Assembler::vmovd(const Address& to, const Xmm& from) { narrow_ ? movd(to, from) : CodeGenerator::vmovd(to, from); }
void Assembler::vmovq(const Address& to, const Xmm& from) { narrow_ ? movq(to, from) : CodeGenerator::vmovq(to, from); }
void Assembler::vmovdqu(const Xmm& to, const Address& from) { narrow_ ? movdqu(to, from) : CodeGenerator::vmovdqu(to, from); }
void Assembler::vmovdqu(const Address& to, const Xmm& from) { narrow_ ? movdqu(to, from) : CodeGenerator::vmovdqu(to, from); }
void Assembler::vmovntdq(const Address& to, const Xmm& from) { narrow_ ? movntdq(to, from) : CodeGenerator::vmovntdq(to, from); }
void Assembler::vpextrd(const Address& to, const Xmm& from, std::uint8_t lane) {
  narrow_ ? pextrd(to, from, lane) : CodeGenerator::vpextrd(to, from, lane);
}
void Assembler::vzeroupper() {
  if (!narrow_) CodeGenerator::vzeroupper();
}

void Assembler::upper_half(int reg) { narrow_ ? pshufd(v(reg), v(reg), 0xEE) : vextracti128(Xmm(reg), Xbyak::Ymm(reg), 1); }

void Assembler::broadcast_word(const Xmm& to, const Operand& word) {
  if (word.isMEM()) {
    movd(to, static_cast<const Address&>(word));
    pshufd(to, to, 0);
  } else {
    pshufd(to, word, 0);
  }
}

// --- Shifts ---

void Assembler::shift_all(Opcode op, const Xmm& to, const Xmm& a, const Xmm& amount) {
  in_place(to, a, amount, false, [&](const Xmm& first, const Operand& second) {
    if (op == Opcode::Shl) {
      pslld(first, second);
    } else if (op == Opcode::Shr) {
      psrld(first, second);
    } else {
      VYRE_ASSERT(op == Opcode::SShr);
      psrad(first, second);
    }
  });
}

void Assembler::shift_each(Opcode op, const Xmm& to, const Xmm& a, const Xmm& amounts) {
  constexpr int kLow = 0x54, kHigh = 0xFE;  // shuffles of halves of words: a lane of the pair, whose upper half is zero, and zeros
  const Xmm amount(2), result(3);
  for (int lane = 0; lane < 4; ++lane) {
    if (lane >= 2) pshufd(amount, amounts, 0xEE);  // the upper pair
    pshuflw(amount, lane < 2 ? amounts : amount, static_cast<std::uint8_t>(lane % 2 == 0 ? kLow : kHigh));
    shift_all(op, lane == 0 ? result : spare(), a, amount);
    if (lane != 0) pblendw(result, spare(), 3 << (2 * lane));
  }
  move(to, result);
}

void Assembler::power_of_two(const Xmm& to, const Xmm& exponents) {
  copy(spare(), exponents);
  pshufb(spare(), constant_bytes(kLowestByte));
  paddb(spare(), constant(kIndices));
  movdqa(to, constant_bytes(kPowers));
  pshufb(to, spare());
}

// A rotation multiplies by a power of two: the lower half of the product's 64 bits has the bits that stay, and the upper half those that
// return at the other end.
void Assembler::rotate_each(Opcode op, const Xmm& to, const Xmm& a, const Xmm& amounts) {
  constexpr int kOdd = 0xF5, kExchanged = 0xB1;  // shuffles: odd lanes also to even ones, and the lanes of each pair exchanged
  const Xmm factors(3), other(2);
  copy(spare(), amounts);
  pshufb(spare(), constant_bytes(kLowestByte));
  if (op == Opcode::RotateRight) psignb(spare(), constant(0xFFFFFFFFu));  // changes the sign
  pand(spare(), constant(0x1F1F1F1Fu));
  paddb(spare(), constant(kIndices));
  movdqa(factors, constant_bytes(kPowers));
  pshufb(factors, spare());
  pshufd(other, factors, kOdd);
  pmuludq(factors, a);
  pshufd(to, a, kOdd);
  pmuludq(to, other);
  // Each product has two lanes: that of its own word, and that of the word beside it. One vector gets the former, one the latter.
  movdqa(other, to);
  pblendw(other, factors, 0xCC);
  pblendw(to, factors, 0x33);
  pshufd(other, other, kExchanged);
  por(to, other);
}

// --- Lanes one by one ---

void Assembler::load_lanes(const Xmm& to, int mask, const Address& from) {
  Xbyak::Label some, done;
  movmskps(ecx, v(mask));
  cmp(ecx, 15);
  jne(some);
  movdqu(to, from);
  jmp(done);
  L(some);
  pxor(to, to);
  for (int lane = 0; lane < 4; ++lane) {
    Xbyak::Label next;
    test(ecx, 1 << lane);
    jz(next);
    pinsrd(to, dword[from.getRegExp() + std::size_t{4} * lane], static_cast<std::uint8_t>(lane));
    L(next);
  }
  L(done);
}

void Assembler::store_lanes(const Address& to, int mask, const Xmm& from) {
  movmskps(ecx, v(mask));
  for (int lane = 0; lane < 4; ++lane) {
    Xbyak::Label next;
    test(ecx, 1 << lane);
    jz(next);
    pextrd(dword[to.getRegExp() + std::size_t{4} * lane], from, static_cast<std::uint8_t>(lane));
    L(next);
  }
}

// Indices of active lanes are less than 2^31, so that they may be extended by zeros.
void Assembler::gather_lanes(const Xmm& to, const Xbyak::Reg64& base, int offset, const Xmm& index, int scale, int mask) {
  Xbyak::Label some, done;
  const auto word = [&](const Xbyak::Reg64& at) { return dword[base + at * scale + offset]; };
  movmskps(ecx, v(mask));
  cmp(ecx, 15);
  jne(some);
  movd(eax, index);
  pextrd(r11d, index, 1);
  movd(to, word(rax));
  pextrd(eax, index, 2);
  pinsrd(to, word(r11), 1);
  pextrd(r11d, index, 3);
  pinsrd(to, word(rax), 2);
  pinsrd(to, word(r11), 3);
  jmp(done);
  L(some);
  pxor(to, to);
  for (int lane = 0; lane < 4; ++lane) {
    Xbyak::Label next;
    test(ecx, 1 << lane);
    jz(next);
    pextrd(eax, index, static_cast<std::uint8_t>(lane));
    pinsrd(to, word(rax), static_cast<std::uint8_t>(lane));
    L(next);
  }
  L(done);
}

// --- Bits of general registers ---

void Assembler::lowest_bit(const Xbyak::Reg32& to, const Xbyak::Reg32& from) { narrow_ ? bsf(to, from) : tzcnt(to, from); }

void Assembler::clear_lowest_bit(const Xbyak::Reg32& bits) {
  if (!narrow_) return blsr(bits, bits);
  lea(eax, ptr[bits.cvt64() - 1]);
  and_(bits, eax);
}

// Adds neighbouring bits, then neighbouring pairs, then halves of bytes, and at last all bytes by a multiplication.
void Assembler::count_ones() {
  if (!narrow_) return popcnt(eax, eax);
  mov(ecx, eax);
  shr(ecx, 1);
  and_(ecx, 0x55555555u);
  sub(eax, ecx);
  mov(ecx, eax);
  shr(ecx, 2);
  and_(ecx, 0x33333333u);
  and_(eax, 0x33333333u);
  add(eax, ecx);
  mov(ecx, eax);
  shr(ecx, 4);
  add(eax, ecx);
  and_(eax, 0x0F0F0F0Fu);
  imul(eax, eax, 0x01010101);
  shr(eax, 24);
}

// The instructions that find a bit leave no number where there is none.
void Assembler::count_leading_zeros() {
  if (!narrow_) return lzcnt(eax, eax);
  bsr(eax, eax);
  mov(ecx, 63);
  cmovz(eax, ecx);
  xor_(eax, 31);
}
void Assembler::count_trailing_zeros() {
  if (!narrow_) return tzcnt(eax, eax);
  bsf(eax, eax);
  mov(ecx, 32);
  cmovz(eax, ecx);
}

}  // namespace vyre::run::cpu::native
