#include "vyre/transform/powers_of_two.hpp"

#include <array>
#include <bit>
#include <string_view>

#include "vyre/ir/handles/infix.hpp"

namespace vyre::transform {
namespace {

using ir::BinOp;

struct Row {
  std::string_view operation;
  ByPower form;
};
constexpr Row kRows[] = {{ir::meaning(ir::Infix::Div, ir::DataType::U64)->operation(), ByPower::Quotient},
                         {ir::meaning(ir::Infix::Mod, ir::DataType::U64)->operation(), ByPower::Remainder}};

// Builds expressions from the two lanes of the dividend.
class Lanes {
 public:
  Lanes(ExprId dividend, ir::ProgramBuilder& to, const std::function<ExprId(const ir::Expr&)>& add)
      : dividend_(dividend), to_(to), add_(add) {}

  ExprId lane(std::uint32_t k) const { return add_(ir::Lane{dividend_, k}); }
  ExprId number(std::uint32_t value) const { return add_(ir::Literal::u32(value)); }
  ExprId op(BinOp operation, ExprId value, std::uint32_t by) const { return add_(ir::Binary{operation, value, number(by)}); }
  ExprId pack(ExprId low, ExprId high) const {
    const std::array<ExprId, 2> lanes{low, high};
    return add_(ir::Pack{ir::DataType::U64, to_.list(lanes)});
  }

  ExprId shifted_right(std::uint32_t by) const {
    if (by == 0) return dividend_;
    const ExprId high = lane(1);
    if (by >= 32) return pack(by == 32 ? high : op(BinOp::Shr, high, by - 32), number(0));
    const ExprId low = op(BinOp::Shr, lane(0), by);
    return pack(add_(ir::Binary{BinOp::BitOr, low, op(BinOp::Shl, high, 32 - by)}), op(BinOp::Shr, high, by));
  }

  // Keeps the lowest `bits` bits and clears the others. With `bits` = 0 the mask is 0, but the BitAnd is still emitted: the dividend may
  // have effects, so it must be evaluated although the remainder is always 0.
  ExprId lowest(std::uint32_t bits) const {
    const auto mask = [](std::uint32_t count) { return (std::uint32_t{1} << count) - 1; };
    if (bits < 32) return pack(op(BinOp::BitAnd, lane(0), mask(bits)), number(0));
    return pack(lane(0), bits == 32 ? number(0) : op(BinOp::BitAnd, lane(1), mask(bits - 32)));
  }

 private:
  ExprId dividend_;
  ir::ProgramBuilder& to_;
  const std::function<ExprId(const ir::Expr&)>& add_;
};

}  // namespace

std::optional<PowerOfTwo> by_power_of_two(const ir::OpSpec& op, const ir::Expr& divisor) {
  const auto* literal = std::get_if<ir::Literal>(&divisor);
  if (literal == nullptr || literal->type != ir::DataType::U64 || !std::has_single_bit(literal->bits()) || op.version != 1) {
    return std::nullopt;
  }
  for (const Row& row : kRows) {
    if (row.operation == op.id) return PowerOfTwo{row.form, static_cast<std::uint32_t>(std::countr_zero(literal->bits()))};
  }
  return std::nullopt;
}

ExprId short_division(const PowerOfTwo& by, ExprId dividend, ir::ProgramBuilder& to, const std::function<ExprId(const ir::Expr&)>& add) {
  const Lanes lanes(dividend, to, add);
  return by.form == ByPower::Quotient ? lanes.shifted_right(by.exponent) : lanes.lowest(by.exponent);
}

}  // namespace vyre::transform
