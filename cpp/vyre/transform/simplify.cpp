// Algebraic rules. Each gives an operand or a literal, so nothing is evaluated that was not; where an operand is dropped, it must
// be `fixed` (see rebuild.hpp).
#include "vyre/transform/passes.hpp"
#include "vyre/transform/rebuild.hpp"

namespace vyre::transform {
namespace {

using ir::BinOp;
using ir::DataType;

constexpr std::uint32_t kAllOnes = 0xFFFFFFFFu;

class Simplifier {
 public:
  explicit Simplifier(const validate::ValidProgram& valid)
      : valid_(valid), program_(valid.program()), facts_(expr_facts(valid)), result_(program_.exprs().size()) {}

  validate::ValidProgram run() {
    for (std::uint32_t index = 0; index < program_.exprs().size(); ++index) {
      const ExprId id{index};
      result_[id].by = id;
      match(
          program_.expr(id), [](const ir::LitU32&) {}, [](const ir::LitI32&) {}, [](const ir::LitBool&) {}, [](const ir::LitU64&) {},
          [](const ir::Var&) {}, [](const ir::Load&) {}, [](const ir::BufLen&) {}, [](const ir::GridId&) {}, [](const ir::Call&) {},
          [](const ir::Pack&) {}, [](const ir::Atomic&) {}, [&](const ir::Binary& binary) { simplify(id, binary); },
          [&](const ir::Unary& unary) { simplify(id, unary); }, [&](const ir::Select& select) { simplify(id, select); },
          [&](const ir::Cast& cast) { simplify(id, cast); }, [&](const ir::Lane& lane) { simplify(id, lane); });
    }
    return replace(valid_, result_);
  }

 private:
  void becomes(ExprId id, ExprId operand) { result_[id] = result_[operand]; }
  void becomes(ExprId id, std::uint32_t bits, DataType type) { result_[id].constant = Constant{type, ir::scalar(bits)}; }

  // The bits of a literal.
  std::optional<std::uint32_t> bits(ExprId id) const {
    const Replacement& result = result_[id];
    const std::optional<Constant> constant = result.constant ? result.constant : constant_of(program_.expr(result.by));
    if (!constant || lanes(constant->type) != 1) return std::nullopt;
    return constant->value.lanes[0];
  }
  bool same(ExprId a, ExprId b) const { return a == b || (!result_[a].constant && !result_[b].constant && result_[a].by == result_[b].by); }
  // What stands for an operand after its own rules; a literal made by a rule is no expression of the program.
  template <class Kind>
  const Kind* as(ExprId id) const {
    return result_[id].constant ? nullptr : std::get_if<Kind>(&program_.expr(result_[id].by));
  }

  void simplify(ExprId id, const ir::Binary& binary) {
    const ir::BinOpInfo& op = info(binary.op);
    const std::optional<std::uint32_t> left = bits(binary.left), right = bits(binary.right);
    const bool left_fixed = facts_.fixed[binary.left], right_fixed = facts_.fixed[binary.right];
    // Literals on both sides are fold_constants' work.
    if (right && !left) {
      if (is_right_identity(op, *right)) return becomes(id, binary.left);
      if (const auto value = absorbed_by_right(binary.op, *right); value && left_fixed) return becomes(id, *value, op.result);
    }
    if (left && !right) {
      const bool commutes = op.laws & ir::kCommutative;
      if (((op.laws & ir::kZeroIdentity) && *left == 0) || (commutes && is_right_identity(op, *left))) return becomes(id, binary.right);
      const auto value = commutes ? absorbed_by_right(binary.op, *left) : absorbed_by_left(binary.op, *left);
      if (value && right_fixed) return becomes(id, *value, op.result);
    }
    if (same(binary.left, binary.right)) {
      if (op.laws & ir::kIdempotent) return becomes(id, binary.left);
      if (const auto value = of_equal_operands(binary.op); value && left_fixed) return becomes(id, *value, op.result);
    }
  }

  // x op c = x.
  static bool is_right_identity(const ir::BinOpInfo& op, std::uint32_t c) {
    if ((op.laws & ir::kZeroIdentity) && c == 0) return true;
    switch (op.op) {
      case BinOp::Sub:
        return c == 0;
      case BinOp::Mul:
      case BinOp::Div:
      case BinOp::SDiv:
        return c == 1;
      case BinOp::Shl:
      case BinOp::Shr:
      case BinOp::SShr:
      case BinOp::RotateLeft:
      case BinOp::RotateRight:
        return (c & 31u) == 0;
      case BinOp::BitAnd:
      case BinOp::Min:
        return c == kAllOnes;
      default:
        return false;
    }
  }

