// Each operator has a rule: the opcode that computes it, an expansion into other opcodes, or both. A target that has the opcode gets it,
// every other target gets the expansion. An operator that a target replaces by an operation (Target::bodies) does not come here: the
// operation's body stands in the program instead.
//
// Expansions use Writer::once for instructions that repeat for equal operands: two divisions by the same divisor compare the divisor with
// zero only once.
#include "vyre/lower/operators.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <span>
#include <utility>

namespace vyre::lower {
namespace {

using ir::BinOp;
using ir::DataType;
using ir::TernOp;
using ir::UnOp;

ValueId plain(Writer& writer, Opcode op, ValueId a, ValueId b = {}) { return writer.add({.op = op, .lanes = 1, .a = a, .b = b}); }

// --- Expansions of binary operators ---

template <Opcode op>
ValueId swapped(Writer& writer, ValueId a, ValueId b) {
  return plain(writer, op, b, a);
}

// Shift amounts are taken modulo 32 (docs/semantics.md, Operators).
ValueId amount(Writer& writer, ValueId b) {
  if (const auto known = writer.literal(b)) return writer.constant(*known & 31);
  return writer.once(Opcode::And, b, writer.constant(31));
}

// Joins two shifts by literals in the same direction into one shift. 64-bit shifts and rotations by a literal produce such pairs.
template <Opcode op>
ValueId shift(Writer& writer, ValueId a, ValueId b) {
  const ValueId by = amount(writer, b);
  const auto second = writer.literal(by);
  if (second == 0u) return a;
  const Instruction first = writer.at(a);
  const auto already = first.op == op && second ? writer.literal(first.b) : std::nullopt;
  if (!already) return plain(writer, op, a, by);
  const std::uint32_t total = *already + *second;
  if (total < 32) return plain(writer, op, first.a, writer.constant(total));
  return op == Opcode::SShr ? plain(writer, op, first.a, writer.constant(31)) : writer.constant(0);
}

ValueId bitwise_or(Writer& writer, ValueId a, ValueId b) {
  if (writer.literal(a) == 0u) return b;
  return writer.literal(b) == 0u ? a : plain(writer, Opcode::Or, a, b);
}

template <Opcode forth, Opcode back>
ValueId rotate(Writer& writer, ValueId a, ValueId b) {
  const ValueId by = amount(writer, b);
  ValueId rest;
  if (const auto known = writer.literal(by)) {
    if (*known == 0) return a;
    rest = writer.constant(32 - *known);
  } else {
    // 32 - n, but 0 for n = 0: then both shifts give the whole value, and so does their Or.
    rest = writer.once(Opcode::And, writer.once(Opcode::Neg, by), writer.constant(31));
  }
  return plain(writer, Opcode::Or, plain(writer, forth, a, by), plain(writer, back, a, rest));
}

// x / 0 = 0 and x % 0 = 0: a divisor of zero becomes one, for which the remainder is right and the quotient is replaced. A division
// by a power of two becomes a shift or a mask, which takes a fraction of the time.
template <Opcode op>
ValueId divide(Writer& writer, ValueId a, ValueId b) {
  const ValueId zero = writer.constant(0);
  if (const auto known = writer.literal(b)) {
    if (*known == 0) return zero;
    if (!std::has_single_bit(*known)) return plain(writer, op, a, b);
    if (op == Opcode::Mod) return plain(writer, Opcode::And, a, writer.constant(*known - 1));
    return *known == 1 ? a : plain(writer, Opcode::Shr, a, writer.constant(static_cast<std::uint32_t>(std::countr_zero(*known))));
  }
  const ValueId by_zero = writer.once(Opcode::Eq, b, zero);
  const ValueId result = plain(writer, op, a, writer.once(Opcode::Select, by_zero, writer.constant(1), b));
  if (op == Opcode::Mod) return result;
  return writer.add({.op = Opcode::Select, .lanes = 1, .a = by_zero, .b = zero, .c = result});
}

// Like divide(), and also MIN / -1 = MIN and MIN % -1 = 0. For a divisor b of 0 or -1, the quotient equals a * b.
template <Opcode op>
ValueId divide_signed(Writer& writer, ValueId a, ValueId b) {
  const ValueId one = writer.constant(1);
  if (const auto known = writer.literal(b); known && *known != 0 && *known != ~0u) return plain(writer, op, a, b);
  const ValueId special = writer.once(Opcode::Le, writer.once(Opcode::Add, b, one), one);
  const ValueId result = plain(writer, op, a, writer.once(Opcode::Select, special, one, b));
  if (op == Opcode::SMod) return result;
  return writer.add({.op = Opcode::Select, .lanes = 1, .a = special, .b = plain(writer, Opcode::Mul, a, b), .c = result});
}

// Recognises a product with a literal power of two, in either order. Such a product becomes a shift.
struct Scaled {
  ValueId value;
  std::uint32_t power;  // of two
};
std::optional<Scaled> scaled(const Writer& writer, ValueId a, ValueId b) {
  for (const auto& [value, by] : {std::pair{a, b}, std::pair{b, a}}) {
    const auto known = writer.literal(by);
    if (known && std::has_single_bit(*known)) return Scaled{value, static_cast<std::uint32_t>(std::countr_zero(*known))};
  }
  return std::nullopt;
}

ValueId multiply(Writer& writer, ValueId a, ValueId b) {
  const auto found = scaled(writer, a, b);
  return found ? shift<Opcode::Shl>(writer, found->value, writer.constant(found->power)) : plain(writer, Opcode::Mul, a, b);
}

ValueId multiply_high(Writer& writer, ValueId a, ValueId b) {
  const auto found = scaled(writer, a, b);
  if (!found) return plain(writer, Opcode::MulHigh, a, b);
  return found->power == 0 ? writer.constant(0) : shift<Opcode::Shr>(writer, found->value, writer.constant(32 - found->power));
}

ValueId abs_diff(Writer& writer, ValueId a, ValueId b) {
  const ValueId larger = plain(writer, Opcode::Max, a, b);
  return plain(writer, Opcode::Sub, larger, plain(writer, Opcode::Min, a, b));
}

// Returns 1 if the value is not zero, else 0.
ValueId truth(Writer& writer, ValueId a) {
  if (is_comparison(writer.at(a).op)) return a;
  return writer.once(Opcode::Ne, a, writer.constant(0));
}

template <Opcode op>
ValueId logical(Writer& writer, ValueId a, ValueId b) {
  const ValueId left = truth(writer, a);
  return plain(writer, op, left, truth(writer, b));
}

// --- Expansions of unary operators ---

ValueId is_zero(Writer& writer, ValueId a) { return plain(writer, Opcode::Eq, a, writer.constant(0)); }

// The opcodes are undefined for zero, for which the operator gives 32. With the bit at the far end set, zero gives 31, and 1 is added.
template <Opcode op, std::uint32_t far_end>
ValueId count_zeros(Writer& writer, ValueId a) {
  const ValueId count = plain(writer, op, plain(writer, Opcode::Or, a, writer.constant(far_end)));
  return plain(writer, Opcode::Add, count, writer.once(Opcode::Eq, a, writer.constant(0)));
}

// --- The rules ---

// An optional, not a pointer that may be null: with UndefinedBehaviorSanitizer, g++ compares no pointer to a function at compile time.
template <class Op, class... Operand>
struct Rule {
  Op op;
  std::optional<Opcode> opcode;  // computes the operator as ir/ops.def defines it, for all operands
  std::optional<ValueId (*)(Writer& writer, Operand... operands)> expansion = std::nullopt;
};

constexpr std::nullopt_t none = std::nullopt;

// There is one row for each operator, in the order of ir/ops.def and ir/ternary.def.
constexpr Rule<BinOp, ValueId, ValueId> kBinaryRules[] = {
    // clang-format off
    {BinOp::Add,         Opcode::Add},
    {BinOp::Sub,         Opcode::Sub},
    {BinOp::Mul,         none,                multiply},
    {BinOp::Div,         none,                divide<Opcode::Div>},
    {BinOp::Mod,         none,                divide<Opcode::Mod>},
    {BinOp::BitAnd,      Opcode::And},
    {BinOp::BitOr,       none,                bitwise_or},
    {BinOp::BitXor,      Opcode::Xor},
    {BinOp::Shl,         none,                shift<Opcode::Shl>},
    {BinOp::Shr,         none,                shift<Opcode::Shr>},
    {BinOp::RotateLeft,  Opcode::RotateLeft,  rotate<Opcode::Shl, Opcode::Shr>},
    {BinOp::RotateRight, Opcode::RotateRight, rotate<Opcode::Shr, Opcode::Shl>},
    {BinOp::MulHigh,     none,                multiply_high},
    {BinOp::AbsDiff,     none,                abs_diff},
    {BinOp::Min,         Opcode::Min},
    {BinOp::Max,         Opcode::Max},
    {BinOp::Eq,          Opcode::Eq},
    {BinOp::Ne,          Opcode::Ne},
    {BinOp::Lt,          Opcode::Lt},
    {BinOp::Gt,          none,                swapped<Opcode::Lt>},
    {BinOp::Le,          Opcode::Le},
    {BinOp::Ge,          none,                swapped<Opcode::Le>},
    {BinOp::And,         none,                logical<Opcode::And>},
    {BinOp::Or,          none,                logical<Opcode::Or>},
    {BinOp::SDiv,        none,                divide_signed<Opcode::SDiv>},
    {BinOp::SMod,        none,                divide_signed<Opcode::SMod>},
    {BinOp::SLt,         Opcode::SLt},
    {BinOp::SGt,         none,                swapped<Opcode::SLt>},
    {BinOp::SLe,         Opcode::SLe},
    {BinOp::SGe,         none,                swapped<Opcode::SLe>},
    {BinOp::SMin,        Opcode::SMin},
    {BinOp::SMax,        Opcode::SMax},
    {BinOp::SShr,        none,                shift<Opcode::SShr>},
    {BinOp::AddSat,      Opcode::AddSat},
    // clang-format on
};
constexpr Rule<UnOp, ValueId> kUnaryRules[] = {
    // clang-format off
    {UnOp::Negate,      Opcode::Neg},
    {UnOp::BitNot,      Opcode::Not},
    {UnOp::LogicalNot,  none,                is_zero},
    {UnOp::Popcount,    Opcode::Popcount},
    {UnOp::Clz,         none,                count_zeros<Opcode::Clz, 1>},
    {UnOp::Ctz,         none,                count_zeros<Opcode::Ctz, 0x80000000u>},
    {UnOp::ReverseBits, Opcode::ReverseBits},
    // clang-format on
};
constexpr Rule<TernOp, ValueId, ValueId, ValueId> kTernaryRules[] = {
    {TernOp::Select, Opcode::Select},
};

// True when every operator has a row, and every row an expansion or an opcode that no target lacks.
constexpr bool is_complete(const auto& operators, const auto& rules) {
  const auto is_computed = [](const auto& rule) { return rule.expansion || (rule.opcode && !is_optional(*rule.opcode)); };
  const auto is_for = [](const auto& row, const auto& rule) { return row.op == rule.op; };
  return std::ranges::equal(operators, rules, is_for) && std::ranges::all_of(rules, is_computed);
}
static_assert(is_complete(ir::kBinOps, kBinaryRules) && is_complete(ir::kUnOps, kUnaryRules) && is_complete(ir::kTernOps, kTernaryRules),
              "every operator of ir/ops.def and ir/ternary.def needs a row above");

template <class Op, class... Operand>
ValueId lowered(const Rule<Op, Operand...>& rule, Writer& writer, const Target& target, std::uint8_t lanes, Operand... operands) {
  if (!rule.opcode || !target.has(*rule.opcode)) return (*rule.expansion)(writer, operands...);
  const std::array<ValueId, 3> given{operands...};
  return writer.add({.op = *rule.opcode, .lanes = lanes, .a = given[0], .b = given[1], .c = given[2]});
}

// Recognises x << n | x >> (32 - n) for a literal n, in either order, as many programs write a rotation. Returns x and n.
struct Rotation {
  ValueId value, amount;
};
std::optional<Rotation> spelled_rotation(const Writer& writer, ValueId a, ValueId b) {
  const Instruction left = writer.at(a).op == Opcode::Shl ? writer.at(a) : writer.at(b);
  const Instruction right = writer.at(a).op == Opcode::Shl ? writer.at(b) : writer.at(a);
  if (left.op != Opcode::Shl || right.op != Opcode::Shr || left.a != right.a) return std::nullopt;
  const auto by = writer.literal(left.b), rest = writer.literal(right.b);
  if (!by || !rest || *by + *rest != 32) return std::nullopt;
  return Rotation{left.a, left.b};
}

// The operand of a cast, as ir::cast_lane() wants it: its functions add instructions.
struct Operand {
  Writer& writer;
  const Target& target;
  ValueId value;
  std::uint32_t count;

