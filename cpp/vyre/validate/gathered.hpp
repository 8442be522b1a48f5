// A program with its names resolved and its types computed, sorted by kind, so that a rule is a loop over the few things that it judges.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <variant>
#include <vector>

#include "vyre/ir/op_spec.hpp"
#include "vyre/ir/program.hpp"
#include "vyre/validate/facts.hpp"

namespace vyre::validate {

struct OpBody;

// The value of Step::op if no operation is called, or an unknown one.
inline constexpr std::uint32_t kNoOp = Step{}.op;

struct Operand {
  ExprId expr;
  std::uint32_t position;
};

// The steps that a statement uses directly, in evaluation order.
struct Roots {
  StepId first, second;
};

struct Gathered {
  const ir::Program* program = nullptr;
  const ir::OpSpec* op = nullptr;      // the operation whose body this is; null for a program
  const ir::OpTable* table = nullptr;  // the operations that calls were looked up in
  Facts facts;                         // Facts::ops stays empty until the program is known to be valid
  std::vector<OpBody*> callees;        // what Step::op counts, in order of first use
  IdVector<NodeId, Roots> roots;
  // The first statement past kMaxNodeCount. From there on nothing is gathered, and what was is dropped, so that rules about
  // statements stay silent.
  NodeId over_limit;

  // In program order. The body of an operation has none of what V034 forbids in them: one cause, one diagnostic.
  std::array<std::vector<StepId>, ir::kExprKinds> steps_of_kind;
  std::array<std::vector<NodeId>, std::variant_size_v<ir::Node>> nodes_of_kind;
  std::vector<StepId> forbidden_steps;
  std::vector<NodeId> forbidden_nodes;

  // Step k's operands are operand_steps[operand_begin[k] .. operand_begin[k + 1]], as far as a rule may judge them: the first four of
  // a Pack, and as many of a Call as its operation has inputs.
  std::vector<std::uint32_t> operand_begin;
  std::vector<StepId> operand_steps;

  // The operands of a long Call or Pack, each once, where it stands first. Thousands of statements may share an expression that
  // names one operand thousands of times, so walks take these.
  std::unordered_map<ExprId, std::vector<Operand>> long_lists;

  const Step& step(StepId id) const { return facts.steps[id.index]; }
  const Step& operand(StepId user, std::size_t k) const { return step(operand_steps[operand_begin[user.index] + k]); }
  std::span<const StepId> operands(StepId user) const {
    return std::span(operand_steps).subspan(operand_begin[user.index], operand_begin[user.index + 1] - operand_begin[user.index]);
  }
  template <class Kind>
  const Kind& expr(StepId id) const {
    return std::get<Kind>(program->expr(step(id).expr));
  }
  template <class Kind>
  const Kind& node(NodeId id) const {
    return std::get<Kind>(program->node(id));
  }
  const ir::BufferDecl& buffer(BufferId id) const { return program->buffers()[id.index]; }
  const std::vector<StepId>& steps(ir::ExprKind kind) const { return steps_of_kind[static_cast<std::size_t>(kind)]; }
  template <class Kind>
  const std::vector<NodeId>& nodes() const {
    return nodes_of_kind[ir::Node(Kind{}).index()];
  }
};

// Rules that compare types stay silent about one that an earlier error hides. A load from Bytes, which is V013, has a type for
// casts only.
bool known(ir::DataType type);
inline bool wrong(ir::DataType type, ir::DataType want) { return type != want && known(type); }

}  // namespace vyre::validate
