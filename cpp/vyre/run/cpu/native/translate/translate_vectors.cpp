// Translates instructions whose values vary between lanes. An operation that the processor has becomes one machine instruction, and any
// other becomes several. The result is written to its register last, because an operand may be in the same register.
#include <algorithm>
#include <bit>
#include <cstddef>

#include "vyre/base/assert.hpp"
#include "vyre/lower/reciprocal.hpp"
#include "vyre/run/cpu/native/translate/translator.hpp"

namespace vyre::run::cpu::native {
namespace {

using A = Assembler;
// The one instruction of the processor that computes a value, if there is one.
using OnVectors = void (A::*)(const Xbyak::Xmm&, const Xbyak::Xmm&, const Xbyak::Operand&);
constexpr OnVectors one(OnVectors instruction) { return instruction; }

// The `vector` column of opcodes.def.
constexpr OnVectors kOnVectors[] = {
#define VYRE_OPCODE(...) {},
#define VYRE_UNARY(op, name, flags, forms, spirv, wgsl, ptx, value, word, vector) vector,
#define VYRE_BINARY VYRE_UNARY
#include "vyre/lower/opcodes.def"
};

constexpr std::array<std::uint8_t, 16> kReversedBytes = {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12};
constexpr std::array<std::uint8_t, 16> kBitsOfNibble = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
constexpr std::array<std::uint8_t, 16> kReversedNibbles = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};

std::array<std::uint8_t, 16> shifted_nibbles() {
  std::array<std::uint8_t, 16> result{};
  std::ranges::transform(kReversedNibbles, result.begin(), [](std::uint8_t nibble) { return static_cast<std::uint8_t>(nibble << 4); });
  return result;
}

}  // namespace

void Translator::vector_lanewise(std::uint32_t position, int part) {
  const Instruction& i = at(position);
  const CellId dest = analysis_.of_value[position][0];
  if (const Ternary* const ternary = analysis_.ternaries.at(position)) return vector_ternary(*ternary, dest, part);
  if (lower::is_comparison(i.op)) return vector_compare(i, dest, part);
  if (vector_simple(i, dest, part)) return;
  switch (i.op) {
    case Opcode::Shl:
    case Opcode::Shr:
    case Opcode::SShr:
      return vector_shift(i, dest, part);
    case Opcode::RotateLeft:
    case Opcode::RotateRight:
      return vector_rotate(i, dest, part);
    case Opcode::MulHigh: {
      const Xmm a = in(cell_of(i.a), part, 0), b = in(cell_of(i.b), part, 1);
      vector_mul_high(a_.v(2), a, b);
      return out(dest, part, a_.v(2));
    }
    case Opcode::Not: {
      const Xmm to = target(dest, part, 0);
      a_.bit_xor(to, in(cell_of(i.a), part, 0), a_.constant(~0u));
      return out(dest, part, to);
    }
    case Opcode::Neg: {
      const Source a = source(cell_of(i.a), part, 0);
      a_.zero(a_.v(1));
      const Xmm to = target(dest, part, 1);
      a_.vpsubd(to, a_.v(1), a);
      return out(dest, part, to);
    }
    case Opcode::AddSat: {  // a + min(b, ~a)
      const Xmm a = in(cell_of(i.a), part, 0);
      const Source b = source(cell_of(i.b), part, 1);
      a_.bit_xor(a_.v(2), a, a_.constant(~0u));
      a_.vpminud(a_.v(2), a_.v(2), b);
      a_.vpaddd(a_.v(2), a_.v(2), a);
      return out(dest, part, a_.v(2));
    }
    case Opcode::Div:
    case Opcode::Mod:
    case Opcode::SDiv:
    case Opcode::SMod:
      return vector_divide(i, dest, part);
    default:
      return vector_bits(i, dest, part);
  }
}

