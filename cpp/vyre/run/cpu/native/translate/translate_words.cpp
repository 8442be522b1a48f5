// Translates instructions on uniform values, each of which is one word for all lanes, and accesses to variables. Sums, bitwise operations
// and shifts by constants are computed in the register of the result. Other operations compute in eax and move the value to its home.
#include <cstddef>
#include <utility>
#include <variant>

#include "vyre/base/assert.hpp"
#include "vyre/base/overloaded.hpp"
#include "vyre/run/cpu/native/translate/translator.hpp"

namespace vyre::run::cpu::native {
namespace {

using G = Xbyak::CodeGenerator;
using Xbyak::Operand;

// Computes the result in the register of the first operand.
struct Combines {
  void (G::*with)(const Operand&, const Operand&);
  void (G::*with_constant)(const Operand&, std::uint32_t);
};
struct Shifts {
  void (G::*by)(const Operand&, int);
  void (G::*by_amount)(const Operand&, const Xbyak::Reg8&);
};
// These compute eax, from eax and ecx.
struct Changes {
  void (G::*change)(const Operand&);
};
struct Sets {  // the truth of a comparison
  void (G::*set)(const Operand&);
};
struct Chooses {  // ecx, by how it compares with eax
  void (G::*move)(const Xbyak::Reg&, const Operand&);
};
struct Own {};
using OnWords = std::variant<Own, Combines, Shifts, Changes, Sets, Chooses>;

constexpr OnWords combines(void (G::*with)(const Operand&, const Operand&), void (G::*with_constant)(const Operand&, std::uint32_t)) {
  return Combines{with, with_constant};
}
constexpr OnWords shifts(void (G::*by)(const Operand&, int), void (G::*by_amount)(const Operand&, const Xbyak::Reg8&)) {
  return Shifts{by, by_amount};
}
constexpr OnWords changes(void (G::*change)(const Operand&)) { return Changes{change}; }
constexpr OnWords sets(void (G::*set)(const Operand&)) { return Sets{set}; }
constexpr OnWords chooses(void (G::*move)(const Xbyak::Reg&, const Operand&)) { return Chooses{move}; }

// How each opcode computes a uniform value: the `word` column of opcodes.def.
constexpr OnWords kOnWords[] = {
#define VYRE_OPCODE(...) {},
#define VYRE_UNARY(op, name, flags, forms, spirv, wgsl, ptx, value, word, vector) word,
#define VYRE_BINARY VYRE_UNARY
#include "vyre/lower/opcodes.def"
};

}  // namespace

// Computes sums, differences, bitwise operations, and shifts by constants. Returns false for other opcodes.
bool Translator::scalar_simple(Opcode op, CellId dest, CellId a, CellId b) {
  Reg32 to = word_target(dest, a_.eax);
  const OnWords& word = kOnWords[static_cast<std::size_t>(op)];
  if (const auto* const shift = std::get_if<Shifts>(&word); shift != nullptr && cell(b).constant) {
    get(to, a);
    (a_.*shift->by)(to, static_cast<int>(at(cell(b).value).imm % 32));
    put(dest, to);
    return true;
  }
  const auto* const combination = std::get_if<Combines>(&word);
  if (combination == nullptr) return false;
  const auto is_target = [&](CellId id) { return in_register(id) && homes_.of[id].reg == to.getIdx(); };
  if (lower::commutes(op) && (cell(a).constant || is_target(b))) std::swap(a, b);
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
  match(
      kOnWords[static_cast<std::size_t>(i.op)], [&](const Own&) { own_word(i); },
      [&](const Combines& it) { (a_.*it.with)(a_.eax, a_.ecx); }, [&](const Shifts& it) { (a_.*it.by_amount)(a_.eax, a_.cl); },
      [&](const Changes& it) { (a_.*it.change)(a_.eax); },
      [&](const Sets& it) {
        a_.cmp(a_.eax, a_.ecx);
        (a_.*it.set)(a_.al);
        a_.movzx(a_.eax, a_.al);
      },
      [&](const Chooses& it) {
        a_.cmp(a_.ecx, a_.eax);
        (a_.*it.move)(a_.eax, a_.ecx);
      });
  put(dest, a_.eax);
}

// The opcodes that have no `word`.
void Translator::own_word(const Instruction& i) {
  switch (i.op) {
    case Opcode::Mul:
      return a_.imul(a_.eax, a_.ecx);
    case Opcode::MulHigh:
      a_.imul(a_.rax, a_.rcx);  // both factors are zero-extended, so their product has at most 64 bits
      return a_.shr(a_.rax, 32);
    case Opcode::AddSat:
      a_.mov(a_.edx, 0xFFFFFFFFu);
      a_.add(a_.eax, a_.ecx);
      return a_.cmovc(a_.eax, a_.edx);
    case Opcode::Popcount:
      return a_.count_ones();
    case Opcode::Clz:
      return a_.count_leading_zeros();
    case Opcode::Ctz:
      return a_.count_trailing_zeros();
    case Opcode::ReverseBits:
      return scalar_reverse();
    case Opcode::Div:
    case Opcode::Mod:
    case Opcode::SDiv:
    case Opcode::SMod:
      return scalar_divide(i);
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
