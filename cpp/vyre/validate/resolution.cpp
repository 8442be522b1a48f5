#include "vyre/validate/resolution.hpp"

#include <fmt/format.h>

#include <limits>
#include <string>
#include <string_view>

#include "vyre/ir/infix.hpp"
#include "vyre/validate/checks.hpp"
#include "vyre/validate/gather.hpp"
#include "vyre/validate/op_bodies.hpp"
#include "vyre/validate/report.hpp"

namespace vyre::validate {
namespace {

using ir::DataType;
using ir::Infix;
using ir::InfixShape;
using ir::Integer;
using ir::Mistake;

std::string digits(const Integer& integer) {
  return integer.negative ? fmt::format("{}", static_cast<std::int64_t>(integer.bits)) : fmt::format("{}", integer.bits);
}

std::string opposite(const Integer& integer) { return fmt::format("{}", std::uint64_t{0} - integer.bits); }

struct Range {
  std::string least, greatest;
};

Range range(DataType type) {
  const ir::TypeInfo& component = ir::info(ir::info(type).component);
  const bool is_signed = component.kind == ir::TypeKind::Signed;
  const std::uint64_t last = ~std::uint64_t{0} >> (64 - 8 * component.bytes + (is_signed ? 1 : 0));
  return {is_signed ? fmt::format("-{}", last + 1) : "0", fmt::format("{}", last)};
}

// The low bits of the integer as a value of the type: what C's conversion gives.
std::string wrapped(DataType type, const Integer& integer) {
  const ir::TypeInfo& row = ir::info(type);
  if (row.bytes == 8) return fmt::format("{}", integer.bits);
  const std::uint32_t unused = 32 - 8 * row.bytes;
  const std::uint32_t high = static_cast<std::uint32_t>(integer.bits) << unused;
  return row.kind == ir::TypeKind::Signed ? fmt::format("{}", static_cast<std::int32_t>(high) >> unused)
                                          : fmt::format("{}", high >> unused);
}

std::string bits_fix(DataType type, const Integer& integer) {
  const std::string value = wrapped(type, integer);
  const std::uint32_t bits = 8 * ir::min_bytes(ir::info(type).component);
  if (bits == 64) return fmt::format("write {}, which has the same bits", value);
  const bool whole = integer.negative ? integer.bits >= ~std::uint64_t{0} << (bits - 1) : integer.bits >> bits == 0;
  return whole ? fmt::format("write {}, which has the same bits", value) : fmt::format("write {}, which is its low {} bits", value, bits);
}

std::string amount_fix(const Mistake& mistake) {
  const Infix op = *mistake.op;
  const bool small = mistake.integer.negative && mistake.integer.bits >= std::uint64_t{0} - 31;
  if (small && op == Infix::Shl) return fmt::format("write `>> {}`", opposite(mistake.integer));
  if (small && op == Infix::Shr) return fmt::format("write `<< {}`", opposite(mistake.integer));
  if (small && op == Infix::RotateLeft) return fmt::format("write rotr with {}", opposite(mistake.integer));
  if (small && op == Infix::RotateRight) return fmt::format("write rotl with {}", opposite(mistake.integer));
  return "write an amount from 0 to 31, or to 63 for a U64";
}

// An operand of `+`, `-` or `*` below 0: the same with the opposite integer. `x` stands for the other operand.
std::string negative_fix(const Mistake& mistake) {
  const std::string positive = opposite(mistake.integer);
  if (mistake.op == Infix::Add)
    return mistake.on_the_left ? fmt::format("write `x - {}`", positive) : fmt::format("write `- {}`", positive);
  if (mistake.op == Infix::Sub)
    return mistake.on_the_left ? fmt::format("write `-x - {}`", positive) : fmt::format("write `+ {}`", positive);
  return positive == "1" ? "write `-x`" : fmt::format("write `-x * {}`", positive);
}

bool orders(Infix op) { return op == Infix::Lt || op == Infix::Le || op == Infix::Gt || op == Infix::Ge; }

std::string literal_fix(const Mistake& mistake) {
  const DataType type = mistake.left;
  const Integer& integer = mistake.integer;
  if (!mistake.op) return bits_fix(type, integer);
  const ir::InfixInfo& op = ir::info(*mistake.op);
  if (op.shape == InfixShape::Shift && !mistake.on_the_left) return amount_fix(mistake);
  const bool is_signed = ir::info(type).kind == ir::TypeKind::Signed;
  if (op.shape == InfixShape::Shift) {
    // Only a signed or a wider literal shifts the number that was meant.
    if (integer.fits(DataType::I32)) return fmt::format("write Expr.i32({})", digits(integer));
    if (integer.fits(DataType::U64)) return fmt::format("write Expr.u64({})", digits(integer));
  }
  if (is_signed && !integer.negative && orders(op.op)) {
    const bool below = op.op == Infix::Lt || op.op == Infix::Le;
    return fmt::format("write {} instead of the comparison, because every I32 is below {}", below ? "Expr.u32(1)" : "Expr.u32(0)",
                       digits(integer));
  }
  const bool adds = op.op == Infix::Add || op.op == Infix::Sub || op.op == Infix::Mul;
  if (integer.negative && !is_signed && adds && Integer{std::uint64_t{0} - integer.bits, false}.fits(type)) return negative_fix(mistake);
  if (is_signed && (op.op == Infix::Eq || op.op == Infix::Ne) && !integer.fits(DataType::U32)) {
    return fmt::format("write {} instead of the comparison, because no I32 is {}", op.op == Infix::Ne ? "Expr.u32(1)" : "Expr.u32(0)",
                       digits(integer));
  }
  const bool bitwise =
      op.op == Infix::BitAnd || op.op == Infix::BitOr || op.op == Infix::BitXor || op.op == Infix::Eq || op.op == Infix::Ne || adds;
  if (bitwise && (integer.negative || is_signed)) return bits_fix(type, integer);
  // The order of numbers or their quotient matters: only a wider or a signed type has the number.
  if (integer.negative && type == DataType::U32 && integer.fits(DataType::I32)) {
    return "cast the other operand: write vyre.cast(vyre.i32, x) for x";
  }
  if (!integer.negative && integer.fits(DataType::U64) && type == DataType::U32) {
    return "cast the other operand: write vyre.cast(vyre.u64, x) for x";
  }
  const bool divides = op.op == Infix::Div || op.op == Infix::Mod;
  if (is_signed && divides && integer.fits(DataType::U32))
    return "write vyre.cast(vyre.u32, x) for the I32 operand x: its bits are then a U32";
  return fmt::format("write an integer from {} to {}", range(type).least, range(type).greatest);
}

std::string undefined_fix(const Mistake& mistake) {
  const ir::InfixInfo& op = ir::info(*mistake.op);
  if (ir::is_vector(mistake.left)) {
    if (op.shape == InfixShape::Compare) return "compare the lanes, vyre.lane(x, 0) and the others";
    return "apply it to each lane, vyre.lane(x, 0) and the others";
  }
  if (mistake.left == DataType::U64) return "apply it to the halves, vyre.lane(x, 0) and vyre.lane(x, 1)";
  return "write vyre.cast(vyre.u32, x) for each operand x";
}

}  // namespace

// A Program holds explicit operators and typed literals alone, so there is nothing to find in one: resolve() finds these mistakes
// while it makes the Program.
void check_V039(const Gathered&, Report&) {}

Diagnostics diagnose(const ir::Resolved& resolved, const ir::OpTable& ops) {
  OpBodies bodies(ops);
  const Gathered gathered = gather(resolved.program, nullptr, bodies, false);
  Report report(gathered);
  for (const Mistake& mistake : resolved.mistakes) {
    Site site = Site::of(mistake.statement);
    const Statement& steps = gathered.facts.statements[mistake.statement];
    for (std::uint32_t k = 0; k < steps.step_count; ++k) {
      const StepId step{steps.first_step + k};
      if (gathered.step(step).expr == mistake.expr) site = Site::of(step);
    }
    const std::string_view op = mistake.op ? ir::info(*mistake.op).symbol : "";
    const std::string_view left = ir::text(mistake.left), right = ir::text(mistake.right);
    switch (mistake.kind) {
      case Mistake::Kind::Operands:
        report.add<Message::InfixOperands>(site, op, left, right);
        break;
      case Mistake::Kind::Undefined:
        report.add<Message::InfixUndefined>(site, op, left, undefined_fix(mistake));
        break;
      case Mistake::Kind::Literal:
        report.add<Message::LiteralRange>(site, digits(mistake.integer), left, range(mistake.left).least, range(mistake.left).greatest,
                                          literal_fix(mistake));
        break;
      case Mistake::Kind::Truth:
        report.add<Message::InvertedTruth>(site);
        break;
      case Mistake::Kind::Amount:
        report.add<Message::InfixAmount>(site, op, left);
        break;
    }
  }
  return locate(gathered, std::move(report).in_program_order());
}

}  // namespace vyre::validate
