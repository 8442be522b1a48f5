// Translates instructions on uniform values, each of which is one word for all lanes, and accesses to variables. Sums, bitwise operations
// and shifts by constants are computed in the register of the result. Other operations compute in eax and move the value to its home.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/run/cpu/native/translate/translator.hpp"

namespace vyre::run::cpu::native {
namespace {

using G = Xbyak::CodeGenerator;

struct Combination {
  lower::Opcode op;
  bool commutes;
  void (G::*with)(const Xbyak::Operand&, const Xbyak::Operand&);
  void (G::*with_constant)(const Xbyak::Operand&, std::uint32_t);
};
constexpr Combination kCombinations[] = {
    {lower::Opcode::Add, true, &G::add, &G::add},   {lower::Opcode::Sub, false, &G::sub, &G::sub},
    {lower::Opcode::And, true, &G::and_, &G::and_}, {lower::Opcode::Or, true, &G::or_, &G::or_},
    {lower::Opcode::Xor, true, &G::xor_, &G::xor_},
};

struct Shift {
  lower::Opcode op;
  void (G::*by)(const Xbyak::Operand&, int);
};
constexpr Shift kShifts[] = {
    {lower::Opcode::Shl, &G::shl},        {lower::Opcode::Shr, &G::shr},         {lower::Opcode::SShr, &G::sar},
    {lower::Opcode::RotateLeft, &G::rol}, {lower::Opcode::RotateRight, &G::ror},
};

}  // namespace

// Computes sums, differences, bitwise operations, and shifts by constants. Returns false for other opcodes.
bool Translator::scalar_simple(Opcode op, CellId dest, CellId a, CellId b) {
  Reg32 to = word_target(dest, a_.eax);
  const auto* const shift = std::ranges::find(kShifts, op, &Shift::op);
  if (shift != std::end(kShifts) && cell(b).constant) {
    get(to, a);
    (a_.*shift->by)(to, static_cast<int>(at(cell(b).value).imm % 32));
    put(dest, to);
    return true;
  }
  const auto* const combination = std::ranges::find(kCombinations, op, &Combination::op);
  if (combination == std::end(kCombinations)) return false;
  const auto is_target = [&](CellId id) { return in_register(id) && homes_.of[id].reg == to.getIdx(); };
  if (combination->commutes && (cell(a).constant || is_target(b))) std::swap(a, b);
  if (is_target(b)) to = a_.eax;
  get(to, a);
  if (cell(b).constant) {
    (a_.*combination->with_constant)(to, at(cell(b).value).imm);
  } else if (in_register(b)) {
    (a_.*combination->with)(to, Reg32(homes_.of[b].reg));
  } else {
    (a_.*combination->with)(to, word_slot(b));
  }
  put(dest, to);
  return true;
}

void Translator::scalar_lanewise(std::uint32_t position) {
  const Instruction& i = at(position);
  const CellId dest = analysis_.of_value[position][0];
  if (!is_needed(dest)) return;
  if (i.b.valid() && scalar_simple(i.op, dest, cell_of(i.a), cell_of(i.b))) return;
  get(a_.eax, cell_of(i.a));
  if (i.b.valid()) get(a_.ecx, cell_of(i.b));
  switch (i.op) {
    case Opcode::Mul:
      a_.imul(a_.eax, a_.ecx);
      break;
    case Opcode::MulHigh:
      a_.imul(a_.rax, a_.rcx);  // both factors are zero-extended, so their product has at most 64 bits
      a_.shr(a_.rax, 32);
      break;
    case Opcode::Not:
      a_.not_(a_.eax);
      break;
    case Opcode::Neg:
      a_.neg(a_.eax);
      break;
    case Opcode::Shl:
      a_.shl(a_.eax, a_.cl);
      break;
    case Opcode::Shr:
      a_.shr(a_.eax, a_.cl);
      break;
    case Opcode::SShr:
      a_.sar(a_.eax, a_.cl);
      break;
    case Opcode::RotateLeft:
      a_.rol(a_.eax, a_.cl);
      break;
    case Opcode::RotateRight:
      a_.ror(a_.eax, a_.cl);
      break;
    case Opcode::AddSat:
      a_.mov(a_.edx, 0xFFFFFFFFu);
      a_.add(a_.eax, a_.ecx);
      a_.cmovc(a_.eax, a_.edx);
      break;
    case Opcode::Popcount:
      a_.count_ones();
      break;
    case Opcode::Clz:
      a_.count_leading_zeros();
      break;
    case Opcode::Ctz:
      a_.count_trailing_zeros();
      break;
    case Opcode::ReverseBits:
      scalar_reverse();
      break;
    case Opcode::Div:
    case Opcode::Mod:
    case Opcode::SDiv:
    case Opcode::SMod:
      scalar_divide(i);
      break;
    default:
      scalar_compare(i.op);
  }
  put(dest, a_.eax);
}

// eax = the comparison, minimum or maximum of eax and ecx.
void Translator::scalar_compare(Opcode op) {
  const auto truth = [&](void (G::*set)(const Operand&)) {
    a_.cmp(a_.eax, a_.ecx);
    (a_.*set)(a_.al);
    a_.movzx(a_.eax, a_.al);
  };
  const auto choose = [&](void (G::*move)(const Xbyak::Reg&, const Operand&)) {
    a_.cmp(a_.ecx, a_.eax);
    (a_.*move)(a_.eax, a_.ecx);
  };
  switch (op) {
    case Opcode::Min:
      return choose(&G::cmovb);
    case Opcode::Max:
      return choose(&G::cmova);
    case Opcode::SMin:
      return choose(&G::cmovl);
    case Opcode::SMax:
      return choose(&G::cmovg);
    case Opcode::Eq:
      return truth(&G::sete);
    case Opcode::Ne:
      return truth(&G::setne);
    case Opcode::Lt:
      return truth(&G::setb);
    case Opcode::Le:
      return truth(&G::setbe);
    case Opcode::SLt:
      return truth(&G::setl);
    case Opcode::SLe:
      return truth(&G::setle);
    default:
      VYRE_ASSERT(!"a lanewise opcode");
  }
}

void Translator::scalar_reverse() {
  a_.bswap(a_.eax);
  const auto swap = [&](int amount, std::uint32_t low) {
    a_.mov(a_.ecx, a_.eax);
    a_.shr(a_.ecx, amount);
    a_.and_(a_.ecx, low);
    a_.and_(a_.eax, low);
    a_.shl(a_.eax, amount);
    a_.or_(a_.eax, a_.ecx);
  };
  swap(4, 0x0F0F0F0Fu);
  swap(2, 0x33333333u);
  swap(1, 0x55555555u);
}

// Divides eax by ecx. A divisor that may trap (0, and -1 for signed numbers) becomes 1; the result is not used then.
void Translator::scalar_divide(const Instruction& i) {
  const bool is_signed = i.op == Opcode::SDiv || i.op == Opcode::SMod;
  a_.mov(a_.r11d, 1);
  if (is_signed) {
    a_.lea(a_.edx, a_.ptr[a_.rcx + 1]);
    a_.cmp(a_.edx, 1);  // -1 or 0
    a_.cmovbe(a_.ecx, a_.r11d);
    a_.cdq();
    a_.idiv(a_.ecx);
  } else {
    a_.test(a_.ecx, a_.ecx);
    a_.cmovz(a_.ecx, a_.r11d);
    a_.xor_(a_.edx, a_.edx);
    a_.div(a_.ecx);
  }
  if (i.op == Opcode::Mod || i.op == Opcode::SMod) a_.mov(a_.eax, a_.edx);
}

void Translator::scalar_select(std::uint32_t position) {
  const Instruction& i = at(position);
  get(a_.edx, cell_of(i.a));
  for (std::uint32_t lane = 0; lane < i.lanes; ++lane) {
    const CellId dest = analysis_.of_value[position][lane];
    if (!is_needed(dest)) continue;
    get(a_.eax, cell_of(i.b, lane));
    get(a_.ecx, cell_of(i.c, lane));
    a_.test(a_.edx, a_.edx);
    a_.cmovz(a_.eax, a_.ecx);
    put(dest, a_.eax);
  }
}

void Translator::scalar_id(std::uint32_t position) {
  const Instruction& i = at(position);
  const CellId dest = analysis_.of_value[position][0];
  if (!is_needed(dest)) return;
  switch (i.op) {
    case Opcode::Length:
      a_.mov(a_.eax, a_.dword[a_.r15 + offsetof(Context, extents) + sizeof(Extent) * i.imm + offsetof(Extent, length)]);
      break;
    case Opcode::WorkgroupId:
      a_.mov(a_.eax, a_.dword[a_.r15 + offsetof(Context, workgroup) + std::size_t{4} * i.imm]);
      break;
    case Opcode::LocalId:
      a_.mov(a_.eax, a_.dword[a_.r15 + offsetof(Context, local) + std::size_t{4} * i.imm]);
      break;
    default:
      a_.mov(a_.eax, a_.dword[a_.r15 + offsetof(Context, invocation) + std::size_t{4} * i.imm]);
  }
  put(dest, a_.eax);
}

// Computes the value of a group's first lane, from which the value rises by one from lane to lane.
void Translator::first_lane(std::uint32_t position) {
  const Instruction& i = at(position);
  if (i.op == Opcode::InvocationId || i.op == Opcode::LocalId) {
    a_.mov(a_.eax, a_.r13d);
    if (i.op == Opcode::InvocationId) a_.add(a_.eax, a_.dword[a_.r15 + offsetof(Context, invocation)]);
  } else {
    const auto operand = [&](ValueId value) {
      const CellId first = analysis_.first_lane[value.index];
      return first != kNone ? first : cell_of(value);
    };
    scalar_simple(i.op, analysis_.first_lane[position], operand(i.a), operand(i.b));
    return;
  }
  put(analysis_.first_lane[position], a_.eax);
}

// --- Variables ---

void Translator::copy(CellId to, CellId from, int part, bool blend) {
  if (!is_needed(to)) return;
  const Source value = source(from, part, 0);
  if (!blend) {
    if (value.in_memory) {
      const Xmm reg = target(to, part, 0);
      a_.load(reg, value.memory);
      return out(to, part, reg);
    }
    return out(to, part, value.reg);
  }
  if (value.in_memory) a_.load(a_.v(0), value.memory);
  const Xmm now = in(to, part, 1), result = target(to, part, 1);
  a_.select(result, {exec(part)}, value.in_memory ? a_.v(0) : value.reg, now);
  out(to, part, result);
}

void Translator::copy_word(CellId to, CellId from) {
  if (!is_needed(to)) return;
  get(a_.eax, from);
  put(to, a_.eax);
}

void Translator::read_variable(std::uint32_t position) {
  const Instruction& i = at(position);
  for (std::uint32_t lane = 0; lane < i.lanes; ++lane) {
    const CellId to = analysis_.of_value[position][lane], from = analysis_.of_variable[i.imm][lane];
    if (to == from) continue;
    if (!varies(position)) {
      copy_word(to, from);
    } else {
      for (int part = 0; part < parts_; ++part) copy(to, from, part, false);
    }
  }
}

void Translator::write_variable(std::uint32_t position) {
  const Instruction& i = at(position);
  for (std::uint32_t lane = 0; lane < kernel_.variables[i.imm]; ++lane) {
    const CellId to = analysis_.of_variable[i.imm][lane], from = cell_of(i.a, lane);
    if (!cell(to).varying) {
      copy_word(to, from);
    } else {
      const bool blend = masked_ && uniformity_.divergent[position];
      for (int part = 0; part < parts_; ++part) copy(to, from, part, blend);
    }
  }
}

}  // namespace vyre::run::cpu::native
