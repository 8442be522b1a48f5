#include "operators.hpp"

#include <fmt/format.h>

#include <optional>
#include <unordered_set>
#include <vector>

#include "bindings.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/registry.hpp"

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

bool keeps_truths(BinOp op) { return op == BinOp::BitAnd || op == BinOp::BitOr || op == BinOp::BitXor; }

// Whether a registered operation gives a truth value: its result is a comparison, a logical operator, or `& | ^` of such and of the
// literals 0 and 1.
bool compares(const ir::OpTable& ops, std::string_view op_id) {
  constexpr std::size_t kMostLooked = 1000;
  const ir::OpTable::Spec spec = ops.find(op_id);
  if (!spec || !spec->body || spec->body->nodes().empty()) return false;
  const ir::Program& body = *spec->body;
  const auto* result = std::get_if<ir::Let>(&body.nodes().items().back());
  if (result == nullptr) return false;
  std::vector<ExprId> open{result->value};
  for (std::size_t looked = 0; !open.empty(); ++looked) {
    if (looked == kMostLooked) return false;
    const ir::Expr& expr = body.expr(open.back());
    open.pop_back();
    if (const std::optional<std::uint32_t> literal = ir::literal_u32(expr); literal && *literal <= 1) continue;
    if (const auto* unary = std::get_if<ir::Unary>(&expr); unary != nullptr && (ir::info(unary->op).laws & ir::kTruth) != 0) continue;
    const auto* binary = std::get_if<ir::Binary>(&expr);
    if (binary == nullptr) return false;
    if ((ir::info(binary->op).laws & ir::kTruth) != 0) continue;
    if (!keeps_truths(binary->op)) return false;
    open.insert(open.end(), {binary->left, binary->right});
  }
  // A literal alone is no truth.
  return !ir::literal_u32(body.expr(result->value));
}

// Whether the expression itself shows that it is a truth value, 1 or 0: a comparison (an operation that compares too), a logical
// operator, or `& | ^` of such.
bool visibly_truth(const ir::ExprHandle& expr) {
  // Chains may be long and shared; one that goes on for longer than this shows nothing.
  constexpr std::size_t kMostLooked = 20'000;
  std::vector<const ir::ExprData*> open{expr.get()};
  std::unordered_set<const ir::ExprData*> seen;
  std::optional<ir::OpTable> ops;
  while (!open.empty()) {
    const ir::ExprData* data = open.back();
    open.pop_back();
    if (!seen.insert(data).second) continue;
    if (seen.size() > kMostLooked) return false;
    if (data->kind == ir::ExprKind::Unary && static_cast<ir::UnOp>(data->op) == ir::UnOp::LogicalNot) continue;
    if (data->kind == ir::ExprKind::Call) {
      if (!ops) ops = run::registered_ops();
      if (compares(*ops, data->name)) continue;
    }
    if (data->kind != ir::ExprKind::Binary) return false;
    const auto op = static_cast<BinOp>(data->op);
    if ((ir::info(op).laws & ir::kTruth) != 0) continue;
    if (!keeps_truths(op)) return false;
    for (const ir::ExprHandle& operand : data->operands) open.push_back(operand.get());
  }
  return true;
}

ir::ExprHandle as(DataType type, const ir::ExprHandle& value, ir::SourcePlace place) { return ir::expr::cast(type, value, place); }

// The Fix for an integer above the largest I32 beside an I32.
std::string large_literal_fix(BinOp op, bool on_the_left, std::uint32_t literal) {
  const bool below = op == BinOp::Lt || op == BinOp::Le, above = op == BinOp::Gt || op == BinOp::Ge;
  if (below || above) {
    // Python mirrors a comparison, so the literal is always on the right.
    return fmt::format("write {} instead of the comparison, because every I32 is below {}", below ? "Expr.u32(1)" : "Expr.u32(0)", literal);
  }
  if (op == BinOp::Div || op == BinOp::Mod || (op == BinOp::Shr && on_the_left)) {
    return "write Expr.cast(DataType.U32, x) for the I32 operand x: its bits are then taken as a U32";
  }
  return fmt::format("write Expr.i32({}), which has the same bits", static_cast<std::int32_t>(literal));
}

[[noreturn]] void reject_other(BinOp operation, const char* side, const char* symbol, const ir::ExprHandle& other) {
  std::string fix = "write Expr.cast(DataType.I32, value), or cast the I32 side to U32";
  if (other->kind == ir::ExprKind::Literal && static_cast<DataType>(other->op) == DataType::U32) {
    fix = other->bits <= 0x7FFFFFFFu ? fmt::format("write Expr.i32({})", other->bits)
                                     : large_literal_fix(operation, *side == 'l', static_cast<std::uint32_t>(other->bits));
  }
  throw ArgumentError(
      fmt::format("the {} operand of `{}` must be visibly I32 like the other one, got {}. Fix: {}.", side, symbol, brief(other), fix));
}

}  // namespace

bool visibly_i32(const ir::ExprHandle& expr) {
  switch (expr->kind) {
    case ir::ExprKind::Literal:
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
  if (!left_signed) reject_other(op, "left", symbol, left);
  if (!right_signed && !shift) reject_other(op, "right", symbol, right);
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
