// Finds what an expression means when variables are replaced by their values. A variable stands for the expression that its Let binds if
// nothing assigns the variable, and if that expression would give the same value wherever the variable is read.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "vyre/base/id.hpp"
#include "vyre/transform/rebuild.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::transform {

// Callers ask about expressions in the order of their numbers, because an answer about an expression needs the answers about its operands.
class Meanings {
 public:
  // `result` is the replacement of each expression so far. It belongs to the caller, which fills it in the same order.
  Meanings(const validate::ValidProgram& valid, const ExprFacts& facts, const IdVector<ExprId, Replacement>& result);

  // The replacement of an expression, after following variables to the values that they stand for.
  const Replacement& of(ExprId id) {
    const Replacement& found = result_[id];
    return found.constant || !locals_[found.by].valid() ? found : looked_through(id);
  }
  // Whether two operands of one statement give the same value. Comparing ids is not enough: the merge_duplicates pass gives equal
  // expressions one id, but not those that are equal only after variables are replaced by their values.
  bool same(ExprId a, ExprId b);

 private:
  struct Binding {
    ExprId value;                         // what its Let binds; invalid if it cannot stand for the variable
    std::uint32_t let = 0, last_use = 0;  // statements
    bool several = false;                 // some expression reads this local and another one of the same name
    bool judged = false;                  // whether `value` may stand for it has been decided
  };

  void find_bound();
  bool is_assigned_between(LocalId local, std::uint32_t after, std::uint32_t before) const;
  const Replacement& looked_through(ExprId id);
  ExprId value_of(ExprId id);
  bool stays(const Binding& binding) const;
  bool is_literal(const Replacement& found) const;
  bool same_throughout(ExprId a, ExprId b);

  const validate::ValidProgram& valid_;
  const ir::Program& program_;
  const ExprFacts& facts_;
  const IdVector<ExprId, Replacement>& result_;
  IdVector<ExprId, LocalId> locals_;  // the first local that a variable's expression reads; invalid for other expressions
  IdVector<LocalId, Binding> bindings_;
  IdVector<ExprId, ExprId> further_;  // by expression: the end of the chain of variables that begins with it, once followed
  std::vector<std::pair<LocalId, std::uint32_t>> assigns_;
};

}  // namespace vyre::transform
