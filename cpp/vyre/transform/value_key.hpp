// Computes a key that two expressions share exactly when they are equal, for passes that look for equal expressions.
#pragma once

#include <array>
#include <cstdint>

#include "vyre/base/assert.hpp"
#include "vyre/base/hash.hpp"
#include "vyre/ir/program.hpp"

namespace vyre::transform {

// The kind, then what distinguishes expressions of that kind: five words at the most.
using ValueKey = std::array<std::uint32_t, 6>;

struct ValueKeyHash {
  std::size_t operator()(const ValueKey& key) const noexcept {
    Fnv1a hash;
    for (const std::uint32_t word : key) hash.add(word);
    return static_cast<std::size_t>(hash.value());
  }
};

// `operand(ExprId)` maps equal operands to the same id. `expr` must not be a Call or an Atomic.
template <class Operand>
ValueKey value_key(const ir::Program& program, const ir::Expr& expr, Operand&& operand) {
  auto number = [](auto value) { return static_cast<std::uint32_t>(value); };
  auto at = [&](ExprId id) { return operand(id).index; };
  auto key = [&](std::uint32_t a, std::uint32_t b = 0, std::uint32_t c = 0, std::uint32_t d = 0, std::uint32_t e = 0) {
    return ValueKey{number(expr.index()), a, b, c, d, e};
  };
  return match(
      expr, [&](const ir::Literal& literal) { return key(number(literal.type), literal.low, literal.high); },
      [&](const ir::Var& var) { return key(var.name.index); }, [&](const ir::Load& load) { return key(load.buffer.index, at(load.index)); },
      [&](const ir::BufLen& length) { return key(length.buffer.index); },
      [&](const ir::GridId& grid) { return key(number(grid.kind), grid.axis); },
      [&](const ir::Binary& binary) { return key(number(binary.op), at(binary.left), at(binary.right)); },
      [&](const ir::Unary& unary) { return key(number(unary.op), at(unary.operand)); },
      [&](const ir::Select& select) { return key(at(select.condition), at(select.if_true), at(select.if_false)); },
      [&](const ir::Cast& cast) { return key(number(cast.target), at(cast.value)); },
      [&](const ir::Lane& lane) { return key(lane.lane, at(lane.value)); },
      [&](const ir::Pack& pack) {
        ValueKey result = key(number(pack.type));
        std::size_t word = 2;
        for (ExprId id : program.operands(pack.lanes)) result.at(word++) = at(id);
        return result;
      },
      [&](const ir::Call&) {
        VYRE_ASSERT(!"calls are expanded before this pass");
        return ValueKey{};
      },
      [&](const ir::Atomic&) {
        VYRE_ASSERT(!"atomics are never merged");
        return ValueKey{};
      });
}

}  // namespace vyre::transform
