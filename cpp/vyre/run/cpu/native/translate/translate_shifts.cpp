// Translates shifts and rotations whose values vary between lanes.
#include <array>

#include "vyre/run/cpu/native/translate/translator.hpp"

namespace vyre::run::cpu::native {
namespace {

// The byte shuffle that rotates each word to the left by `bytes`.
std::array<std::uint8_t, 16> rotated_bytes(std::uint32_t bytes) {
  std::array<std::uint8_t, 16> order{};
  for (std::uint32_t k = 0; k < 16; ++k) order[k] = static_cast<std::uint8_t>(k / 4 * 4 + (k + 4 - bytes) % 4);
  return order;
}

}  // namespace

// The operand of a shift by a constant, which AVX2 has no form for in memory.
Translator::Source Translator::shifted(CellId id, int part) {
  if (a_.wide() || a_.narrow()) return source(id, part, 0);
  return {false, in(id, part, 0), a_.ptr[a_.rax]};
}

void Translator::vector_shift(const Instruction& i, CellId dest, int part) {
  if (is_constant(i.b)) {
    const Source a = shifted(cell_of(i.a), part);
    const auto amount = static_cast<std::uint8_t>(at(i.b).imm & 31);
    const Xmm to = target(dest, part, 0);
    if (i.op == Opcode::Shl) {
      a_.vpslld(to, a, amount);
    } else if (i.op == Opcode::Shr) {
      a_.vpsrld(to, a, amount);
    } else {
      a_.vpsrad(to, a, amount);
    }
    return out(dest, part, to);
  }
  if (a_.narrow()) return vector_shift_narrow(i, dest, part);
  const Xmm a = in(cell_of(i.a), part, 0);
  const Source b = source(cell_of(i.b), part, 1);
  const Xmm to = target(dest, part, 0);
  if (i.op == Opcode::Shl) {
    a_.vpsllvd(to, a, b);
  } else if (i.op == Opcode::Shr) {
    a_.vpsrlvd(to, a, b);
  } else {
    a_.vpsravd(to, a, b);
  }
  out(dest, part, to);
}

// SSE4.1 shifts all lanes by the same amount.
void Translator::vector_shift_narrow(const Instruction& i, CellId dest, int part) {
  if (varies(i.b)) {
    const Xmm a = in(cell_of(i.a), part, 0), amounts = in(cell_of(i.b), part, 1);
    const Xmm to = target(dest, part, 0);
    if (i.op == Opcode::Shl) {
      a_.power_of_two(a_.v(2), amounts);
      a_.vpmulld(to, a, a_.v(2));
    } else {
      a_.shift_each(i.op, to, a, amounts);
    }
    return out(dest, part, to);
  }
  get(a_.eax, cell_of(i.b));
  const Xmm amount = a_.v(1), a = in(cell_of(i.a), part, 0), to = target(dest, part, 0);
  a_.vmovd(amount, a_.eax);
  a_.shift_all(i.op, to, a, amount);
  out(dest, part, to);
}

void Translator::vector_rotate(const Instruction& i, CellId dest, int part) {
  const bool left = i.op == Opcode::RotateLeft;
  const std::uint32_t by = is_constant(i.b) ? at(i.b).imm & 31 : 0, amount = left ? by : (32 - by) & 31;  // to the left
  if (a_.wide() && is_constant(i.b)) {
    const Source from = shifted(cell_of(i.a), part);
    const Xmm to = target(dest, part, 0);
    a_.vprold(to, from, static_cast<std::uint8_t>(amount));
    return out(dest, part, to);
  }
  const Xmm a = in(cell_of(i.a), part, 0);
  if (is_constant(i.b)) {
    const Xmm to = target(dest, part, 0);
    if (amount % 8 == 0) {
      a_.vpshufb(to, a, a_.constant_bytes(rotated_bytes(amount / 8)));
    } else {
      a_.vpslld(a_.v(1), a, static_cast<std::uint8_t>(amount));
      a_.vpsrld(to, a, static_cast<std::uint8_t>(32 - amount));
      a_.vpor(to, to, a_.v(1));
    }
    return out(dest, part, to);
  }
  if (a_.wide()) {
    const Source b = source(cell_of(i.b), part, 1);
    const Xmm to = target(dest, part, 0);
    left ? a_.vprolvd(to, a, b) : a_.vprorvd(to, a, b);
    return out(dest, part, to);
  }
  if (a_.narrow()) return vector_rotate_narrow(i, dest, part);
  // A shift by 32 gives zero, which is what a rotation by 0 needs.
  a_.vpand(a_.v(1), in(cell_of(i.b), part, 1), a_.constant(31));
  a_.vmovdqa(a_.v(2), a_.constant(32));
  a_.vpsubd(a_.v(2), a_.v(2), a_.v(1));
  left ? a_.vpsllvd(a_.v(1), a, a_.v(1)) : a_.vpsrlvd(a_.v(1), a, a_.v(1));
  left ? a_.vpsrlvd(a_.v(2), a, a_.v(2)) : a_.vpsllvd(a_.v(2), a, a_.v(2));
  a_.vpor(a_.v(1), a_.v(1), a_.v(2));
  out(dest, part, a_.v(1));
}

// SSE4.1 has no rotation. By an amount that all lanes share, it is two shifts.
void Translator::vector_rotate_narrow(const Instruction& i, CellId dest, int part) {
  const bool left = i.op == Opcode::RotateLeft;
  const Xmm a = in(cell_of(i.a), part, 0);
  const Xmm to = target(dest, part, 0);
  if (!varies(i.b)) {
    get(a_.eax, cell_of(i.b));
    a_.and_(a_.eax, 31);
    a_.vmovd(a_.v(1), a_.eax);
    a_.neg(a_.eax);
    a_.add(a_.eax, 32);
    a_.vmovd(a_.v(2), a_.eax);
    a_.shift_all(left ? Opcode::Shl : Opcode::Shr, a_.v(3), a, a_.v(1));
    a_.shift_all(left ? Opcode::Shr : Opcode::Shl, to, a, a_.v(2));
    a_.vpor(to, to, a_.v(3));
    return out(dest, part, to);
  }
  a_.rotate_each(i.op, to, a, in(cell_of(i.b), part, 1));
  out(dest, part, to);
}

}  // namespace vyre::run::cpu::native
