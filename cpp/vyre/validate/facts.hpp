// The facts about a program once its names are resolved and its types computed. Gathered once, read by every rule, and
// carried by a ValidProgram to every later stage.
//
// Facts belong to (statement, expression): one shared expression may be reached by statements in different scopes, where its
// variables mean different things. So each statement has its own list of steps, in evaluation order, operands before users.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "vyre/ir/op_spec.hpp"
#include "vyre/ir/program.hpp"

namespace vyre::validate {

class ValidOp;

// The type of what an earlier error hides. Only rules meet it: a valid program has no step and no local of this type.
inline constexpr ir::DataType kUnknownType = static_cast<ir::DataType>(0xFF);

// A Let binding, a loop variable, or a parameter of an operation.
struct Local {
  NameId name;  // invalid for a parameter that its body never names
  ir::DataType type = ir::kU32;
  bool loop_variable = false;
  bool assigned = false;  // some Assign targets it; otherwise its value is fixed by the Let
  NodeId declaration;     // invalid for a parameter
};

// One expression evaluated by one statement.
struct Step {
  ExprId expr;
  ir::DataType type = ir::kU32;
  LocalId local;           // of a Var
  BufferId buffer;         // of a Load, BufLen or Atomic
  std::uint32_t op = ~0u;  // of a Call: index into Facts::ops
};

struct StepTag;
using StepId = Id<StepTag>;  // an index into Facts::steps

struct Statement {
  std::uint32_t first_step = 0, step_count = 0;
  LocalId local;    // what a Let or Loop declares, what an Assign targets
  BufferId buffer;  // what a Store targets
};

struct Facts {
  std::vector<Step> steps;
  IdVector<NodeId, Statement> statements;
  IdVector<LocalId, Local> locals;  // an operation's parameters come first, in order
  std::vector<std::shared_ptr<const ValidOp>> ops;

  std::span<const Step> steps_of(NodeId node) const {
    const Statement& statement = statements[node];
    return std::span(steps).subspan(statement.first_step, statement.step_count);
  }
};

}  // namespace vyre::validate