// Emits an operation that is one instruction of the processor. Returns false for any other.
bool Translator::vector_simple(const Instruction& i, CellId dest, int part) {
  const OnVectors instruction = kOnVectors[static_cast<std::size_t>(i.op)];
  if (instruction == nullptr) return false;
  CellId first = cell_of(i.a), second = cell_of(i.b);
  // The second operand may be in memory.
  if (lower::commutes(i.op) && (!cell(first).varying || !in_register(first))) std::swap(first, second);
  const Source b = source(second, part, 1);
  const Xmm to = target(dest, part, 0);
  // SSE4.1 overwrites the first operand, so it is loaded to where the result goes.
  const bool free = a_.narrow() && (b.in_memory || b.reg.getIdx() != to.getIdx());
  (a_.*instruction)(to, in(first, part, free ? to.getIdx() : 0), b);
  out(dest, part, to);
  return true;
}

// The instruction's first operand is also its result. The code takes for it the operand that has the result's register, or one that must be
// loaded anyway, or else copies one. The last operand may be in memory.
void Translator::vector_ternary(const Ternary& ternary, CellId dest, int part) {
  const Xmm to = target(dest, part, 0);
  const auto id = [&](int k) { return cell_of(ternary.operands[static_cast<std::size_t>(k)]); };
  const auto is_loaded = [&](int k) { return !cell(id(k)).varying || !in_register(id(k)); };
  const auto is_result = [&](int k) { return !is_loaded(k) && source(id(k), part, 0).reg.getIdx() == to.getIdx(); };
  std::array<int, 3> order{0, 1, 2};
  std::ranges::stable_sort(order, {}, [&](int k) { return is_result(k) ? 0 : is_loaded(k) ? 1 : 2; });
  if (is_loaded(order[1])) std::swap(order[1], order[2]);
  std::uint8_t table = 0;
  for (unsigned now = 0; now < 8; ++now) {
    unsigned then = 0;  // the case in the order of the expression
    for (int k = 0; k < 3; ++k) then |= (now >> (2 - k) & 1) << (2 - order[static_cast<std::size_t>(k)]);
    table = static_cast<std::uint8_t>(table | (ternary.table >> then & 1) << now);
  }
  const Xmm b = in(id(order[1]), part, 1);
  const Source c = source(id(order[2]), part, 2);
  a_.move(to, in(id(order[0]), part, to.getIdx()));
  a_.vpternlogd(to, b, c, table);
  out(dest, part, to);
}

// `to` is none of the operands; vector 3 is scratch.
void Translator::vector_mul_high(const Xmm& to, const Xmm& a, const Xmm& b) {
  const Xmm odd = a_.v(3);
  a_.vpsrlq(to, a, 32);
  a_.vpsrlq(odd, b, 32);
  a_.vpmuludq(odd, odd, to);
  a_.vpmuludq(to, a, b);
  a_.vpsrlq(to, to, 32);
  a_.bit_and(odd, odd, a_.constant_quad(0xFFFFFFFF00000000u));
  a_.bit_or(to, to, odd);
}

