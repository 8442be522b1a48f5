// xbyak's assembler with one vocabulary for vectors of 4 lanes (SSE4.1), of 8 lanes (AVX2) and of 16 lanes (AVX-512): vectors, masks of
// lanes, constants.
//
// With SSE4.1 and AVX2, a mask is a vector whose lanes are ~0 or 0; with AVX-512, it is a mask register. Some comparisons compute the
// inverse of their mask, and Mask::inverted says so. The inverse costs nothing if the user of the mask can exchange two operands.
//
// The vector instructions below that have the name of an AVX instruction hide xbyak's function of that name: with SSE4.1 they emit
// instructions of two operands that do the same (assembler_sse41.cpp). The assembler then has vector 15 to itself.
#pragma once

#include <xbyak/xbyak.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "vyre/lower/opcode.hpp"
#include "vyre/run/cpu/native/marks.hpp"
#include "vyre/run/cpu/native/vectors.hpp"

namespace vyre::run::cpu::native {

struct Mask {
  int reg;  // the number of a vector register, or of a mask register (AVX-512)
  bool inverted = false;
};

class Assembler : public Xbyak::CodeGenerator {
 public:
  using Xmm = Xbyak::Xmm;
  using Operand = Xbyak::Operand;
  using Address = Xbyak::Address;
  using Opmask = Xbyak::Opmask;

  explicit Assembler(Vectors vectors);

  bool wide() const { return wide_; }      // AVX-512
  bool narrow() const { return narrow_; }  // SSE4.1
  int width() const { return row_of(vectors_).width; }
  int vector_bytes() const { return 4 * width(); }
  int vector_count() const { return wide_ ? 32 : narrow_ ? 15 : 16; }  // that the translator may use

  Xmm v(int reg) const;

  // --- Vectors ---
  void move(const Xmm& to, const Xmm& from);
  void load(const Xmm& to, const Address& from);
  void store(const Address& to, const Xmm& from);
  void broadcast(const Xmm& to, const Operand& word);  // `word` is in memory, or the lowest word of a vector
  void bit_and(const Xmm& to, const Xmm& a, const Operand& b);
  void bit_or(const Xmm& to, const Xmm& a, const Operand& b);
  void bit_xor(const Xmm& to, const Xmm& a, const Operand& b);
  void bit_andn(const Xmm& to, const Xmm& a, const Operand& b);  // ~a & b
  void zero(const Xmm& to);
  void shift_left(const Xmm& to, const Xmm& a, int amount) { vpslld(to, a, static_cast<std::uint8_t>(amount)); }
  void shift_right(const Xmm& to, const Xmm& a, int amount) { vpsrld(to, a, static_cast<std::uint8_t>(amount)); }

  // --- AVX instructions by their names, which any instruction set has in some form ---
#define THREE(avx, sse, commutes) void avx(const Xmm& to, const Xmm& a, const Operand& b);
#define TWO(avx, sse) void avx(const Xmm& to, const Operand& a);
#define SHIFT(avx, sse) void avx(const Xmm& to, const Operand& a, std::uint8_t amount);
#include "vyre/run/cpu/native/instructions.def"
  void vroundpd(const Xmm& to, const Xmm& a, std::uint8_t how);
  void vshufps(const Xmm& to, const Xmm& a, const Xmm& b, std::uint8_t which);
  void vmovd(const Xmm& to, const Xbyak::Reg32& from);
  void vmovd(const Xbyak::Reg32& to, const Xmm& from);
  void vmovd(const Address& to, const Xmm& from);
  void vmovq(const Address& to, const Xmm& from);
  void vmovdqu(const Xmm& to, const Address& from);
  void vmovdqu(const Address& to, const Xmm& from);
  void vmovntdq(const Address& to, const Xmm& from);
  void vpextrd(const Address& to, const Xmm& from, std::uint8_t lane);
  void vzeroupper();
  void upper_half(int reg);  // moves the upper half of the lanes to the lower half; not with AVX-512

  // SSE4.1 only: to = a shifted by the amount in the lowest 64 bits of `amount`. The opcode is Shl, Shr or SShr.
  void shift_all(lower::Opcode op, const Xmm& to, const Xmm& a, const Xmm& amount);
  // SSE4.1 only: to = a, each lane shifted to the right by its own amount, which is less than 2^16. The opcode is Shr or SShr. Vectors 2
  // and 3 are scratch, and none of the operands.
  void shift_each(lower::Opcode op, const Xmm& to, const Xmm& a, const Xmm& amounts);
  // SSE4.1 only: to = 2 to the power of each lane, which is less than 32.
  void power_of_two(const Xmm& to, const Xmm& exponents);
  // SSE4.1 only: to = a, each lane rotated by its own amount, which may be any word. The opcode is RotateLeft or RotateRight. Vectors 2 and
  // 3 are scratch, and none of the operands.
  void rotate_each(lower::Opcode op, const Xmm& to, const Xmm& a, const Xmm& amounts);

