// Short forms of 64-bit divisions by literal powers of two. The operations that `//` and `%` mean on U64 divide in 64 rounds,
// whatever the divisor is. For a power of two, a shift or a mask of the lanes gives the same result.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "vyre/ir/builder.hpp"
#include "vyre/ir/op_spec.hpp"

namespace vyre::transform {

enum class ByPower : std::uint8_t { Quotient, Remainder };

struct PowerOfTwo {
  ByPower form;
  std::uint32_t exponent;  // 0..63
};

// Returns the short form of a call of `op` with this divisor. Returns nothing if `op` is neither of the two operations, or if the divisor
// is not a literal power of two.
std::optional<PowerOfTwo> by_power_of_two(const ir::OpSpec& op, const ir::Expr& divisor);

// Returns the quotient or the remainder of `dividend`, an expression of type U64 that the result evaluates exactly once. `add` adds each
// expression to the program, and lists of operands are added to `to`.
ExprId short_division(const PowerOfTwo& by, ExprId dividend, ir::ProgramBuilder& to, const std::function<ExprId(const ir::Expr&)>& add);

}  // namespace vyre::transform
