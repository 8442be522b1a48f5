// Makes equal expressions one node. A statement evaluates each node once, so within a statement equal work is done once; and a
// node that several statements share is stored once, because a name means whatever is in scope at each of them.
// Atomics and loads of writable memory stay what they are: how often those happen is the user's say.
#include <array>
#include <unordered_map>

#include "vyre/base/assert.hpp"
#include "vyre/transform/passes.hpp"
#include "vyre/transform/rebuild.hpp"

namespace vyre::transform {
namespace {

// The kind, then what distinguishes expressions of that kind: five words at the most.
using Key = std::array<std::uint32_t, 6>;

struct KeyHash {
  std::size_t operator()(const Key& key) const noexcept {
    std::uint64_t hash = 0xCBF29CE484222325u;
    for (std::uint32_t word : key) {
      hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 32;
    }
    return static_cast<std::size_t>(hash);
  }
};

Key key_of(const ir::Program& program, const ir::Expr& expr, const IdVector<ExprId, Replacement>& merged) {
  auto number = [](auto value) { return static_cast<std::uint32_t>(value); };
  auto at = [&](ExprId id) { return merged[id].by.index; };
  auto key = [&](std::uint32_t a, std::uint32_t b = 0, std::uint32_t c = 0, std::uint32_t d = 0, std::uint32_t e = 0) {
    return Key{number(expr.index()), a, b, c, d, e};
  };
  return match(
      expr, [&](const ir::LitU32& lit) { return key(lit.value); }, [&](const ir::LitI32& lit) { return key(number(lit.value)); },
      [&](const ir::LitBool& lit) { return key(lit.value); }, [&](const ir::LitU64& lit) { return key(lit.low, lit.high); },
      [&](const ir::Var& var) { return key(var.name.index); }, [&](const ir::Load& load) { return key(load.buffer.index, at(load.index)); },
      [&](const ir::BufLen& length) { return key(length.buffer.index); },
      [&](const ir::GridId& grid) { return key(number(grid.kind), grid.axis); },
      [&](const ir::Binary& binary) { return key(number(binary.op), at(binary.left), at(binary.right)); },
      [&](const ir::Unary& unary) { return key(number(unary.op), at(unary.operand)); },
      [&](const ir::Select& select) { return key(at(select.condition), at(select.if_true), at(select.if_false)); },
      [&](const ir::Cast& cast) { return key(number(cast.target), at(cast.value)); },
      [&](const ir::Lane& lane) { return key(lane.lane, at(lane.value)); },
      [&](const ir::Pack& pack) {
        Key result = key(number(pack.type));
        std::size_t word = 2;
        for (ExprId id : program.operands(pack.lanes)) result.at(word++) = at(id);
        return result;
      },
      [&](const ir::Call&) {
        VYRE_ASSERT(!"calls are expanded before this pass");
        return Key{};
      },
      [&](const ir::Atomic&) {
        VYRE_ASSERT(!"two atomics are never one");
        return Key{};
      });
}

}  // namespace

validate::ValidProgram merge_duplicates(const validate::ValidProgram& valid) {
  const ir::Program& program = valid.program();
  const ExprFacts facts = expr_facts(valid);
  IdVector<ExprId, Replacement> merged(program.exprs().size());
  std::unordered_map<Key, ExprId, KeyHash> first;
  first.reserve(program.exprs().size());
  for (std::uint32_t index = 0; index < program.exprs().size(); ++index) {
    const ExprId id{index};
    merged[id].by = id;
    if (facts.repeatable[id]) merged[id].by = first.try_emplace(key_of(program, program.expr(id), merged), id).first->second;
  }
  return replace(valid, merged);
}

}  // namespace vyre::transform
