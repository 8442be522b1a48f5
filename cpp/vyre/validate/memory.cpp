// V005 V009 V013 V014 V025 V031: what may be done with a buffer, by its access and its element. Access and element are separate causes.
#include <string>

#include "vyre/ir/ops.hpp"
#include "vyre/validate/checks.hpp"

namespace vyre::validate {
namespace {

// Atomics on a declared buffer: visit(step, buffer).
template <class Visit>
void for_each_atomic(const Gathered& program, Visit&& visit) {
  for (StepId id : program.steps(ir::ExprKind::Atomic)) {
    if (const BufferId buffer = program.step(id).buffer; buffer.valid()) visit(id, program.buffer(buffer));
  }
}

template <class Visit>
void for_each_store(const Gathered& program, Visit&& visit) {
  for (NodeId id : program.nodes<ir::Store>()) {
    if (const BufferId buffer = program.facts.statements[id].buffer; buffer.valid()) visit(id, program.buffer(buffer));
  }
}

}  // namespace

void check_V005(const Gathered& program, Report& report) {
  for_each_store(program, [&](NodeId id, const ir::BufferDecl& buffer) {
    if (!ir::writable(buffer.access)) report.add<Message::StoreNotWritable>(id, buffer.name);
  });
}

void check_V009(const Gathered& program, Report& report) {
  for_each_atomic(program, [&](StepId id, const ir::BufferDecl& buffer) {
    if (!ir::writable(buffer.access)) report.add<Message::AtomicNotWritable>(id, buffer.name);
  });
}

void check_V013(const Gathered& program, Report& report) {
  auto judge = [&](auto id, const ir::BufferDecl& buffer) {
    // A Private one is refused where it is declared.
    if (buffer.element == ir::DataType::Bytes && buffer.access != ir::BufferAccess::Private)
      report.add<Message::BytesElement>(id, buffer.name);
  };
  for (StepId id : program.steps(ir::ExprKind::Load)) {
    if (const BufferId buffer = program.step(id).buffer; buffer.valid()) judge(id, program.buffer(buffer));
  }
  for_each_atomic(program, judge);
  for_each_store(program, judge);
}

void check_V014(const Gathered& program, Report& report) {
  for_each_atomic(program, [&](StepId id, const ir::BufferDecl& buffer) {
    if (!buffer.atomic && wrong(buffer.element, ir::DataType::U32))
      report.add<Message::AtomicElement>(id, buffer.name, ir::text(buffer.element));
  });
}

void check_V025(const Gathered& program, Report& report) {
  for_each_atomic(program, [&](StepId id, const ir::BufferDecl& buffer) {
    if (buffer.access == ir::BufferAccess::Workgroup && !buffer.atomic) report.add<Message::AtomicOnWorkgroup>(id, buffer.name);
  });
}

// The operands of an atomic have to be U32 whatever its buffer is.
void check_V031(const Gathered& program, Report& report) {
  for (StepId id : program.steps(ir::ExprKind::Atomic)) {
    const ir::Atomic& atomic = program.expr<ir::Atomic>(id);
    const std::string_view name = program.program->text(atomic.buffer);
    auto value = [&](const char* what, const Step& operand) {
      if (wrong(operand.type, ir::DataType::U32)) report.add<Message::AtomicValue>(id, what, name, ir::text(operand.type));
    };
    const bool compares = atomic.op == ir::AtomicOp::CompareExchange;
    if (compares && !atomic.has_expected) report.add<Message::ExpectedMissing>(id, name);
    if (!compares && atomic.has_expected) {
      std::string op(ir::info(atomic.op).text);
      report.add<Message::ExpectedUnwanted>(id, op.substr(op.find('_') + 1), name);
    }
    if (compares && atomic.has_expected) value("expected value", program.operand(id, 1));
    value("value", program.operand(id, program.operands(id).size() - 1));
  }
}

}  // namespace vyre::validate
