// Makes equal expressions one node. A statement evaluates each node once, so within a statement equal work is done once. Equal expressions
// of several statements become one node too: a name in it means the local that is in scope at each statement. Atomics and loads of writable
// memory are never merged, because the program decides how often they happen.
#include <unordered_map>

#include "vyre/transform/passes.hpp"
#include "vyre/transform/rebuild.hpp"
#include "vyre/transform/value_key.hpp"

namespace vyre::transform {

validate::ValidProgram merge_duplicates(const validate::ValidProgram& valid) {
  const ir::Program& program = valid.program();
  const ExprFacts facts = expr_facts(valid);
  IdVector<ExprId, Replacement> merged(program.exprs().size());
  std::unordered_map<ValueKey, ExprId, ValueKeyHash> first;
  first.reserve(program.exprs().size());
  for (std::uint32_t index = 0; index < program.exprs().size(); ++index) {
    const ExprId id{index};
    merged[id].by = id;
    if (!facts.repeatable[id]) continue;
    const ValueKey key = value_key(program, program.expr(id), [&](ExprId operand) { return merged[operand].by; });
    merged[id].by = first.try_emplace(key, id).first->second;
  }
  return replace(valid, merged);
}

}  // namespace vyre::transform
