#include "vyre/lower/guards.hpp"

#include <array>

#include "vyre/base/assert.hpp"

namespace vyre::lower {
namespace {

using ir::AtomicOp;
using ir::BinOp;
using ir::DataType;
using ir::UnOp;

ValueId plain(Writer& writer, Opcode op, ValueId a, ValueId b = {}) { return writer.add({.op = op, .lanes = 1, .a = a, .b = b}); }

// 1 or 0 for non-zero or zero.
ValueId truth(Writer& writer, ValueId a) {
  if (is_comparison(writer.at(a).op)) return a;
  return writer.once(Opcode::Ne, a, writer.constant(0));
}

// Shift amounts are taken modulo 32 (semantics, section 3).
ValueId amount(Writer& writer, ValueId b) {
  if (const auto known = writer.literal(b)) return writer.constant(*known & 31);
  return writer.once(Opcode::And, b, writer.constant(31));
}

ValueId rotate(Writer& writer, ValueId a, ValueId b, Opcode forth, Opcode back) {
  const ValueId by = amount(writer, b);
  ValueId rest;
  if (const auto known = writer.literal(by)) {
    if (*known == 0) return a;
    rest = writer.constant(32 - *known);
  } else {
    // 32 - n, but 0 for n = 0, where both halves are the whole value.
    rest = writer.once(Opcode::And, writer.once(Opcode::Neg, by), writer.constant(31));
  }
  return plain(writer, Opcode::Or, plain(writer, forth, a, by), plain(writer, back, a, rest));
}

// x / 0 = 0 and x % 0 = 0: a divisor of zero becomes one, for which the remainder is right and the quotient is replaced.
ValueId divide(Writer& writer, Opcode op, ValueId a, ValueId b) {
  const ValueId zero = writer.constant(0);
  if (const auto known = writer.literal(b)) return *known == 0 ? zero : plain(writer, op, a, b);
  const ValueId by_zero = writer.once(Opcode::Eq, b, zero);
  const ValueId result = plain(writer, op, a, writer.once(Opcode::Select, by_zero, writer.constant(1), b));
  if (op == Opcode::Mod) return result;
  return writer.add({.op = Opcode::Select, .lanes = 1, .a = by_zero, .b = zero, .c = result});
}

// Also MIN / -1 = MIN and MIN % -1 = 0. For divisors of 0 and -1, the quotient is the product.
ValueId divide_signed(Writer& writer, Opcode op, ValueId a, ValueId b) {
  const ValueId one = writer.constant(1);
  if (const auto known = writer.literal(b); known && *known != 0 && *known != ~0u) return plain(writer, op, a, b);
  const ValueId special = writer.once(Opcode::Le, writer.once(Opcode::Add, b, one), one);
  const ValueId result = plain(writer, op, a, writer.once(Opcode::Select, special, one, b));
  if (op == Opcode::SMod) return result;
  return writer.add({.op = Opcode::Select, .lanes = 1, .a = special, .b = plain(writer, Opcode::Mul, a, b), .c = result});
}

// Whether a value is below `bound` on the face of it.
bool is_below(Writer& writer, ValueId value, std::uint32_t bound) {
  const Instruction& instruction = writer.at(value);
  if (instruction.op == Opcode::Constant) return instruction.imm < bound;
  if (instruction.op == Opcode::LocalId) return writer.kernel().workgroup_size[instruction.imm] <= bound;
  if (instruction.op == Opcode::And) {
    const auto left = writer.literal(instruction.a), right = writer.literal(instruction.b);
    return (left && *left < bound) || (right && *right < bound);
  }
  if (instruction.op == Opcode::Mod) {
    const auto right = writer.literal(instruction.b);
    return right && *right <= bound;
  }
  return false;
}

// 1 when the index is in range; invalid when that is known. Element indices are compared, because byte offsets wrap.
ValueId in_range(Writer& writer, const Memory& memory, ValueId index) {
  if (memory.shared && writer.proofs() && is_below(writer, index, writer.kernel().shared[memory.index].count)) return {};
  const ValueId length = lower_length(writer, memory);
  if (writer.proofs() && writer.is_known_below(index, length)) return {};
  return writer.once(Opcode::Lt, index, length);
}

void put(Writer& writer, const Memory& memory, ValueId index, ValueId value) {
  writer.add({.op = memory.shared ? Opcode::StoreShared : Opcode::StoreBuffer, .imm = memory.index, .a = index, .b = value});
}

Opcode opcode(AtomicOp op) {
  switch (op) {
    case AtomicOp::Add:
      return Opcode::AtomicAdd;
    case AtomicOp::And:
      return Opcode::AtomicAnd;
    case AtomicOp::Or:
      return Opcode::AtomicOr;
    case AtomicOp::Xor:
      return Opcode::AtomicXor;
    case AtomicOp::Min:
      return Opcode::AtomicMin;
    case AtomicOp::Max:
      return Opcode::AtomicMax;
    case AtomicOp::Exchange:
      return Opcode::AtomicExchange;
    case AtomicOp::CompareExchange:
      return Opcode::AtomicCompareExchange;
  }
  VYRE_ASSERT(!"an atomic operator");
  return Opcode::AtomicAdd;
}

}  // namespace

ValueId lower_binary(Writer& writer, BinOp op, ValueId a, ValueId b) {
  switch (op) {
    case BinOp::Add:
      return plain(writer, Opcode::Add, a, b);
    case BinOp::Sub:
      return plain(writer, Opcode::Sub, a, b);
    case BinOp::Mul:
      return plain(writer, Opcode::Mul, a, b);
    case BinOp::Div:
      return divide(writer, Opcode::Div, a, b);
    case BinOp::Mod:
      return divide(writer, Opcode::Mod, a, b);
    case BinOp::BitAnd:
      return plain(writer, Opcode::And, a, b);
    case BinOp::BitOr:
      return plain(writer, Opcode::Or, a, b);
    case BinOp::BitXor:
      return plain(writer, Opcode::Xor, a, b);
    case BinOp::Shl:
      return plain(writer, Opcode::Shl, a, amount(writer, b));
    case BinOp::Shr:
      return plain(writer, Opcode::Shr, a, amount(writer, b));
    case BinOp::RotateLeft:
      return rotate(writer, a, b, Opcode::Shl, Opcode::Shr);
    case BinOp::RotateRight:
      return rotate(writer, a, b, Opcode::Shr, Opcode::Shl);
    case BinOp::MulHigh:
      return plain(writer, Opcode::MulHigh, a, b);
    case BinOp::AbsDiff: {
      const ValueId larger = plain(writer, Opcode::Max, a, b);
      return plain(writer, Opcode::Sub, larger, plain(writer, Opcode::Min, a, b));
    }
    case BinOp::Min:
      return plain(writer, Opcode::Min, a, b);
    case BinOp::Max:
      return plain(writer, Opcode::Max, a, b);
    case BinOp::Eq:
      return plain(writer, Opcode::Eq, a, b);
    case BinOp::Ne:
      return plain(writer, Opcode::Ne, a, b);
    case BinOp::Lt:
      return plain(writer, Opcode::Lt, a, b);
    case BinOp::Gt:
      return plain(writer, Opcode::Lt, b, a);
    case BinOp::Le:
      return plain(writer, Opcode::Le, a, b);
    case BinOp::Ge:
      return plain(writer, Opcode::Le, b, a);
    case BinOp::And: {
      const ValueId left = truth(writer, a);
      return plain(writer, Opcode::And, left, truth(writer, b));
    }
    case BinOp::Or: {
      const ValueId left = truth(writer, a);
      return plain(writer, Opcode::Or, left, truth(writer, b));
    }
    case BinOp::SDiv:
      return divide_signed(writer, Opcode::SDiv, a, b);
    case BinOp::SMod:
      return divide_signed(writer, Opcode::SMod, a, b);
    case BinOp::SLt:
      return plain(writer, Opcode::SLt, a, b);
    case BinOp::SGt:
      return plain(writer, Opcode::SLt, b, a);
    case BinOp::SLe:
      return plain(writer, Opcode::SLe, a, b);
    case BinOp::SGe:
      return plain(writer, Opcode::SLe, b, a);
    case BinOp::SMin:
      return plain(writer, Opcode::SMin, a, b);
    case BinOp::SMax:
      return plain(writer, Opcode::SMax, a, b);
    case BinOp::SShr:
      return plain(writer, Opcode::SShr, a, amount(writer, b));
    case BinOp::AddSat:
      return plain(writer, Opcode::AddSat, a, b);
  }
  VYRE_ASSERT(!"a binary operator");
  return {};
}

ValueId lower_unary(Writer& writer, UnOp op, ValueId a) {
  switch (op) {
    case UnOp::Negate:
      return plain(writer, Opcode::Neg, a);
    case UnOp::BitNot:
      return plain(writer, Opcode::Not, a);
    case UnOp::LogicalNot:
      return plain(writer, Opcode::Eq, a, writer.constant(0));
    case UnOp::Popcount:
      return plain(writer, Opcode::Popcount, a);
    // Of 0 it is 32: a bit at the far end makes it 31, and one is added.
    case UnOp::Clz: {
      const ValueId count = plain(writer, Opcode::Clz, plain(writer, Opcode::Or, a, writer.constant(1)));
      return plain(writer, Opcode::Add, count, writer.once(Opcode::Eq, a, writer.constant(0)));
    }
    case UnOp::Ctz: {
      const ValueId count = plain(writer, Opcode::Ctz, plain(writer, Opcode::Or, a, writer.constant(0x80000000u)));
      return plain(writer, Opcode::Add, count, writer.once(Opcode::Eq, a, writer.constant(0)));
    }
    case UnOp::ReverseBits:
      return plain(writer, Opcode::ReverseBits, a);
  }
  VYRE_ASSERT(!"a unary operator");
  return {};
}

ValueId lower_cast(Writer& writer, ir::CastKind kind, ValueId value, std::uint32_t lanes, DataType target) {
  const auto lane = [&](std::uint32_t k) {
    return lanes == 1 ? value : writer.add({.op = Opcode::Lane, .lanes = 1, .imm = k, .a = value});
  };
  const std::uint32_t wanted = ir::lanes(target);
  switch (kind) {
    case ir::CastKind::Identity:
      return value;
    case ir::CastKind::AnyNonZero: {
      ValueId any = lane(0);
      for (std::uint32_t k = 1; k < lanes; ++k) any = plain(writer, Opcode::Or, any, lane(k));
      return truth(writer, any);
    }
    case ir::CastKind::ZeroExtend:
      return writer.add({.op = Opcode::Pack, .lanes = 2, .a = value, .b = writer.constant(0)});
    case ir::CastKind::SignExtend:
      return writer.add({.op = Opcode::Pack, .lanes = 2, .a = value, .b = plain(writer, Opcode::SShr, value, writer.constant(31))});
    case ir::CastKind::Splat:
      if (wanted == 2) return writer.add({.op = Opcode::Pack, .lanes = 2, .a = value, .b = value});
      return writer.add({.op = Opcode::Pack, .lanes = 4, .a = value, .b = value, .c = value, .d = value});
    case ir::CastKind::LowLanes: {
      const ValueId low = lane(0);
      if (wanted == 1) return low;
      return writer.add({.op = Opcode::Pack, .lanes = 2, .a = low, .b = lane(1)});
    }
  }
  VYRE_ASSERT(!"a kind of cast");
  return {};
}

ValueId lower_length(Writer& writer, const Memory& memory) {
  return memory.shared ? writer.constant(writer.kernel().shared[memory.index].count) : writer.length(memory.index);
}

ValueId lower_load(Writer& writer, const Memory& memory, ValueId index) {
  const auto width = static_cast<std::uint8_t>(ir::lanes(memory.element));
  const ValueId zero = writer.constant(0);
  const ValueId in = in_range(writer, memory, index);
  // An index out of range reads element 0, which is always there, and its value is then dropped: selecting is cheaper than branching.
  const ValueId safe = !in.valid() || writer.literal(index) == 0u ? index : writer.once(Opcode::Select, in, index, zero);
  ValueId value =
      writer.add({.op = memory.shared ? Opcode::LoadShared : Opcode::LoadBuffer, .lanes = width, .imm = memory.index, .a = safe});
  if (in.valid()) value = writer.add({.op = Opcode::Select, .lanes = width, .a = in, .b = value, .c = writer.zero(width)});
  // The host may have stored any non-zero word for true.
  if (memory.element == DataType::Bool && !memory.shared) value = writer.add({.op = Opcode::Ne, .lanes = 1, .a = value, .b = zero});
  return value;
}

void lower_store(Writer& writer, const Memory& memory, ValueId index, ValueId value) {
  const ValueId in = in_range(writer, memory, index);
  if (!in.valid()) return put(writer, memory, index, value);
  // What is made once may be used after the If: nothing but the store is made inside.
  writer.begin_unit();
  writer.add({.op = Opcode::If, .a = in});
  put(writer, memory, index, value);
  writer.add({.op = Opcode::EndIf});
  writer.end_unit();
}

ValueId lower_atomic(Writer& writer, AtomicOp op, const Memory& memory, ValueId index, ValueId expected, ValueId value) {
  Instruction atomic{.op = opcode(op), .lanes = 1, .imm = memory.index, .a = index, .b = value};
  if (expected.valid()) {
    atomic.b = expected;
    atomic.c = value;
  }
  const ValueId in = in_range(writer, memory, index);
  if (!in.valid()) return writer.add(atomic);
  const std::uint32_t before = writer.variable(1);
  writer.begin_unit();
  writer.add({.op = Opcode::WriteVariable, .imm = before, .a = writer.constant(0)});
  writer.add({.op = Opcode::If, .a = in});
  writer.add({.op = Opcode::WriteVariable, .imm = before, .a = writer.add(atomic)});
  writer.add({.op = Opcode::EndIf});
  const ValueId old = writer.add({.op = Opcode::ReadVariable, .lanes = 1, .imm = before});
  writer.end_unit();
  return old;
}

void assume(Writer& writer, ValueId condition) {
  // Conditions are short; a long one is worth no search.
  constexpr std::size_t kMaxTerms = 64;
  std::array<ValueId, kMaxTerms> terms{condition};
  std::size_t end = 1;
  const auto also = [&](ValueId term) {
    if (end < kMaxTerms) terms[end++] = term;
  };
  for (std::size_t next = 0; next < end; ++next) {
    const Instruction term = writer.at(terms[next]);
    if (term.op == Opcode::Lt) writer.assume_below(term.a, term.b);
    if (term.op == Opcode::Eq && writer.literal(term.b) == 0u) assume_not(writer, term.a);
    if (term.op == Opcode::Ne && writer.literal(term.b) == 0u) also(term.a);
    if (term.op != Opcode::And) continue;
    // A bitwise and is non-zero only if both are.
    also(term.a);
    also(term.b);
  }
}

void assume_not(Writer& writer, ValueId condition) {
  const Instruction& instruction = writer.at(condition);
  if (instruction.op == Opcode::Le) writer.assume_below(instruction.b, instruction.a);
}

}  // namespace vyre::lower