// Replaces vector a by a / b, and destroys vector b. The quotient in double precision, truncated, is exact: a quotient of two words that is
// no integer differs from every integer by at least 2^-32 of its value, which is more than the rounding error. Divisors of zero, which
// inactive lanes may have, become 1.
void Translator::unsigned_quotient(int a, int b) {
  a_.vpmaxud(a_.v(b), a_.v(b), a_.constant(1));
  if (a_.wide()) {
    using Xbyak::Ymm;
    using Xbyak::Zmm;
    const Zmm low = Zmm(2), divisor = Zmm(3);
    a_.vcvtudq2pd(low, Ymm(a));
    a_.vcvtudq2pd(divisor, Ymm(b));
    a_.vdivpd(low, low, divisor);
    a_.vextracti64x4(Ymm(a), Zmm(a), 1);
    a_.vextracti64x4(Ymm(b), Zmm(b), 1);
    a_.vcvtudq2pd(Zmm(a), Ymm(a));
    a_.vcvtudq2pd(divisor, Ymm(b));
    a_.vdivpd(Zmm(a), Zmm(a), divisor);
    a_.vcvttpd2udq(Ymm(2), low);
    a_.vcvttpd2udq(Ymm(a), Zmm(a));
    a_.vinserti64x4(Zmm(a), Zmm(2), Ymm(a), 1);
    return;
  }
  constexpr std::uint64_t kTwoTo52 = 0x4330000000000000u;  // the bits of 2^52 as a double, whose lowest bits are free for a word
  const auto to_double = [&](const Xmm& to) {
    a_.vpor(to, to, a_.constant_quad(kTwoTo52));
    a_.vsubpd(to, to, a_.constant_quad(kTwoTo52));
  };
  const auto quotient = [&](const Xmm& to, const Xmm& divisor) {
    to_double(to);
    to_double(divisor);
    a_.vdivpd(to, to, divisor);
    a_.vroundpd(to, to, 3);
    a_.vaddpd(to, to, a_.constant_quad(kTwoTo52));
  };
  // The lower half of the lanes in vectors 2 and 3, then the upper half in vectors a and 3.
  a_.vpmovzxdq(a_.v(2), Xbyak::Xmm(a));
  a_.vpmovzxdq(a_.v(3), Xbyak::Xmm(b));
  quotient(a_.v(2), a_.v(3));
  a_.upper_half(a);
  a_.upper_half(b);
  a_.vpmovzxdq(a_.v(a), Xbyak::Xmm(a));
  a_.vpmovzxdq(a_.v(3), Xbyak::Xmm(b));
  quotient(a_.v(a), a_.v(3));
  a_.vshufps(a_.v(a), a_.v(2), a_.v(a), 0x88);
  if (!a_.narrow()) a_.vpermq(Xbyak::Ymm(a), Xbyak::Ymm(a), 0xD8);  // puts the quarters of both vectors in order
}

// Replaces vector 0 by its quotient, by a number that is not zero. Vectors 1 to 3 are scratch.
void Translator::quotient_by_constant(std::uint32_t by) {
  const Xmm x = a_.v(0), multiplier = a_.v(1), high = a_.v(2);
  if (std::has_single_bit(by)) {
    if (by > 1) a_.vpsrld(x, x, static_cast<std::uint8_t>(std::countr_zero(by)));
    return;
  }
  const lower::Reciprocal<std::uint32_t> inverse = lower::reciprocal(by);
  const auto after = static_cast<std::uint8_t>(inverse.after);
  // Unless it is exact, a multiplier with one bit more is, whose highest bit adds x to the product: (x + high) / 2 does not wrap.
  const std::uint64_t left = (std::uint64_t{1} << (32 + after)) - std::uint64_t{inverse.multiplier} * by;
  const std::uint32_t longer = 2 * inverse.multiplier + (2 * left >= by) + 1;
  if (inverse.before > 0) a_.vpsrld(x, x, static_cast<std::uint8_t>(inverse.before));
  a_.load(multiplier, a_.constant(inverse.is_exact ? inverse.multiplier : longer));
  vector_mul_high(high, x, multiplier);
  if (inverse.is_exact) return a_.vpsrld(x, high, after);
  a_.vpsubd(x, x, high);
  a_.vpsrld(x, x, 1);
  a_.vpaddd(x, x, high);
  a_.vpsrld(x, x, after);
}

// Divides signed numbers by a power of two from 1 to 2^30. A shift rounds down and the division towards zero, so 2^k - 1 is added to
// negative numbers first.
void Translator::vector_divide_by_power(const Instruction& i, CellId dest, int part) {
  const auto amount = static_cast<std::uint8_t>(std::countr_zero(at(i.b).imm));
  const Xmm a = in(cell_of(i.a), part, 0), to = a_.v(1);
  a_.vpsrad(to, a, 31);
  a_.vpsrld(to, to, static_cast<std::uint8_t>(32 - amount));
  a_.vpaddd(to, to, a);
  const Xmm result = target(dest, part, 1);
  if (i.op == Opcode::SMod) {
    a_.vpsrad(to, to, amount);
    a_.vpslld(to, to, amount);
    a_.vpsubd(result, a, to);
  } else {
    a_.vpsrad(result, to, amount);
  }
  out(dest, part, result);
}