  // x op c, where it does not depend on x.
  static std::optional<std::uint32_t> absorbed_by_right(BinOp op, std::uint32_t c) {
    switch (op) {
      case BinOp::Mul:
      case BinOp::BitAnd:
      case BinOp::Min:
      case BinOp::And:
      case BinOp::Div:
      case BinOp::SDiv:
      case BinOp::Lt:
        if (c == 0) return 0;
        return std::nullopt;
      case BinOp::Mod:
      case BinOp::MulHigh:
        if (c <= 1) return 0;
        return std::nullopt;
      case BinOp::SMod:
        if (c <= 1 || c == kAllOnes) return 0;
        return std::nullopt;
      case BinOp::BitOr:
      case BinOp::Max:
        if (c == kAllOnes) return kAllOnes;
        return std::nullopt;
      case BinOp::Or:
        if (c != 0) return 1;
        return std::nullopt;
      case BinOp::Gt:
        if (c == kAllOnes) return 0;
        return std::nullopt;
      case BinOp::Ge:
        if (c == 0) return 1;
        return std::nullopt;
      case BinOp::Le:
        if (c == kAllOnes) return 1;
        return std::nullopt;
      default:
        return std::nullopt;
    }
  }

  // c op x of an operator that does not commute, where it does not depend on x.
  static std::optional<std::uint32_t> absorbed_by_left(BinOp op, std::uint32_t c) {
    switch (op) {
      case BinOp::Div:
      case BinOp::Mod:
      case BinOp::SDiv:
      case BinOp::SMod:
      case BinOp::Shl:
      case BinOp::Shr:
      case BinOp::SShr:
      case BinOp::RotateLeft:
      case BinOp::RotateRight:
      case BinOp::Gt:
        if (c == 0) return 0;
        break;
      case BinOp::Le:
        if (c == 0) return 1;
        break;
      default:
        break;
    }
    if (c != kAllOnes) return std::nullopt;
    switch (op) {
      case BinOp::RotateLeft:
      case BinOp::RotateRight:
      case BinOp::SShr:
        return kAllOnes;
      case BinOp::Lt:
        return 0;
      case BinOp::Ge:
        return 1;
      default:
        return std::nullopt;
    }
  }

  // x op x, where it does not depend on x. x / x does: 0 / 0 is 0.
  static std::optional<std::uint32_t> of_equal_operands(BinOp op) {
    switch (op) {
      case BinOp::Sub:
      case BinOp::BitXor:
      case BinOp::AbsDiff:
      case BinOp::Mod:
      case BinOp::SMod:
      case BinOp::Ne:
      case BinOp::Lt:
      case BinOp::Gt:
      case BinOp::SLt:
      case BinOp::SGt:
        return 0;
      case BinOp::Eq:
      case BinOp::Le:
      case BinOp::Ge:
      case BinOp::SLe:
      case BinOp::SGe:
        return 1;
      default:
        return std::nullopt;
    }
  }

  void simplify(ExprId id, const ir::Unary& unary) {
    const auto* inner = as<ir::Unary>(unary.operand);
    if (inner != nullptr && inner->op == unary.op && (info(unary.op).laws & ir::kInvolution)) becomes(id, inner->operand);
  }

  void simplify(ExprId id, const ir::Select& select) {
    if (same(select.if_true, select.if_false) && facts_.fixed[select.condition]) becomes(id, select.if_true);
  }

  void simplify(ExprId id, const ir::Cast& cast) {
    if (facts_.types[cast.value] == cast.target) return becomes(id, cast.value);
    // The same bits there and back.
    const auto* inner = as<ir::Cast>(cast.value);
    if (inner == nullptr || facts_.types[inner->value] != cast.target) return;
    if (ir::cast_kind(cast.target, inner->target) == ir::CastKind::Identity &&
        ir::cast_kind(inner->target, cast.target) == ir::CastKind::Identity) {
      becomes(id, inner->value);
    }
  }

  void simplify(ExprId id, const ir::Lane& lane) {
    const auto* pack = as<ir::Pack>(lane.value);
    if (pack == nullptr) return;
    const std::span<const ExprId> lanes = program_.operands(pack->lanes);
    for (std::uint32_t k = 0; k < lanes.size(); ++k) {
      if (k != lane.lane && !facts_.fixed[lanes[k]]) return;
    }
    becomes(id, lanes[lane.lane]);
  }

  const validate::ValidProgram& valid_;
  const ir::Program& program_;
  const ExprFacts facts_;
  IdVector<ExprId, Replacement> result_;
};

}  // namespace

validate::ValidProgram simplify(const validate::ValidProgram& valid) { return Simplifier(valid).run(); }

}  // namespace vyre::transform
