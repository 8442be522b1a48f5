// The divisions of U64, which are operations. Lowering has code for them where targets have, or where the divisor is a literal.
#pragma once

#include <cstdint>
#include <optional>

#include "vyre/ir/handles/infix.hpp"
#include "vyre/ir/op_spec.hpp"

namespace vyre::transform {

enum class Division : std::uint8_t { Quotient, Remainder };

// Which of the two operations that `//` and `%` mean on U64 this is; nothing for others.
inline std::optional<Division> wide_division(const ir::OpSpec& op) {
  if (op.version != 1) return std::nullopt;
  if (op.id == ir::meaning(ir::Infix::Div, ir::DataType::U64)->operation()) return Division::Quotient;
  if (op.id == ir::meaning(ir::Infix::Mod, ir::DataType::U64)->operation()) return Division::Remainder;
  return std::nullopt;
}

}  // namespace vyre::transform