void Translator::vector_divide(const Instruction& i, CellId dest, int part) {
  const bool is_signed = i.op == Opcode::SDiv || i.op == Opcode::SMod;
  if (is_signed && is_constant(i.b) && static_cast<std::int32_t>(at(i.b).imm) > 0 && std::has_single_bit(at(i.b).imm)) {
    return vector_divide_by_power(i, dest, part);
  }
  const bool is_remainder = i.op == Opcode::Mod || i.op == Opcode::SMod;
  const Xmm a = in(cell_of(i.a), part, 0);
  const Xmm b = in(cell_of(i.b), part, 1);
  a_.store(frame(scratch_memory_), a);
  a_.store(frame(scratch_memory_ + 64), b);
  if (is_signed) {
    a_.vpabsd(a_.v(0), a);
    a_.vpabsd(a_.v(1), b);
  } else {
    a_.move(a_.v(0), a);
    a_.move(a_.v(1), b);
  }
  const std::uint32_t by = is_constant(i.b) ? at(i.b).imm : 0;
  if (by != 0) {
    quotient_by_constant(is_signed && by >= 0x80000000u ? 0u - by : by);
  } else {
    unsigned_quotient(0, 1);
  }
  if (is_signed) {  // negative when the signs differ
    a_.load(a_.v(1), frame(scratch_memory_));
    a_.bit_xor(a_.v(1), a_.v(1), frame(scratch_memory_ + 64));
    a_.vpsrad(a_.v(1), a_.v(1), 31);
    a_.bit_xor(a_.v(0), a_.v(0), a_.v(1));
    a_.vpsubd(a_.v(0), a_.v(0), a_.v(1));
  }
  if (is_remainder) {
    a_.vpmulld(a_.v(0), a_.v(0), frame(scratch_memory_ + 64));
    a_.load(a_.v(1), frame(scratch_memory_));
    a_.vpsubd(a_.v(0), a_.v(1), a_.v(0));
  }
  out(dest, part, a_.v(0));
}

// Vectors 2 and 3 are scratch; `to` and `from` may be the same.
void Translator::count_bits(const Xmm& to, const Xmm& from) {
  const auto pattern = kBitsOfNibble;
  a_.load(a_.v(3), a_.constant_bytes(pattern));
  a_.vpsrld(a_.v(2), from, 4);
  a_.bit_and(to, from, a_.constant(0x0F0F0F0Fu));
  a_.bit_and(a_.v(2), a_.v(2), a_.constant(0x0F0F0F0Fu));
  a_.vpshufb(to, a_.v(3), to);
  a_.vpshufb(a_.v(2), a_.v(3), a_.v(2));
  a_.vpaddb(to, to, a_.v(2));
  a_.vpmaddubsw(to, to, a_.constant(0x01010101u));
  a_.vpmaddwd(to, to, a_.constant(0x00010001u));
}

void Translator::vector_bits(const Instruction& i, CellId dest, int part) {
  const Xmm a = in(cell_of(i.a), part, 0), to = a_.v(1);
  switch (i.op) {
    case Opcode::Popcount:
      count_bits(to, a);
      break;
    case Opcode::Ctz:  // counts the ones of ~a & (a - 1), which are the bits below the lowest one of a
      a_.vpaddd(to, a, a_.constant(~0u));
      a_.bit_andn(to, a, to);
      count_bits(to, to);
      break;
    case Opcode::Clz:
      if (a_.wide()) {
        a_.vplzcntd(to, a);
        break;
      }
      a_.move(to, a);
      for (const int amount : {1, 2, 4, 8, 16}) {
        a_.vpsrld(a_.v(2), to, static_cast<std::uint8_t>(amount));
        a_.vpor(to, to, a_.v(2));
      }
      a_.vpxor(to, to, a_.constant(~0u));
      count_bits(to, to);
      break;
    case Opcode::ReverseBits:
      a_.vpshufb(to, a, a_.constant_bytes(kReversedBytes));
      a_.vpsrld(a_.v(2), to, 4);
      a_.bit_and(to, to, a_.constant(0x0F0F0F0Fu));
      a_.bit_and(a_.v(2), a_.v(2), a_.constant(0x0F0F0F0Fu));
      a_.load(a_.v(3), a_.constant_bytes(shifted_nibbles()));
      a_.vpshufb(to, a_.v(3), to);
      a_.load(a_.v(3), a_.constant_bytes(kReversedNibbles));
      a_.vpshufb(a_.v(2), a_.v(3), a_.v(2));
      a_.bit_or(to, to, a_.v(2));
      break;
    default:
      VYRE_ASSERT(!"a lanewise opcode");
  }
  out(dest, part, to);
}

