#include "vyre/fuzz/writer.hpp"

#include "vyre/base/assert.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/ir/walk.hpp"

namespace vyre::fuzz {
namespace {

using ir::BinOp;
using ir::DataType;

constexpr std::uint32_t kMostCost = 1u << 24;  // sums of a few of these still fit

std::uint32_t capped(std::uint64_t cost) { return static_cast<std::uint32_t>(std::min<std::uint64_t>(cost, kMostCost)); }

}  // namespace

void Writer::workgroup_size(const ir::WorkgroupSize& size) {
  size_ = size;
  to_.workgroup_size(size);
}

ExprId Writer::leaf(const ir::Expr& expr, DataType type, bool uniform, bool stable) {
  values_.push_back({type, 1, uniform, stable, false});
  return to_.add(expr);
}

ExprId Writer::over(const ir::Expr& expr, DataType type, std::span<const ExprId> operands, std::uint32_t cost) {
  Value value{type, cost, true, true, false};
  std::uint64_t sum = cost;
  for (ExprId operand : operands) {
    const Value& part = of(operand);
    sum += part.cost;
    value.uniform &= part.uniform;
    value.stable &= part.stable;
    value.fleeting |= part.fleeting;
  }
  value.cost = capped(sum);
  values_.push_back(value);
  return to_.add(expr);
}

ExprId Writer::literal(DataType type) {
  const ir::TypeInfo& row = info(type);
  if (row.kind == ir::TypeKind::Boolean) return boolean(random_.chance(50));
  if (row.literal) {
    const std::uint32_t low = edge_u32(random_);
    return leaf(ir::Literal{type, low, row.lanes == 2 ? edge_u32(random_) : 0}, type);
  }
  VYRE_ASSERT(ir::is_vector(type));
  std::vector<ExprId> lanes;
  for (std::uint32_t k = 0; k < ir::lanes(type); ++k) lanes.push_back(u32(edge_u32(random_)));
  return pack(type, lanes);
}

ExprId Writer::id(ir::GridIdKind kind, std::uint32_t axis) {
  return leaf(ir::GridId{kind, axis}, DataType::U32, kind == ir::GridIdKind::Workgroup || size_[axis] == 1);
}

ExprId Writer::var(NameId name, DataType type, bool uniform, bool stable) { return leaf(ir::Var{name}, type, uniform, stable); }

ExprId Writer::apply(const ir::OpInfo& op, std::span<const ExprId> operands) {
  return over(ir::application(op, operands), op.is_typed() ? op.result : type(operands[1]), operands);
}
ExprId Writer::binary(BinOp op, ExprId left, ExprId right) { return apply(info(op), std::array{left, right}); }
ExprId Writer::add(ExprId a, std::uint32_t b) { return b == 0 ? a : binary(BinOp::Add, a, u32(b)); }
ExprId Writer::add(ExprId a, ExprId b) { return binary(BinOp::Add, a, b); }
ExprId Writer::times(ExprId a, std::uint32_t b) { return b == 1 ? a : binary(BinOp::Mul, a, u32(b)); }
ExprId Writer::unary(ir::UnOp op, ExprId operand) { return apply(info(op), std::array{operand}); }
ExprId Writer::select(ExprId condition, ExprId if_true, ExprId if_false) {
  return apply(info(ir::TernOp::Select), std::array{condition, if_true, if_false});
}
ExprId Writer::cast(DataType target, ExprId value) { return over(ir::Cast{target, value}, target, std::array{value}); }
ExprId Writer::lane(ExprId value, std::uint32_t k) { return over(ir::Lane{value, k}, DataType::U32, std::array{value}); }
ExprId Writer::pack(DataType type, std::span<const ExprId> lanes) { return over(ir::Pack{type, to_.list(lanes)}, type, lanes); }
ExprId Writer::call(NameId op, DataType type, std::uint32_t cost, std::span<const ExprId> arguments) {
  return over(ir::Call{op, to_.list(arguments)}, type, arguments, cost);
}

ExprId Writer::load(NameId buffer, DataType element, ExprId index, bool constant, bool fleeting) {
  const ExprId result = over(ir::Load{buffer, index}, element, std::array{index});
  if (!constant) values_[result].uniform = values_[result].stable = false;
  values_[result].fleeting |= fleeting;
  return result;
}

ExprId Writer::atomic(ir::AtomicOp op, NameId buffer, ExprId index, ExprId expected, ExprId value, bool fleeting) {
  std::vector<ExprId> operands{index};
  if (expected.valid()) operands.push_back(expected);
  operands.push_back(value);
  const ExprId result = over(ir::Atomic{op, expected.valid(), buffer, to_.list(operands)}, DataType::U32, operands);
  values_[result].uniform = values_[result].stable = false;
  values_[result].fleeting |= fleeting;
  return result;
}

ExprId Writer::below(ExprId a, std::uint32_t limit) {
  if (limit == 1) return random_.chance(50) ? u32(0) : binary(BinOp::Mod, a, u32(1));
  if ((limit & (limit - 1)) == 0 && random_.chance(50)) return binary(BinOp::BitAnd, a, u32(limit - 1));
  return binary(BinOp::Mod, a, u32(limit));
}

// Recurses over calls alone, which are at most 32 deep (V017).
std::uint32_t cost_of(const ir::OpSpec& op, const ir::OpTable& table) {
  const ir::Program& body = *op.function().body;
  std::uint64_t cost = 0;
  std::vector<std::uint64_t> rounds{1};
  ir::PostOrder walk(body.exprs().size());
  for (const ir::Node& node : body.nodes()) {
    cost += rounds.back();
    ir::for_each_evaluated(body, node, walk, [&](ExprId id) {
      cost += rounds.back();
      if (const ir::Call* call = std::get_if<ir::Call>(&body.expr(id))) {
        if (const ir::OpTable::Spec callee = table.find(body.text(call->op))) cost += rounds.back() * cost_of(*callee, table);
      }
    });
    if (const ir::Loop* loop = std::get_if<ir::Loop>(&node)) {
      const std::optional<std::uint32_t> from = ir::literal_u32(body.expr(loop->from)), to = ir::literal_u32(body.expr(loop->to));
      // Unknown bounds count as long: such an operation is called rarely.
      rounds.push_back(rounds.back() * (from && to ? std::max(*to, *from) - *from : 64));
    } else if (std::holds_alternative<ir::If>(node) || std::holds_alternative<ir::Block>(node)) {
      rounds.push_back(rounds.back());
    } else if (std::holds_alternative<ir::End>(node)) {
      rounds.pop_back();
    }
  }
  return capped(cost);
}

}  // namespace vyre::fuzz
