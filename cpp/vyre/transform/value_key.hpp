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

// `operand(ExprId)` maps equal operands to the same id. `expr` must not be an Atomic.
template <class Operand>
ValueKey value_key(const ir::Program& program, const ir::Expr& expr, Operand&& operand) {
  VYRE_ASSERT(!std::holds_alternative<ir::Atomic>(expr));
  ValueKey key{static_cast<std::uint32_t>(expr.index())};
  std::size_t word = 1;
  const auto put = [&](auto value) { key.at(word++) = static_cast<std::uint32_t>(value); };
  const auto put_operand = [&](ExprId id) { put(operand(id).index); };
  const auto put_list = [&](const ir::ExprList& list) {
    for (ExprId id : program.operands(list)) put_operand(id);
  };
  ir::for_each_field(expr, overloaded{put_operand, put_list, [&](NameId name) { put(name.index); }, put});
  return key;
}

}  // namespace vyre::transform