// --- Comparisons and conditions ---

// `scratch` is as for Assembler::compare. Vectors 0 and 1 are scratch, too.
Mask Translator::comparison(const Instruction& i, int part, int scratch) {
  CellId first = cell_of(i.a), second = cell_of(i.b);
  if (lower::commutes(i.op) && (!cell(first).varying || !in_register(first))) std::swap(first, second);
  const Xmm a = in(first, part, 0);
  const Source b = source(second, part, 1);
  return a_.compare(i.op, a, b, b.in_memory ? nullptr : &b.reg, scratch);
}

void Translator::vector_compare(const Instruction& i, CellId dest, int part) {
  const Mask mask = comparison(i, part, mask_scratch(0));
  const Xmm to = target(dest, part, 0);
  if (cell(dest).form == Form::Ones) {
    a_.to_ones(to, mask);
  } else {
    a_.to_truths(to, mask);
  }
  out(dest, part, to);
}

// Returns the mask of the lanes in which a value is not zero.
Mask Translator::condition(ValueId value, int part, int which) {
  const CellId id = cell_of(value);
  const int scratch = mask_scratch(which);
  switch (cell(id).form) {
    case Form::Folded:
      return truth(value, part, which);
    case Form::Ones:
      return a_.from_ones(in(id, part, a_.wide() ? 0 : scratch), scratch);
    default:
      return a_.non_zero(in(id, part, 0), scratch);
  }
}

// The lanes for which a value of the form Folded is true. Needs the masks `which` and, where two are combined, the next one.
Mask Translator::truth(ValueId value, int part, int which) {
  const Instruction& i = at(value);
  const auto folded = [&](ValueId operand) { return varies(operand) && cell(cell_of(operand)).form == Form::Folded; };
  if (i.op == Opcode::And || i.op == Opcode::Or) {
    const bool swap = combines_two(i.b);
    const Mask first = truth(swap ? i.b : i.a, part, which), second = truth(swap ? i.a : i.b, part, which + 1);
    return i.op == Opcode::And ? a_.mask_and_of(mask_scratch(which), first, second) : a_.mask_or_of(mask_scratch(which), first, second);
  }
  if (!folded(i.a)) return comparison(i, part, mask_scratch(which));
  const Mask negated = truth(i.a, part, which);  // Eq with 0
  return {negated.reg, !negated.inverted};
}

// Whether a value of the form Folded is made of two others.
bool Translator::combines_two(ValueId value) const {
  while (at(value).op == Opcode::Eq && cell(cell_of(at(value).a)).form == Form::Folded) value = at(value).a;
  return at(value).op == Opcode::And || at(value).op == Opcode::Or;
}

