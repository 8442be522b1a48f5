// A literal divisor becomes a product with its reciprocal, by which the quotient may be one less; what it leaves then says so.
#include "vyre/lower/wide_division.hpp"

#include <bit>
#include <cstdint>
#include <optional>

#include "vyre/base/assert.hpp"
#include "vyre/lower/operators.hpp"
#include "vyre/lower/reciprocal.hpp"

namespace vyre::lower {
namespace {

using ir::BinOp;
using transform::Division;

struct Words {
  ValueId low, high;
};

constexpr std::uint32_t low_word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
constexpr std::uint32_t high_word(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

class Divider {
 public:
  Divider(Writer& writer, const Target& target) : writer_(writer), target_(target) {}

  ValueId by_literal(Division division, ValueId a, std::uint64_t by) {
    const Words x = words(a);
    if (by == 0) return writer_.zero(2);
    if (std::has_single_bit(by)) {
      const auto exponent = static_cast<std::uint32_t>(std::countr_zero(by));
      return packed(division == Division::Quotient ? shifted_right(x, exponent) : lowest(x, exponent));
    }
    if (high_word(by) == 0 && is_zero(x.high)) return packed(of_words(division, x.low, number(low_word(by))));
    const bool small = by < std::uint64_t{1} << 31;
    if (by > std::uint64_t{1} << 63) {
      const Words zero{number(0), number(0)};
      return packed(corrected(division, by, zero, x));
    }
    const Reciprocal<std::uint64_t> inverse = reciprocal(by);
    const Words q = shifted_right(high_product(shifted_right(x, inverse.before), inverse.multiplier), inverse.after);
    if (inverse.is_exact) return packed(division == Division::Quotient ? q : rest(x, q, by));
    if (!small) return packed(corrected(division, by, q, difference(x, product(q, by))));
    // The rest is below 2 * by < 2^32. If it is below `by`, the difference wraps around to a greater number.
    const ValueId left = rest(x, q, by).low, divisor = number(low_word(by));
    if (division == Division::Remainder) return packed({op(BinOp::Min, left, op(BinOp::Sub, left, divisor)), number(0)});
    return packed(increased(q, op(BinOp::Le, divisor, left)));
  }

  ValueId by_any(Division division, ValueId a, ValueId b, bool both) {
    const Words x = words(a), y = words(b);
    if (is_zero(x.high) && is_zero(y.high)) return packed(of_words(division, x.low, y.low));
    // As for U32, a divisor of zero becomes one, for which the remainder is right.
    const ValueId by_zero = writer_.once(Opcode::Eq, writer_.once(Opcode::Or, y.low, y.high), number(0));
    const ValueId divisor = packed({writer_.once(Opcode::Or, y.low, by_zero), y.high});
    const bool divides = division == Division::Quotient || both;
    const ValueId result = writer_.add({.op = divides ? Opcode::WideDiv : Opcode::WideMod, .lanes = 2, .a = a, .b = divisor});
    if (division == Division::Quotient) {
      return writer_.add({.op = Opcode::Select, .lanes = 2, .a = by_zero, .b = writer_.zero(2), .c = result});
    }
    return divides ? packed(difference(x, product(words(result), words(divisor)))) : result;
  }

 private:
  ValueId number(std::uint32_t bits) { return writer_.constant(bits); }
  ValueId op(BinOp operation, ValueId a, ValueId b) { return lower_operator(writer_, target_, 1, operation, a, b); }
  bool is_zero(ValueId value) const { return writer_.bounds().range(value).greatest == 0; }

  Words words(ValueId value) {
    const ValueId low = writer_.lane(value, 0);
    return {low, writer_.lane(value, 1)};
  }
  ValueId packed(Words value) {
    const Instruction pack{.op = Opcode::Pack, .lanes = 2, .a = value.low, .b = value.high};
    return writer_.literal(value.low) && writer_.literal(value.high) ? writer_.leaf(pack) : writer_.add(pack);
  }
  Words literal(std::uint64_t value) { return {number(low_word(value)), number(high_word(value))}; }
  Words of_words(Division division, ValueId a, ValueId b) {
    return {op(division == Division::Quotient ? BinOp::Div : BinOp::Mod, a, b), number(0)};
  }

  Words shifted_right(Words x, std::uint32_t by) {
    if (by == 0) return x;
    if (by >= 32) return {op(BinOp::Shr, x.high, number(by - 32)), number(0)};
    const ValueId low = op(BinOp::Shr, x.low, number(by));
    return {op(BinOp::BitOr, low, op(BinOp::Shl, x.high, number(32 - by))), op(BinOp::Shr, x.high, number(by))};
  }
  // Clears all but the lowest bits.
  Words lowest(Words x, std::uint32_t bits) {
    const auto mask = [&](ValueId word, std::uint32_t count) { return op(BinOp::BitAnd, word, number((std::uint32_t{1} << count) - 1)); };
    if (bits < 32) return {bits == 0 ? number(0) : mask(x.low, bits), number(0)};
    return {x.low, bits == 32 ? number(0) : mask(x.high, bits - 32)};
  }

  Words high_product(Words x, std::uint64_t by) {
    const Words m = literal(by);
    if (target_.has(Opcode::WideMulHigh)) {
      return words(writer_.add({.op = Opcode::WideMulHigh, .lanes = 2, .a = packed(x), .b = packed(m)}));
    }
    // (2^32 - 1)^2 + 2 * (2^32 - 1) is below 2^64, so each high word takes a carry without wrapping.
    const ValueId lowest = op(BinOp::MulHigh, x.low, m.low);
    const Words first = summed(x.low, m.high, lowest);
    const Words second = summed(x.high, m.low, first.low);
    const ValueId sum = op(BinOp::Add, first.high, second.high);
    const Words last = summed(x.high, m.high, sum);
    return {last.low, op(BinOp::Add, last.high, op(BinOp::Lt, sum, first.high))};
  }
  // a * b + c
  Words summed(ValueId a, ValueId b, ValueId c) {
    const ValueId low = op(BinOp::Add, op(BinOp::Mul, a, b), c);
    return {low, op(BinOp::Add, op(BinOp::MulHigh, a, b), op(BinOp::Lt, low, c))};
  }

  Words product(Words a, std::uint64_t by) { return product(a, literal(by)); }
  Words product(Words a, Words b) {
    const ValueId cross = op(BinOp::Add, op(BinOp::Mul, a.low, b.high), op(BinOp::Mul, a.high, b.low));
    return {op(BinOp::Mul, a.low, b.low), op(BinOp::Add, op(BinOp::MulHigh, a.low, b.low), cross)};
  }
  Words difference(Words a, Words b) {
    const ValueId high = op(BinOp::Sub, a.high, b.high);
    return {op(BinOp::Sub, a.low, b.low), op(BinOp::Sub, high, op(BinOp::Lt, a.low, b.low))};
  }
  Words increased(Words q, ValueId by) {
    const ValueId low = op(BinOp::Add, q.low, by);
    return {low, op(BinOp::Add, q.high, op(BinOp::Lt, low, by))};
  }
  // x - q * by, which is below 2^32 if 2 * by is, or if `by` is and q is exact.
  Words rest(Words x, Words q, std::uint64_t by) {
    if (high_word(by) != 0) return difference(x, product(q, by));
    return {op(BinOp::Sub, x.low, op(BinOp::Mul, q.low, number(low_word(by)))), number(0)};
  }
  // Gives the result where the quotient is q or one more; `left` is x - q * by.
  Words corrected(Division division, std::uint64_t by, Words q, Words left) {
    const Words divisor = literal(by), less = difference(left, divisor);
    const ValueId is_below = op(BinOp::Lt, left.high, divisor.high), is_equal = op(BinOp::Eq, left.high, divisor.high);
    const ValueId is_less = op(BinOp::BitOr, is_below, op(BinOp::BitAnd, is_equal, op(BinOp::Lt, left.low, divisor.low)));
    if (division == Division::Quotient) return increased(q, op(BinOp::BitXor, is_less, number(1)));
    return {select(is_less, left.low, less.low), select(is_less, left.high, less.high)};
  }
  ValueId select(ValueId condition, ValueId a, ValueId b) {
    return writer_.add({.op = Opcode::Select, .lanes = 1, .a = condition, .b = a, .c = b});
  }

  Writer& writer_;
  const Target& target_;
};

std::optional<std::uint64_t> literal(const Writer& writer, ValueId value) {
  const Instruction& pack = writer.at(value);
  if (pack.op != Opcode::Pack) return std::nullopt;
  const auto low = writer.literal(pack.a), high = writer.literal(pack.b);
  return low && high ? std::optional(std::uint64_t{*high} << 32 | *low) : std::nullopt;
}

}  // namespace

ValueId lower_wide_division(Writer& writer, const Target& target, Division division, ValueId a, ValueId b, bool both) {
  Divider divider(writer, target);
  if (const auto known = literal(writer, b)) return divider.by_literal(division, a, *known);
  VYRE_ASSERT(target.has(Opcode::WideDiv));
  return divider.by_any(division, a, b, both);
}

}  // namespace vyre::lower
