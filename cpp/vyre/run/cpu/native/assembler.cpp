#include "vyre/run/cpu/native/assembler.hpp"

#include <xbyak/xbyak_util.h>

#include <cstring>

#include "vyre/base/assert.hpp"

namespace vyre::run::cpu::native {
namespace {

using lower::Opcode;

// xbyak writes the code to plain memory. It is copied to executable pages later (code_pages.hpp).
class PlainMemory : public Xbyak::Allocator {
 public:
  bool useProtect() const override { return false; }
};
PlainMemory plain_memory;

std::vector<std::uint8_t> repeated(const void* bytes, std::size_t size, std::size_t total) {
  std::vector<std::uint8_t> result(total);
  for (std::size_t at = 0; at < total; at += size) std::memcpy(result.data() + at, bytes, size);
  return result;
}

// The predicates of vpcmpud and vpcmpd.
enum : std::uint8_t { kEqual = 0, kLess = 1, kLessOrEqual = 2, kNotEqual = 4 };

std::uint8_t predicate(Opcode op) {
  switch (op) {
    case Opcode::Eq:
      return kEqual;
    case Opcode::Ne:
      return kNotEqual;
    case Opcode::Lt:
    case Opcode::SLt:
      return kLess;
    default:
      return kLessOrEqual;
  }
}

}  // namespace

std::vector<Vectors> available_vectors() {
  using Xbyak::util::Cpu;
  const Cpu cpu;
  std::vector<Vectors> found;
  if (!cpu.has(Cpu::tSSSE3 | Cpu::tSSE41)) return found;
  found.push_back(Vectors::Sse41);
  if (!cpu.has(Cpu::tAVX2 | Cpu::tBMI1 | Cpu::tBMI2 | Cpu::tPOPCNT | Cpu::tLZCNT)) return found;
  found.push_back(Vectors::Avx2);
  if (cpu.has(Cpu::tAVX512F | Cpu::tAVX512BW | Cpu::tAVX512DQ | Cpu::tAVX512VL | Cpu::tAVX512CD)) found.push_back(Vectors::Avx512);
  return found;
}

Assembler::Assembler(Vectors vectors)
    : CodeGenerator(std::size_t{1} << 16, Xbyak::AutoGrow, &plain_memory),
      vectors_(vectors),
      wide_(vectors == Vectors::Avx512),
      narrow_(vectors == Vectors::Sse41) {
  setDefaultJmpNEAR(true);
}

Assembler::Xmm Assembler::v(int reg) const {
  if (wide_) return Xbyak::Zmm(reg);
  if (narrow_) return Xmm(reg);
  return Xbyak::Ymm(reg);
}

// --- Vectors ---

void Assembler::move(const Xmm& to, const Xmm& from) {
  if (to.getIdx() == from.getIdx()) return;
  if (wide_) return vmovdqa32(to, from);
  narrow_ ? movdqa(to, from) : vmovdqa(to, from);
}
void Assembler::load(const Xmm& to, const Address& from) { wide_ ? vmovdqu32(to, from) : vmovdqu(to, from); }
void Assembler::store(const Address& to, const Xmm& from) { wide_ ? vmovdqu32(to, from) : vmovdqu(to, from); }
void Assembler::broadcast(const Xmm& to, const Operand& word) { narrow_ ? broadcast_word(to, word) : vpbroadcastd(to, word); }
void Assembler::bit_and(const Xmm& to, const Xmm& a, const Operand& b) { wide_ ? vpandd(to, a, b) : vpand(to, a, b); }
void Assembler::bit_or(const Xmm& to, const Xmm& a, const Operand& b) { wide_ ? vpord(to, a, b) : vpor(to, a, b); }
void Assembler::bit_xor(const Xmm& to, const Xmm& a, const Operand& b) { wide_ ? vpxord(to, a, b) : vpxor(to, a, b); }
void Assembler::bit_andn(const Xmm& to, const Xmm& a, const Operand& b) { wide_ ? vpandnd(to, a, b) : vpandn(to, a, b); }
void Assembler::zero(const Xmm& to) {
  const Xbyak::Xmm low(to.getIdx());
  to.getIdx() < 16 ? vpxor(low, low, low) : vpxord(low, low, low);
}

// --- Constants ---

Xbyak::Label& Assembler::bytes_at(const std::vector<std::uint8_t>& bytes) { return constants_[bytes]; }

Assembler::Address Assembler::constant(std::uint32_t word) {
  return ptr[rip + bytes_at(repeated(&word, sizeof word, static_cast<std::size_t>(vector_bytes())))];
}
Assembler::Address Assembler::constant_quad(std::uint64_t quad) {
  return ptr[rip + bytes_at(repeated(&quad, sizeof quad, static_cast<std::size_t>(vector_bytes())))];
}
Assembler::Address Assembler::constant_bytes(const std::array<std::uint8_t, 16>& sixteen) {
  return ptr[rip + bytes_at(repeated(sixteen.data(), sixteen.size(), static_cast<std::size_t>(vector_bytes())))];
}
Assembler::Address Assembler::constant_words(const std::array<std::uint32_t, 16>& words) {
  return ptr[rip + bytes_at(repeated(words.data(), sizeof words, sizeof words))];
}
Assembler::Address Assembler::count_up() {
  std::array<std::uint32_t, 16> words{};
  for (std::uint32_t k = 0; k < words.size(); ++k) words[k] = k;
  return ptr[rip + bytes_at(repeated(words.data(), static_cast<std::size_t>(vector_bytes()), static_cast<std::size_t>(vector_bytes())))];
}
void Assembler::write_constants() {
  align(64);
  for (auto& [bytes, label] : constants_) {
    L(label);
    constant_offsets_.push_back(static_cast<std::uint32_t>(getSize()));
    db(bytes.data(), bytes.size());
  }
}

void Assembler::write_later() {
  // Writing a cold path may add further cold paths to the end of later_.
  for (std::size_t k = 0; k < later_.size(); ++k) {
    const Later one = std::move(later_[k]);
    mark(Part::Rare, one.position);
    one.emit();
  }
  later_.clear();
}

// --- Masks ---

Mask Assembler::compare(Opcode op, const Xmm& a, const Operand& b, const Xmm* b_register, int scratch) {
  const bool is_signed = op == Opcode::SLt || op == Opcode::SLe;
  if (wide_) {
    const Opmask to(scratch);
    is_signed ? vpcmpd(to, a, b, predicate(op)) : vpcmpud(to, a, b, predicate(op));
    return {scratch, false};
  }
  const Xmm to = v(scratch);
  switch (op) {
    case Opcode::Eq:
    case Opcode::Ne:
      vpcmpeqd(to, a, b);
      return {scratch, op == Opcode::Ne};
    case Opcode::Le:  // a <= b if min(a, b) == a
      vpminud(to, a, b);
      vpcmpeqd(to, to, a);
      return {scratch, false};
    case Opcode::Lt:  // a < b unless max(a, b) == a
      vpmaxud(to, a, b);
      vpcmpeqd(to, to, a);
      return {scratch, true};
    case Opcode::SLe:
      vpcmpgtd(to, a, b);
      return {scratch, true};
    case Opcode::SLt:
      if (b_register != nullptr) {
        vpcmpgtd(to, *b_register, a);
        return {scratch, false};
      }
      vpmaxsd(to, a, b);
      vpcmpeqd(to, to, a);
      return {scratch, true};
    default:
      VYRE_ASSERT(!"a comparison");
      return {scratch, false};
  }
}

Mask Assembler::non_zero(const Xmm& a, int scratch) {
  if (wide_) {
    vptestmd(Opmask(scratch), a, a);
    return {scratch, false};
  }
  const Xmm to = v(scratch);
  vpcmpeqd(to, a, constant(0));
  return {scratch, true};
}

Mask Assembler::from_ones(const Xmm& ones, int scratch) {
  if (!wide_) return {ones.getIdx(), false};
  vpmovd2m(Opmask(scratch), ones);
  return {scratch, false};
}

void Assembler::to_ones(const Xmm& to, const Mask& mask) {
  if (wide_) {
    vpmovm2d(to, Opmask(mask.reg));
    if (mask.inverted) vpternlogd(to, to, to, 0x55);
  } else if (mask.inverted) {
    bit_xor(to, v(mask.reg), constant(~0u));
  } else {
    move(to, v(mask.reg));
  }
}

void Assembler::to_truths(const Xmm& to, const Mask& mask) {
  if (wide_) {
    vpmovm2d(to, Opmask(mask.reg));
    mask.inverted ? vpaddd(to, to, constant(1)) : vpsrld(to, to, 31);
  } else if (mask.inverted) {
    vpaddd(to, v(mask.reg), constant(1));
  } else {
    vpsrld(to, v(mask.reg), 31);
  }
}

void Assembler::select(const Xmm& to, const Mask& mask, const Xmm& if_true, const Xmm& if_false) {
  const Xmm& yes = mask.inverted ? if_false : if_true;
  const Xmm& no = mask.inverted ? if_true : if_false;
  if (wide_) {
    vpblendmd(to | Opmask(mask.reg), no, yes);
  } else if (narrow_) {  // the instruction that selects wants the mask in vector 0
    vpxor(spare(), yes, no);
    vpand(spare(), spare(), v(mask.reg));
    vpxor(to, no, spare());
  } else {
    vpblendvb(to, no, yes, v(mask.reg));
  }
}

void Assembler::mask_and(int to, int a, const Mask& b) {
  if (wide_) {
    b.inverted ? kandnw(Opmask(to), Opmask(b.reg), Opmask(a)) : kandw(Opmask(to), Opmask(a), Opmask(b.reg));
  } else {
    b.inverted ? vpandn(v(to), v(b.reg), v(a)) : vpand(v(to), v(a), v(b.reg));
  }
}
Mask Assembler::mask_and_of(int to, const Mask& a, const Mask& b) {
  if (a.inverted && b.inverted) {
    wide_ ? korw(Opmask(to), Opmask(a.reg), Opmask(b.reg)) : vpor(v(to), v(a.reg), v(b.reg));
    return {to, true};
  }
  a.inverted ? mask_and(to, b.reg, a) : mask_and(to, a.reg, b);
  return {to, false};
}
Mask Assembler::mask_or_of(int to, const Mask& a, const Mask& b) {
  const Mask neither = mask_and_of(to, {a.reg, !a.inverted}, {b.reg, !b.inverted});
  return {to, !neither.inverted};
}
void Assembler::mask_copy(int to, const Mask& from) {
  if (wide_) {
    from.inverted ? knotw(Opmask(to), Opmask(from.reg)) : kmovw(Opmask(to), Opmask(from.reg));
  } else if (from.inverted) {
    vpxor(v(to), v(from.reg), constant(~0u));
  } else {
    move(v(to), v(from.reg));
  }
}
void Assembler::mask_all(int to) { wide_ ? kxnorw(Opmask(to), Opmask(to), Opmask(to)) : vpcmpeqd(v(to), v(to), v(to)); }
void Assembler::mask_none(int to) { wide_ ? kxorw(Opmask(to), Opmask(to), Opmask(to)) : vpxor(v(to), v(to), v(to)); }
void Assembler::mask_load(int to, const Address& from) { wide_ ? kmovw(Opmask(to), from) : vmovdqu(v(to), from); }
void Assembler::mask_store(const Address& to, int from) { wide_ ? kmovw(to, Opmask(from)) : vmovdqu(to, v(from)); }
void Assembler::mask_bits(const Xbyak::Reg32& to, int mask) {
  if (wide_) return kmovw(to, Opmask(mask));
  narrow_ ? movmskps(to, v(mask)) : vmovmskps(to, v(mask));
}
void Assembler::mask_without(int to, int a, int b) { wide_ ? kandnw(Opmask(to), Opmask(b), Opmask(a)) : vpandn(v(to), v(b), v(a)); }
void Assembler::mask_or_to_memory(const Address& memory, int mask, int scratch) {
  mask_load(scratch, memory);
  wide_ ? korw(Opmask(scratch), Opmask(scratch), Opmask(mask)) : vpor(v(scratch), v(scratch), v(mask));
  mask_store(memory, scratch);
}

void Assembler::load_masked(const Xmm& to, int mask, const Address& from) {
  if (narrow_) return load_lanes(to, mask, from);
  wide_ ? vmovdqu32(to | Opmask(mask) | T_z, from) : vpmaskmovd(to, v(mask), from);
}
void Assembler::store_masked(const Address& to, int mask, const Xmm& from) {
  if (narrow_) return store_lanes(to, mask, from);
  wide_ ? vmovdqu32(to | Opmask(mask), from) : vpmaskmovd(to, v(mask), from);
}

void Assembler::gather(const Xmm& to, const Xbyak::Reg64& base, int offset, const Xmm& index, int scale, int mask) {
  if (narrow_) return gather_lanes(to, base, offset, index, scale, mask);
  zero(to);
  if (wide_) {
    vpgatherdd(to | Opmask(mask), ptr[base + Xbyak::Zmm(index.getIdx()) * scale + offset]);
  } else {
    vpgatherdd(to, ptr[base + Xbyak::Ymm(index.getIdx()) * scale + offset], v(mask));
  }
}

}  // namespace vyre::run::cpu::native
