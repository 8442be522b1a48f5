// Checks calls (V016, V017, V020, V032), and what the body of an operation may hold (V034).
#include <algorithm>
#include <unordered_set>

#include "vyre/ir/data_type.hpp"
#include "vyre/validate/checks.hpp"
#include "vyre/validate/limits.hpp"
#include "vyre/validate/op_bodies.hpp"

namespace vyre::validate {
namespace {

// Calls of registered operations: visit(step, operation).
template <class Visit>
void for_each_call(const Gathered& program, Visit&& visit) {
  for (StepId id : program.steps(ir::ExprKind::Call)) {
    if (const std::uint32_t op = program.step(id).op; op != kNoOp) visit(id, *program.callees[op]);
  }
}

std::string_view op_id(const Gathered& program, StepId id) { return program.program->text(program.expr<ir::Call>(id).op); }

}  // namespace

void check_V016(const Gathered& program, Report& report) {
  for (StepId id : program.steps(ir::ExprKind::Call)) {
    if (program.step(id).op == kNoOp) report.add<Message::UnknownOp>(id, op_id(program, id));
  }
}

void check_V017(const Gathered& program, Report& report) {
  // A program's call is at depth 1, and a body is itself at depth 1 at the least.
  const std::uint32_t allowed = program.op == nullptr ? kMaxCallDepth : kMaxCallDepth - 1;
  std::unordered_set<ExprId> reported;  // a Call that several statements share is reported once
  for_each_call(program, [&](StepId id, const OpBody& body) {
    if (body.depth > allowed && reported.insert(program.step(id).expr).second) report.add<Message::CallDepth>(id);
  });
}

void check_V020(const Gathered& program, Report& report) {
  for_each_call(program, [&](StepId id, const OpBody& body) {
    if (!body.spec->inlinable()) report.add<Message::NotInlinable>(id, op_id(program, id));
  });
}

void check_V032(const Gathered& program, Report& report) {
  for_each_call(program, [&](StepId id, const OpBody& body) {
    if (body.spec->procedure() != nullptr) return;  // V020
    const std::string_view name = op_id(program, id);
    const std::vector<ir::DataType>& inputs = body.spec->function().signature.inputs;
    const std::size_t given = program.program->operands(program.expr<ir::Call>(id).arguments).size();
    if (given != inputs.size()) {
      report.add<Message::ArgumentCount>(id, name, given, inputs.size(), name);
      return;  // it is not known which argument is meant for which input
    }
    for (std::size_t k = 0; k < given; ++k) {
      const ir::DataType type = program.operand(id, k).type;
      if (wrong(type, inputs[k])) {
        report.add<Message::ArgumentType>(id, k, name, ir::text(inputs[k]), ir::text(type), ir::name(inputs[k]), ir::name(type));
      }
    }
  });
}

void check_V034(const Gathered& program, Report& report) {
  if (program.op == nullptr) return;
  const ir::OpSpec& op = *program.op;
  for (std::uint32_t index = 0; index < program.program->buffers().size(); ++index) {
    report.add<Message::BodyBuffer>(BufferId{index}, op.id);
  }
  if (op.function().parameters.size() != op.function().signature.inputs.size()) {
    const auto first_odd_one = static_cast<std::uint32_t>(std::min(op.function().parameters.size(), op.function().signature.inputs.size()));
    report.add<Message::BodyParameters>(Site::parameter(first_odd_one), op.id, op.function().parameters.size(),
                                        op.function().signature.inputs.size());
  }
  for (StepId id : program.forbidden_steps) {
    const ir::ExprKind kind = ir::kind(program.program->expr(program.step(id).expr));
    if (kind == ir::ExprKind::GridId) {
      report.add<Message::BodyOutlaw>(id, "invocation id", op.id);
    } else if (kind == ir::ExprKind::Atomic) {
      report.add<Message::BodyOutlaw>(id, "atomic", op.id);
    } else {
      report.add<Message::BodyBuffer>(id, op.id);
    }
  }
  for (NodeId id : program.forbidden_nodes) {
    const ir::Node& node = program.program->node(id);
    if (std::holds_alternative<ir::Store>(node)) {
      report.add<Message::BodyBuffer>(id, op.id);
    } else {
      report.add<Message::BodyOutlaw>(id, std::holds_alternative<ir::Barrier>(node) ? "barrier" : "return", op.id);
    }
  }
  if (program.over_limit.valid()) return;

  const std::size_t count = program.program->nodes().size();
  const NodeId last{static_cast<std::uint32_t>(count - 1)};
  if (count == 0 || !std::holds_alternative<ir::Let>(program.program->node(last))) {
    report.add<Message::BodyNoResult>(Site::entry(), op.id);
    return;
  }
  const ir::DataType type = program.step(program.roots[last].first).type;
  const ir::DataType want = op.function().signature.output;
  if (wrong(type, want)) report.add<Message::BodyResultType>(last, op.id, ir::text(want), ir::text(type), ir::name(want));
}

void check_callees(const Gathered& program, Report& report) {
  for_each_call(program, [&](StepId id, const OpBody& body) {
    // A registered body was judged when it was registered; since then only the operations that it calls can have changed.
    if (body.cause) report.add(Site::of(id), body.cause->rule, body.cause->message);
  });
}

}  // namespace vyre::validate
