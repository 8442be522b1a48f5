// V004 V006 V007 V008 V011 V033: what names refer to, and what they may be.
#include <unordered_set>

#include "vyre/validate/checks.hpp"

namespace vyre::validate {
namespace {

bool has_nul(std::string_view name) { return name.find('\0') != std::string_view::npos; }

// Lets and loop variables: visit(statement, name).
template <class Visit>
void for_each_binding(const Gathered& program, Visit&& visit) {
  for (NodeId id : program.nodes<ir::Let>()) visit(id, program.program->text(program.node<ir::Let>(id).name));
  for (NodeId id : program.nodes<ir::Loop>()) visit(id, program.program->text(program.node<ir::Loop>(id).variable));
}

}  // namespace

void check_V004(const Gathered& program, Report& report) {
  auto unknown = [&](StepId id) { return !program.step(id).buffer.valid(); };
  auto name = [&](NameId id) { return program.program->text(id); };
  for (StepId id : program.steps(ir::ExprKind::Load)) {
    if (unknown(id)) report.add<Message::LoadFromUnknown>(id, name(program.expr<ir::Load>(id).buffer));
  }
  for (StepId id : program.steps(ir::ExprKind::BufLen)) {
    if (unknown(id)) report.add<Message::BufLenOfUnknown>(id, name(program.expr<ir::BufLen>(id).buffer));
  }
  for (StepId id : program.steps(ir::ExprKind::Atomic)) {
    if (unknown(id)) report.add<Message::AtomicOnUnknown>(id, name(program.expr<ir::Atomic>(id).buffer));
  }
  for (NodeId id : program.nodes<ir::Store>()) {
    if (!program.facts.statements[id].buffer.valid()) report.add<Message::StoreToUnknown>(id, name(program.node<ir::Store>(id).buffer));
  }
}

void check_V006(const Gathered& program, Report& report) {
  for (StepId id : program.steps(ir::ExprKind::Var)) {
    if (program.step(id).local.valid()) continue;
    const std::string_view name = program.program->text(program.expr<ir::Var>(id).name);
    report.add<Message::UndeclaredVariable>(id, name, name);
  }
  for (NodeId id : program.nodes<ir::Assign>()) {
    if (program.facts.statements[id].local.valid()) continue;
    const std::string_view name = program.program->text(program.node<ir::Assign>(id).name);
    report.add<Message::AssignUndeclared>(id, name, name);
  }
}

void check_V007(const Gathered& program, Report& report) {
  for (StepId id : program.steps(ir::ExprKind::GridId)) {
    const std::uint32_t axis = program.expr<ir::GridId>(id).axis;
    if (axis > 2) report.add<Message::AxisOutOfRange>(id, axis);
  }
}

void check_V008(const Gathered& program, Report& report) {
  for_each_binding(program, [&](NodeId id, std::string_view name) {
    if (name.empty()) return;  // V033
    if (!program.facts.statements[id].local.valid()) report.add<Message::DuplicateLocal>(id, name);
  });
  if (program.op == nullptr) return;
  const std::vector<std::string>& parameters = program.op->function().parameters;
  std::unordered_set<std::string_view> seen;
  for (std::uint32_t k = 0; k < parameters.size(); ++k) {
    if (!parameters[k].empty() && !seen.insert(parameters[k]).second)
      report.add<Message::DuplicateLocal>(Site::parameter(k), parameters[k]);
  }
}

void check_V011(const Gathered& program, Report& report) {
  for (NodeId id : program.nodes<ir::Assign>()) {
    const LocalId local = program.facts.statements[id].local;
    if (local.valid() && program.facts.locals[local].loop_variable) {
      report.add<Message::AssignLoopVariable>(id, program.program->text(program.node<ir::Assign>(id).name));
    }
  }
}

void check_V033(const Gathered& program, Report& report) {
  for (std::uint32_t index = 0; index < program.program->buffers().size(); ++index) {
    const std::string& name = program.program->buffers()[index].name;
    if (name.empty()) report.add<Message::EmptyBufferName>(BufferId{index}, index);
    if (has_nul(name)) report.add<Message::NulInName>(BufferId{index}, name);
  }
  auto local = [&](auto where, std::string_view name) {
    if (name.empty()) report.add<Message::EmptyLocalName>(where);
    if (has_nul(name)) report.add<Message::NulInName>(where, name);
  };
  for_each_binding(program, local);
  if (program.op == nullptr) return;
  for (std::uint32_t k = 0; k < program.op->function().parameters.size(); ++k)
    local(Site::parameter(k), program.op->function().parameters[k]);
}

}  // namespace vyre::validate