  ValueId lane(std::uint32_t k) const { return count == 1 ? value : writer.lane(value, k); }
  ValueId zero() const { return writer.constant(0); }
  ValueId sign(ValueId a) const { return plain(writer, Opcode::SShr, a, writer.constant(31)); }
  ValueId either(ValueId a, ValueId b) const { return plain(writer, Opcode::Or, a, b); }
  ValueId truth(ValueId a) const { return lower::truth(writer, a); }
  ValueId apply(UnOp op, ValueId a) const { return lower_operator(writer, target, 1, op, a); }
};

}  // namespace

ValueId lower_operator(Writer& writer, const Target& target, std::uint8_t lanes, BinOp op, ValueId a, ValueId b) {
  if (op == BinOp::BitOr && target.has(Opcode::RotateLeft)) {
    if (const auto found = spelled_rotation(writer, a, b)) return plain(writer, Opcode::RotateLeft, found->value, found->amount);
  }
  return lowered(kBinaryRules[static_cast<std::size_t>(op)], writer, target, lanes, a, b);
}

ValueId lower_operator(Writer& writer, const Target& target, std::uint8_t lanes, UnOp op, ValueId a) {
  return lowered(kUnaryRules[static_cast<std::size_t>(op)], writer, target, lanes, a);
}

ValueId lower_operator(Writer& writer, const Target& target, std::uint8_t lanes, TernOp op, ValueId a, ValueId b, ValueId c) {
  return lowered(kTernaryRules[static_cast<std::size_t>(op)], writer, target, lanes, a, b, c);
}

ValueId lower_cast(Writer& writer, const Target& target, ir::CastKind kind, ValueId value, std::uint32_t lanes, DataType type) {
  if (kind == ir::CastKind::Identity) return value;
  const Operand from{writer, target, value, lanes};
  std::array<ValueId, 4> to;
  for (std::uint32_t k = 0; k < ir::lanes(type); ++k) to[k] = ir::cast_lane(kind, from, k);
  if (ir::lanes(type) == 1) return to[0];
  const auto count = static_cast<std::uint8_t>(ir::lanes(type));
  return writer.add({.op = Opcode::Pack, .lanes = count, .a = to[0], .b = to[1], .c = to[2], .d = to[3]});
}

}  // namespace vyre::lower