  // --- Bits of general registers ---
  void lowest_bit(const Xbyak::Reg32& to, const Xbyak::Reg32& from);  // the number of the lowest bit of a number that is not zero
  // Clears the lowest bit of a number that is not in eax, and sets the flags by what is left. With SSE4.1, eax is scratch.
  void clear_lowest_bit(const Xbyak::Reg32& bits);
  // Count the bits of eax, or its zeros from one end. With SSE4.1, ecx is scratch.
  void count_ones();
  void count_leading_zeros();
  void count_trailing_zeros();

  // --- Constants, in memory behind the code ---
  Address constant(std::uint32_t word);                                 // in all lanes
  Address constant_quad(std::uint64_t quad);                            // in all pairs of lanes
  Address constant_bytes(const std::array<std::uint8_t, 16>& sixteen);  // in each 128 bits
  Address constant_words(const std::array<std::uint32_t, 16>& words);   // of vectors of 16 lanes
  Address count_up();                                                   // 0, 1, 2 ...
  void write_constants();
  // The offsets at which write_constants() wrote the constants, in order. Each constant has the size of a vector.
  const std::vector<std::uint32_t>& constant_offsets() const { return constant_offsets_; }

  // --- Masks; `scratch` names a vector, or with AVX-512 a mask register, that the result may take ---
  // `b_register` is `b` if it is in a register, else null.
  Mask compare(lower::Opcode op, const Xmm& a, const Operand& b, const Xmm* b_register, int scratch);
  Mask non_zero(const Xmm& a, int scratch);
  Mask from_ones(const Xmm& ones, int scratch);     // `ones` has ~0 or 0 in each lane
  void to_ones(const Xmm& to, const Mask& mask);    // ~0 and 0
  void to_truths(const Xmm& to, const Mask& mask);  // 1 and 0
  // to = mask ? if_true : if_false. `to` may be any of them.
  void select(const Xmm& to, const Mask& mask, const Xmm& if_true, const Xmm& if_false);
  void mask_and(int to, int a, const Mask& b);
  // The lanes of both masks, and those of one of them. The results take `to`, which may be either mask, and may be inverted.
  Mask mask_and_of(int to, const Mask& a, const Mask& b);
  Mask mask_or_of(int to, const Mask& a, const Mask& b);
  void mask_copy(int to, const Mask& from);
  void mask_all(int to);
  void mask_none(int to);
  void mask_load(int to, const Address& from);
  void mask_store(const Address& to, int from);
  void mask_bits(const Xbyak::Reg32& to, int mask);  // one bit for each lane
  // to = a without b
  void mask_without(int to, int a, int b);
  void mask_or_to_memory(const Address& memory, int mask, int scratch);
  // Load and store the lanes of a mask. Loads set the other lanes of `to` to zero. The memory of the other lanes is not accessed. With
  // SSE4.1, ecx is scratch, and `to` is not the mask.
  void load_masked(const Xmm& to, int mask, const Address& from);
  void store_masked(const Address& to, int mask, const Xmm& from);
  // Loads the words at base + offset + index * scale in the lanes of a mask, and zeros in the others. Destroys the mask. All registers must
  // differ. With SSE4.1, eax, ecx and r11d are scratch.
  void gather(const Xmm& to, const Xbyak::Reg64& base, int offset, const Xmm& index, int scale, int mask);

  // Keeps `emit`, which writes a cold path, until write_later() calls it behind the other code.
  void later(std::function<void()> emit) { later_.push_back({std::move(emit), marks_.empty() ? 0 : marks_.back().position}); }
  void write_later();

  // --- Marks ---
  void mark(Part part, std::uint32_t position = 0) { marks_.push_back({static_cast<std::uint32_t>(getSize()), part, position}); }
  const std::vector<Mark>& marks() const { return marks_; }

 private:
  Xbyak::Label& bytes_at(const std::vector<std::uint8_t>& bytes);

  // The forms that SSE4.1 has.
  Xmm spare() const { return Xmm(15); }
  void copy(const Xmm& to, const Operand& from);
  template <class Operation>
  void in_place(const Xmm& to, const Xmm& a, const Operand& b, bool commutes, const Operation& operation);
  void broadcast_word(const Xmm& to, const Operand& word);
  void load_lanes(const Xmm& to, int mask, const Address& from);
  void store_lanes(const Address& to, int mask, const Xmm& from);
  void gather_lanes(const Xmm& to, const Xbyak::Reg64& base, int offset, const Xmm& index, int scale, int mask);

  const Vectors vectors_;
  const bool wide_, narrow_;
  std::map<std::vector<std::uint8_t>, Xbyak::Label> constants_;
  struct Later {
    std::function<void()> emit;
    std::uint32_t position;  // of the instruction that it belongs to
  };
  std::vector<Later> later_;
  std::vector<Mark> marks_;
  std::vector<std::uint32_t> constant_offsets_;
};

}  // namespace vyre::run::cpu::native
