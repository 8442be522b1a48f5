// One switch chooses the HINT of rules.def that fits a finding. Hints that depend on the cause are filled by the functions behind it: about
// buffers (hint_buffers.cpp), names (hint_names.cpp), barriers (hint_barriers.cpp) and types (hint_types.cpp).
#include "vyre/validate/hints.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vyre/ir/ops.hpp"
#include "vyre/validate/hint_text.hpp"
#include "vyre/validate/python_text.hpp"

namespace vyre::validate {
namespace {

using ir::BufferAccess;
using ir::BufferDecl;
using ir::DataType;

}  // namespace

void Hints::about(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    if (finding.site.kind == Site::Kind::Step) wrong_.insert(gathered_.step(StepId{finding.site.index}).expr);
  }
}

std::string Hints::operator()(const Finding& finding, NodeId at) {
  if (!finding.said) return {};
  const StepId step{finding.site.index};
  const BufferId buffer{finding.site.index};
  const auto text = [&](NameId name) { return python_name(program_.text(name)); };
  const auto root = [&](bool second) { return second ? gathered_.roots[at].second : gathered_.roots[at].first; };
  const auto buffer_of_step = [&] { return gathered_.step(step).buffer; };
  const bool is_step = finding.site.kind == Site::Kind::Step;
  const auto touched = [&] { return is_step ? gathered_.step(step).buffer : gathered_.facts.statements[at].buffer; };
  const auto operand = [&](std::size_t k) { return gathered_.operands(step)[k]; };

  switch (*finding.said) {
    case Message::DuplicateBuffer: {
      const BufferDecl decl = unique(buffer);
      return say<Hint::RenameBuffer>(std::to_string(buffers().at(gathered_.buffer(buffer).name)), python_declaration(decl),
                                     python_name(decl.name));
    }
    case Message::DuplicateBinding:
      return say<Hint::FreeBinding>(python_declaration(unique(buffer)));
    case Message::WorkgroupSizeZero: {
      ir::WorkgroupSize size = program_.workgroup_size();
      for (std::uint32_t& axis : size) axis = std::max(axis, 1u);
      return say<Hint::PositiveSize>(std::to_string(size[0]), std::to_string(size[1]), std::to_string(size[2]));
    }
    case Message::LoadFromUnknown:
      return undeclared_buffer(gathered_.expr<ir::Load>(step).buffer);
    case Message::BufLenOfUnknown:
      return undeclared_buffer(gathered_.expr<ir::BufLen>(step).buffer);
    case Message::AtomicOnUnknown:
      return undeclared_buffer(gathered_.expr<ir::Atomic>(step).buffer);
    case Message::StoreToUnknown:
      return undeclared_buffer(gathered_.node<ir::Store>(at).buffer);
    case Message::StoreNotWritable: {
      const BufferId id = touched();
      return say<Hint::DeclareWritable>(python_declaration(declared(id, BufferAccess::ReadWrite, gathered_.buffer(id).element)));
    }
    case Message::UndeclaredVariable:
      return undeclared_variable(gathered_.expr<ir::Var>(step).name, at, false);
    case Message::AssignUndeclared:
      return undeclared_variable(gathered_.node<ir::Assign>(at).name, at, true);
    case Message::DuplicateLocal:
      return at.valid() ? duplicate_local(at) : std::string();
    case Message::AtomicNotWritable:
      return say<Hint::DeclareForAtomic>(python_declaration(declared(buffer_of_step(), BufferAccess::ReadWrite, DataType::U32)));
    case Message::DivergentBarrier:
      return barrier(at);
    case Message::AssignLoopVariable:
      return loop_variable(at);
    case Message::UnsupportedCast:
      return unsupported_cast(step);
    case Message::BytesElement:
      return bytes_buffer(gathered_.buffer(touched()), Hint::DeclareWords, Hint::DeclareSharedWords);
    case Message::AtomicElement: {
      const BufferDecl decl = with_atomics(gathered_.buffer(buffer_of_step()));
      if (ir::is_narrow(gathered_.buffer(buffer_of_step()).element)) return say<Hint::DeclareWords32>(python_declaration(decl));
      return say<Hint::DeclareU32>(python_declaration(decl), python_type(gathered_.buffer(buffer_of_step()).element),
                                   python_name(decl.name));
    }
    case Message::LoopBound: {
      const bool second = at == bound_ || !wrong(gathered_.step(root(false)).type, DataType::U32);
      bound_ = at;
      return say<Hint::ConvertBound>(converted(DataType::U32, root(second), second ? "to" : "from"));
    }
    case Message::UnknownOp:
      return unknown_op(step);
    case Message::NotInlinable: {
      const ir::OpSpec& spec = *gathered_.table->find(program_.text(gathered_.expr<ir::Call>(step).op));
      if (spec.procedure() != nullptr) return say<Hint::InvokeProcedure>(python_name(spec.id));
      return say<Hint::GiveBody>(python_name(spec.id), std::to_string(std::uint64_t{spec.version} + 1));
    }
    case Message::BinaryOperand:
      return binary_operator(step, Hint::TypedOperator);
    case Message::IfCondition:
      return say<Hint::ConvertCondition>(converted(DataType::Bool, root(false), "condition"));
    case Message::CastToBytes:
      return say<Hint::StoreWords>();
    case Message::WorkgroupCount: {
      BufferDecl decl = gathered_.buffer(buffer);
      std::uint64_t count = 1;
      for (std::uint32_t axis : program_.workgroup_size()) count *= std::clamp(axis, 1u, 1u << 16);
      decl.count = static_cast<std::uint32_t>(std::min<std::uint64_t>(count, 1u << 16));
      return say<Hint::PositiveCount>(python_declaration(decl));
    }
    case Message::AtomicOnWorkgroup:
      return say<Hint::DeclareAtomic>(python_declaration(with_atomics(gathered_.buffer(buffer_of_step()))));
    case Message::AtomicDeclaration:
      return say<Hint::DeclareAtomicU32>(python_declaration(with_atomics(gathered_.buffer(buffer))));
    case Message::AtomicOnPrivate:
      return say<Hint::PlainUpdate>(python_declaration(with_atomics(gathered_.buffer(buffer_of_step()))));
    case Message::PrivateBytes: {
      BufferDecl decl = gathered_.buffer(buffer);
      decl.element = DataType::U32;
      decl.count = std::max(decl.count, 1u);
      return say<Hint::DeclarePrivateWords>(python_declaration(decl));
    }
    case Message::PrivateCount: {
      BufferDecl decl = gathered_.buffer(buffer);
      decl.count = 1;
      return say<Hint::DeclarePrivateWords>(python_declaration(decl));
    }
    case Message::IndexType:
      return say<Hint::ConvertIndex>(converted(DataType::U32, is_step ? operand(0) : root(false), "index"));
    case Message::PackLane:
      return lane_of_pack(step, finding.message);
    case Message::StoreType:
      return say<Hint::ConvertValue>(converted(ir::value_type(gathered_.buffer(touched()).element), root(true), "value"));
    case Message::AssignType:
      return say<Hint::ConvertValue>(converted(gathered_.facts.locals[gathered_.facts.statements[at].local].type, root(false), "value"));
    case Message::SelectCondition:
      return say<Hint::ConvertChoice>(converted(DataType::Bool, operand(0), "condition"));
    case Message::SelectBranches:
      return say<Hint::ConvertBranch>(converted(gathered_.step(operand(1)).type, operand(2), "if_false"));
    case Message::UnaryOperand: {
      const Step& value = gathered_.step(operand(0));
      return say<Hint::TypedUnary>(python_unary(gathered_.expr<ir::Unary>(step).op, {value.type, code(operand(0), "value")}));
    }
    case Message::SignedOperand:
      return binary_operator(step, Hint::SignedOperands);
    case Message::AtomicValue: {
      const bool expected = finding.message.find("atomic expected value on") != std::string::npos;
      const StepId value = expected ? operand(1) : gathered_.operands(step).back();
      return say<Hint::ConvertAtomicValue>(converted(DataType::U32, value, expected ? "expected" : "value"),
                                           expected ? "expected value" : "value");
    }
    case Message::ExpectedMissing:
      return say<Hint::CompareExchangeInFull>(text(gathered_.expr<ir::Atomic>(step).buffer));
    case Message::ExpectedUnwanted: {
      const ir::Atomic& atomic = gathered_.expr<ir::Atomic>(step);
      return say<Hint::AtomicWithoutExpected>(ir::info(atomic.op).text, text(atomic.buffer));
    }
    case Message::ArgumentType:
      return argument(step, finding.message);
    case Message::BodyBuffer: {
      const auto* load = is_step ? std::get_if<ir::Load>(&program_.expr(gathered_.step(step).expr)) : nullptr;
      return load == nullptr ? std::string() : say<Hint::LoadInCaller>(python_name(gathered_.op->id), text(load->buffer));
    }
    case Message::BodyResultType:
      return say<Hint::ConvertResult>(converted(gathered_.op->function().signature.output, root(false), "result"));
    case Message::OutputAccess: {
      BufferDecl decl = as_storage(gathered_.buffer(buffer));
      decl.output = true;
      return say<Hint::DeclareOutput>(python_declaration(decl));
    }
    case Message::OutputCount: {
      BufferDecl decl = gathered_.buffer(buffer);
      decl.output = false;
      return say<Hint::UnmarkOutput>(python_declaration(decl));
    }
    // Their sentences say what to write.
    case Message::AxisOutOfRange:
    case Message::CallDepth:
    case Message::NestingDepth:
    case Message::NodeCount:
    case Message::AfterReturn:
    case Message::BreakOutside:
    case Message::AfterBreak:
    case Message::PrivateSize:
    case Message::LaneOutOfRange:
    case Message::LaneUndefined:
    case Message::PackUndefined:
    case Message::PackCount:
    case Message::ArgumentCount:
    case Message::EmptyBufferName:
    case Message::EmptyLocalName:
    case Message::NulInName:
    case Message::BodyOutlaw:
    case Message::BodyParameters:
    case Message::BodyNoResult:
    case Message::InfixOperands:
    case Message::InfixUndefined:
    case Message::LiteralRange:
    case Message::InvertedTruth:
    case Message::InfixAmount:
      return {};
  }
  return {};
}

std::string Hints::code(StepId id, std::string_view otherwise) const {
  return python_expr(program_, gathered_.step(id).expr, otherwise, wrong_);
}

std::string Hints::converted(DataType want, StepId id, std::string_view otherwise) const {
  return python_converted(want, gathered_.step(id).type, code(id, otherwise));
}

// " (line 12)", " (kit.py:12)", or nothing when the source is not known.
std::string Hints::place(NodeId statement, NodeId at) const {
  const ir::SourcePlace there = program_.place(statement);
  if (!there.known()) return {};
  if (there.file == program_.place(at).file) return fmt::format(" (line {})", there.line);
  return fmt::format(" ({}:{})", ir::file_name(there.file), there.line);
}

}  // namespace vyre::validate
