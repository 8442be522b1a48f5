// V012 V015 V021 V022 V023 V027 V028 V029 V030: what operands are. A type that an earlier error hides is never judged.
#include <algorithm>

#include "vyre/ir/semantics.hpp"
#include "vyre/validate/checks.hpp"

namespace vyre::validate {
namespace {

using ir::DataType;

bool is_condition(DataType type) { return !known(type) || type == DataType::U32 || type == DataType::Bool; }

// The types that Lane and Pack are defined on.
bool has_lanes(DataType type) { return known(type) && ir::lanes(type) > 1; }

// Whether the rule judges operators of this kind.
constexpr bool judges(ir::OperandRule rule, ir::ExprKind kind) {
  return std::ranges::any_of(ir::kOps, [&](const ir::OpInfo* op) { return op->rule == rule && op->kind == kind; });
}

// Calls visit(step, operator, k) for each operand k of another type than its operator has it, of the operators that `rule` judges.
template <ir::OperandRule rule, class Visit>
void for_each_wrong_operand(const Gathered& program, Visit&& visit) {
  const auto look_at = [&](ir::ExprKind kind) {
    for (StepId id : program.steps(kind)) {
      const ir::OpInfo& op = *ir::operator_of(program.program->expr(program.step(id).expr));
      if (op.rule != rule) continue;
      for (std::size_t k = 0; k < op.arity; ++k) {
        if (wrong(program.operand(id, k).type, op.operands[k])) visit(id, op, k);
      }
    }
  };
  if constexpr (judges(rule, ir::ExprKind::Unary)) look_at(ir::ExprKind::Unary);
  if constexpr (judges(rule, ir::ExprKind::Binary)) look_at(ir::ExprKind::Binary);
  for (const ir::OpInfo& row : ir::kTernOps) {
    if (row.rule == rule) look_at(row.kind);
  }
}

}  // namespace

void check_V012(const Gathered& program, Report& report) {
  for (StepId id : program.steps(ir::ExprKind::Cast)) {
    const DataType target = program.expr<ir::Cast>(id).target;
    const DataType source = program.operand(id, 0).type;
    if (source == kUnknownType || target == DataType::Bytes) continue;
    if (!ir::cast_kind(source, target)) report.add<Message::UnsupportedCast>(id, ir::text(source), ir::text(target));
  }
}

void check_V015(const Gathered& program, Report& report) {
  for (NodeId id : program.nodes<ir::Loop>()) {
    for (StepId bound : {program.roots[id].first, program.roots[id].second}) {
      const DataType type = program.step(bound).type;
      if (wrong(type, DataType::U32)) report.add<Message::LoopBound>(id, ir::text(type));
    }
  }
}

void check_V021(const Gathered& program, Report& report) {
  for_each_wrong_operand<ir::OperandRule::V021>(program, [&](StepId id, const ir::OpInfo& op, std::size_t k) {
    report.add<Message::BinaryOperand>(id, op.names[k], ir::text(program.operand(id, k).type));
  });
}

void check_V022(const Gathered& program, Report& report) {
  for (NodeId id : program.nodes<ir::If>()) {
    const DataType type = program.step(program.roots[id].first).type;
    if (!is_condition(type)) report.add<Message::IfCondition>(id, ir::text(type));
  }
}

void check_V023(const Gathered& program, Report& report) {
  for (StepId id : program.steps(ir::ExprKind::Cast)) {
    if (program.expr<ir::Cast>(id).target != DataType::Bytes) continue;
    if (known(program.operand(id, 0).type)) report.add<Message::CastToBytes>(id);
  }
}

void check_V027(const Gathered& program, Report& report) {
  auto index = [&](auto id, const char* what, NameId buffer, const Step& operand) {
    if (wrong(operand.type, DataType::U32)) {
      report.add<Message::IndexType>(id, what, program.program->text(buffer), ir::text(operand.type));
    }
  };
  for (StepId id : program.steps(ir::ExprKind::Load)) index(id, "load", program.expr<ir::Load>(id).buffer, program.operand(id, 0));
  for (StepId id : program.steps(ir::ExprKind::Atomic)) index(id, "atomic", program.expr<ir::Atomic>(id).buffer, program.operand(id, 0));
  for (NodeId id : program.nodes<ir::Store>()) {
    index(id, "store", program.node<ir::Store>(id).buffer, program.step(program.roots[id].first));
  }
  for (StepId id : program.steps(ir::ExprKind::Lane)) {
    const std::uint32_t lane = program.expr<ir::Lane>(id).lane;
    const DataType type = program.operand(id, 0).type;
    if (!known(type)) continue;
    if (!has_lanes(type)) {
      report.add<Message::LaneUndefined>(id, ir::text(type));
    } else if (lane >= ir::lanes(type)) {
      report.add<Message::LaneOutOfRange>(id, lane, ir::text(type), ir::lanes(type) - 1);
    }
  }
  for (StepId id : program.steps(ir::ExprKind::Pack)) {
    const ir::Pack& pack = program.expr<ir::Pack>(id);
    if (!has_lanes(pack.type)) {
      report.add<Message::PackUndefined>(id, ir::text(pack.type));
      continue;  // what its lanes should be is not known
    }
    const std::uint32_t want = ir::lanes(pack.type);
    const std::size_t got = program.program->operands(pack.lanes).size();
    if (got != want) report.add<Message::PackCount>(id, ir::text(pack.type), want, got, want);
    for (std::uint32_t k = 0; k < want && k < got; ++k) {
      const DataType type = program.operand(id, k).type;
      if (wrong(type, DataType::U32)) report.add<Message::PackLane>(id, k, ir::text(type));
    }
  }
}

void check_V028(const Gathered& program, Report& report) {
  for (NodeId id : program.nodes<ir::Store>()) {
    const BufferId buffer = program.facts.statements[id].buffer;
    if (!buffer.valid()) continue;
    const DataType element = ir::value_type(program.buffer(buffer).element);
    const DataType type = program.step(program.roots[id].second).type;
    if (known(element) && wrong(type, element)) {
      report.add<Message::StoreType>(id, program.buffer(buffer).name, ir::text(element), ir::text(type), ir::name(element));
    }
  }
  for (NodeId id : program.nodes<ir::Assign>()) {
    const LocalId local = program.facts.statements[id].local;
    if (!local.valid() || program.facts.locals[local].loop_variable) continue;  // V006, V011
    const DataType want = program.facts.locals[local].type;
    const DataType type = program.step(program.roots[id].first).type;
    if (known(want) && wrong(type, want)) {
      report.add<Message::AssignType>(id, program.program->text(program.node<ir::Assign>(id).name), ir::text(want), ir::text(type),
                                      ir::name(want));
    }
  }
}

void check_V029(const Gathered& program, Report& report) {
  for (StepId id : program.steps(ir::ExprKind::Select)) {
    const DataType condition = program.operand(id, 0).type;
    const DataType a = program.operand(id, 1).type;
    const DataType b = program.operand(id, 2).type;
    if (!is_condition(condition)) report.add<Message::SelectCondition>(id, ir::text(condition));
    if (known(a) && wrong(b, a)) report.add<Message::SelectBranches>(id, ir::text(a), ir::text(b));
  }
}

void check_V030(const Gathered& program, Report& report) {
  for_each_wrong_operand<ir::OperandRule::V030>(program, [&](StepId id, const ir::OpInfo& op, std::size_t k) {
    const std::string_view want = ir::text(op.operands[k]), got = ir::text(program.operand(id, k).type), name = ir::name(op.operands[k]);
    if (op.arity == 1) return report.add<Message::UnaryOperand>(id, want, got, name);
    report.add<Message::SignedOperand>(id, op.arity == 2 ? "binary" : "ternary", op.names[k], want, got, name);
  });
}

}  // namespace vyre::validate
