// xbyak's assembler with one vocabulary for vectors of 8 lanes (AVX2) and of 16 lanes (AVX-512): vectors, masks of lanes, constants.
//
// With AVX2, a mask is a vector whose lanes are ~0 or 0; with AVX-512, it is a mask register. Some comparisons compute the inverse of their
// mask, and Mask::inverted says so. The inverse costs nothing if the user of the mask can exchange two operands.
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
  int reg;  // the number of a vector register (AVX2) or of a mask register (AVX-512)
  bool inverted = false;
};

class Assembler : public Xbyak::CodeGenerator {
 public:
  using Xmm = Xbyak::Xmm;
  using Operand = Xbyak::Operand;
  using Address = Xbyak::Address;
  using Opmask = Xbyak::Opmask;

  explicit Assembler(Vectors vectors);

  bool wide() const { return wide_; }
  int width() const { return wide_ ? 16 : 8; }
  int vector_bytes() const { return 4 * width(); }
  int vector_count() const { return wide_ ? 32 : 16; }

  Xmm v(int reg) const;
  static Xbyak::Ymm half(int reg) { return Xbyak::Ymm(reg); }

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
  void negate_mask(const Xmm& to, const Xmm& mask);

  // --- Constants, in memory behind the code ---
  Address constant(std::uint32_t word);                                 // in all lanes
  Address constant_quad(std::uint64_t quad);                            // in all pairs of lanes
  Address constant_bytes(const std::array<std::uint8_t, 16>& sixteen);  // in each 128 bits
  Address constant_words(const std::array<std::uint32_t, 16>& words);   // of vectors of 16 lanes
  Address count_up();                                                   // 0, 1, 2 ...
  void write_constants();
  // The offsets at which write_constants() wrote the constants, in order. Each constant has the size of a vector.
  const std::vector<std::uint32_t>& constant_offsets() const { return constant_offsets_; }

  // --- Masks; `scratch` names a vector (AVX2) or a mask register (AVX-512) that the result may take ---
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
  // Load and store the lanes of a mask. Loads set the other lanes of `to` to zero. The memory of the other lanes is not accessed.
  void load_masked(const Xmm& to, int mask, const Address& from);
  void store_masked(const Address& to, int mask, const Xmm& from);
  // Loads the words at base + offset + index * scale in the lanes of a mask, and zeros in the others. Destroys the mask. All registers must
  // differ.
  void gather(const Xmm& to, const Xbyak::Reg64& base, int offset, const Xmm& index, int scale, int mask);

  // Keeps `emit`, which writes a cold path, until write_later() calls it behind the other code.
  void later(std::function<void()> emit) { later_.push_back({std::move(emit), marks_.empty() ? 0 : marks_.back().position}); }
  void write_later();

  // --- Marks ---
  void mark(Part part, std::uint32_t position = 0) { marks_.push_back({static_cast<std::uint32_t>(getSize()), part, position}); }
  const std::vector<Mark>& marks() const { return marks_; }

 private:
  Xbyak::Label& bytes_at(const std::vector<std::uint8_t>& bytes);

  bool wide_;
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
