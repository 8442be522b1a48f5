#include "operators.hpp"

#include <fmt/format.h>

#include <optional>
#include <unordered_set>
#include <vector>

#include "bindings.hpp"
#include "vyre/base/error.hpp"

namespace vyre::python {
namespace {

using ir::BinOp;
using ir::DataType;

// The signed operator of the same sign in Python; nothing when the U32 operator gives the same bits.
std::optional<BinOp> signed_form(BinOp op) {
  switch (op) {
    case BinOp::Div:
      return BinOp::SDiv;
    case BinOp::Mod:
      return BinOp::SMod;
    case BinOp::Shr:
      return BinOp::SShr;
    case BinOp::Lt:
      return BinOp::SLt;
    case BinOp::Gt:
      return BinOp::SGt;
    case BinOp::Le:
      return BinOp::SLe;
    case BinOp::Ge:
      return BinOp::SGe;
    default:
      return std::nullopt;
  }
}

bool is_truth_operator(BinOp op) {
  switch (op) {
    case BinOp::Eq:
    case BinOp::Ne:
    case BinOp::Lt:
    case BinOp::Gt:
    case BinOp::Le:
    case BinOp::Ge:
    case BinOp::SLt:
    case BinOp::SGt:
    case BinOp::SLe:
    case BinOp::SGe:
    case BinOp::And:
    case BinOp::Or:
      return true;
    default:
      return false;
  }
}

// Whether the expression itself shows that it is a truth value, 1 or 0: a comparison, a logical operator, or `& | ^` of such.
bool visibly_truth(const ir::ExprHandle& expr) {
  // Chains may be long and shared; one that goes on for longer than this shows nothing.
  constexpr std::size_t kMostLooked = 20'000;
  std::vector<const ir::ExprData*> open{expr.get()};
  std::unordered_set<const ir::ExprData*> seen;
  while (!open.empty()) {
    const ir::ExprData* data = open.back();
    open.pop_back();
    if (!seen.insert(data).second) continue;
    if (seen.size() > kMostLooked) return false;
    if (data->kind == ir::ExprKind::Unary && static_cast<ir::UnOp>(data->op) == ir::UnOp::LogicalNot) continue;
    if (data->kind != ir::ExprKind::Binary) return false;
    const auto op = static_cast<BinOp>(data->op);
    if (is_truth_operator(op)) continue;
    if (op != BinOp::BitAnd && op != BinOp::BitOr && op != BinOp::BitXor) return false;
    for (const ir::ExprHandle& operand : data->operands) open.push_back(operand.get());
  }
  return true;
}

ir::ExprHandle as(DataType type, const ir::ExprHandle& value, ir::SourcePlace place) { return ir::expr::cast(type, value, place); }

[[noreturn]] void reject_other(const char* side, const char* symbol, const ir::ExprHandle& other) {
  std::string fix = "write Expr.cast(DataType.I32, value), or cast the I32 side to U32";
  if (other->kind == ir::ExprKind::LitU32 && other->bits <= 0x7FFFFFFFu) fix = fmt::format("write Expr.i32({})", other->bits);
  throw ArgumentError(
      fmt::format("the {} operand of `{}` must be visibly I32 like the other one, got {}. Fix: {}.", side, symbol, brief(other), fix));
}

}  // namespace

bool visibly_i32(const ir::ExprHandle& expr) {
  switch (expr->kind) {
    case ir::ExprKind::LitI32:
      return true;
    case ir::ExprKind::Cast:
      return static_cast<DataType>(expr->op) == DataType::I32;
    case ir::ExprKind::Binary:
      return ir::info(static_cast<BinOp>(expr->op)).result == DataType::I32;
    default:
      return false;
  }
}

ir::ExprHandle infix(BinOp op, const char* symbol, const ir::ExprHandle& left, const ir::ExprHandle& right, ir::SourcePlace place) {
  const bool left_signed = visibly_i32(left), right_signed = visibly_i32(right);
  if (!left_signed && !right_signed) return ir::expr::binary(op, left, right, place);

  // A shift's amount is U32 by SShr's own signature; an I32 amount is masked to the same bits.
  const bool shift = op == BinOp::Shl || op == BinOp::Shr;
  if (!left_signed) reject_other("left", symbol, left);
  if (!right_signed && !shift) reject_other("right", symbol, right);
  const ir::ExprHandle amount = shift && right_signed ? as(DataType::U32, right, place) : right;

  if (auto sign = signed_form(op)) return ir::expr::binary(*sign, left, amount, place);
  ir::ExprHandle result = ir::expr::binary(op, as(DataType::U32, left, place), shift ? amount : as(DataType::U32, right, place), place);
  return op == BinOp::Eq || op == BinOp::Ne ? result : as(DataType::I32, result, place);
}

ir::ExprHandle prefix(ir::UnOp op, const ir::ExprHandle& operand, ir::SourcePlace place) {
  if (op == ir::UnOp::BitNot && visibly_truth(operand)) {
    throw ArgumentError("operator `~` flips the bits of a truth value. Fix: use logical_not for the truth or bitnot for the bits.");
  }
  if (!visibly_i32(operand)) return ir::expr::unary(op, operand, place);
  return as(DataType::I32, ir::expr::unary(op, as(DataType::U32, operand, place), place), place);
}

}  // namespace vyre::python