void Translator::vector_select(std::uint32_t position, int part) {
  const Instruction& i = at(position);
  if (!varies(i.a)) {  // the condition is uniform, but an operand varies
    Label otherwise, end;
    get(a_.eax, cell_of(i.a));
    a_.test(a_.eax, a_.eax);
    a_.jz(otherwise);
    for (std::uint32_t lane = 0; lane < i.lanes; ++lane) copy(analysis_.of_value[position][lane], cell_of(i.b, lane), part, false);
    a_.jmp(end);
    a_.L(otherwise);
    for (std::uint32_t lane = 0; lane < i.lanes; ++lane) copy(analysis_.of_value[position][lane], cell_of(i.c, lane), part, false);
    a_.L(end);
    return;
  }
  for (std::uint32_t lane = 0; lane < i.lanes; ++lane) {
    const CellId dest = analysis_.of_value[position][lane];
    if (!is_needed(dest)) continue;
    const Mask mask = condition(i.a, part, 0);
    const Xmm if_true = in(cell_of(i.b, lane), part, 0), if_false = in(cell_of(i.c, lane), part, 1);
    const Xmm to = target(dest, part, 0);
    a_.select(to, mask, if_true, if_false);
    out(dest, part, to);
  }
}

// --- Ids ---

// Computes the values of all lanes from the value of the first one.
void Translator::vector_of_line(std::uint32_t position, int part) {
  get(a_.eax, analysis_.first_lane[position]);
  if (part != 0) a_.add(a_.eax, part * a_.width());
  a_.vmovd(Xbyak::Xmm(0), a_.eax);
  a_.broadcast(a_.v(0), Xbyak::Xmm(0));
  const CellId dest = analysis_.of_value[position][0];
  const Xmm to = target(dest, part, 0);
  a_.vpaddd(to, a_.v(0), a_.count_up());
  out(dest, part, to);
}

void Translator::vector_id(std::uint32_t position, int part) {
  const Instruction& i = at(position);
  const CellId dest = analysis_.of_value[position][0];
  if (!is_needed(dest)) return;
  const auto first = static_cast<std::uint32_t>(part * a_.width());
  if (analysis_.whole_workgroups) {
    const auto axis_bytes = static_cast<int>(i.imm * crossing_bytes_);
    a_.mov(a_.rax, a_.qword[a_.r15 + offsetof(Context, local_ids)]);
    a_.load(a_.v(0), a_.ptr[a_.rax + a_.r13 * 4 + (axis_bytes + 4 * static_cast<int>(first))]);
    if (i.op == Opcode::InvocationId) {
      a_.broadcast(a_.v(1), a_.dword[a_.r15 + offsetof(Context, invocation) + std::size_t{4} * i.imm]);
      a_.vpaddd(a_.v(0), a_.v(0), a_.v(1));
    }
    return out(dest, part, a_.v(0));
  }
  // Along a row only x varies.
  a_.mov(a_.eax, a_.r13d);
  a_.add(a_.eax, a_.dword[a_.r15 + offsetof(Context, invocation)]);
  if (first != 0) a_.add(a_.eax, first);
  a_.vmovd(Xbyak::Xmm(0), a_.eax);
  a_.broadcast(a_.v(0), Xbyak::Xmm(0));
  a_.vpaddd(a_.v(0), a_.v(0), a_.count_up());
  const std::uint32_t size = kernel_.workgroup_size[0];
  if (i.op == Opcode::InvocationId) return out(dest, part, a_.v(0));
  if ((size & (size - 1)) == 0) {
    if (i.op == Opcode::LocalId) {
      a_.bit_and(a_.v(0), a_.v(0), a_.constant(size - 1));
    } else {
      a_.vpsrld(a_.v(0), a_.v(0), static_cast<std::uint8_t>(__builtin_ctz(size)));
    }
    return out(dest, part, a_.v(0));
  }
  a_.store(frame(scratch_memory_), a_.v(0));
  a_.load(a_.v(1), a_.constant(size));
  unsigned_quotient(0, 1);
  if (i.op == Opcode::LocalId) {
    a_.vpmulld(a_.v(1), a_.v(0), a_.constant(size));
    a_.load(a_.v(0), frame(scratch_memory_));
    a_.vpsubd(a_.v(0), a_.v(0), a_.v(1));
  }
  out(dest, part, a_.v(0));
}

}  // namespace vyre::run::cpu::native
