#include "vyre/advise/hints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "vyre/advise/python_text.hpp"
#include "vyre/base/nearest.hpp"
#include "vyre/base/overloaded.hpp"
#include "vyre/ir/handles/infix.hpp"
#include "vyre/ir/semantics.hpp"
#include "vyre/validate/finding.hpp"
#include "vyre/validate/resolution.hpp"
#include "vyre/validate/uniformity.hpp"

namespace vyre::advise {

using namespace validate;

namespace {

using ir::BufferAccess;
using ir::BufferDecl;
using ir::DataType;

// Returns the hint's sentence with a value in each of its places.
template <Hint hint, class... Values>
std::string say(const Values&... values) {
  static_assert(places(info(hint).sentence) == sizeof...(Values));
  const std::array<std::string, sizeof...(Values)> texts{std::string(values)...};
  return filled(info(hint).sentence, texts);
}

// Returns the sentence with a cast of the operand, or with how it is computed instead; nothing if no cast gives the type.
template <Hint hint>
std::string convert(const Gathered& gathered, DataType want, const Step& got, std::string_view operand) {
  if (!known(got.type) || !ir::cast_kind(got.type, want)) return {};
  const std::string computed = computed_as(gathered, got, want);
  return say<hint>(computed.empty() ? fmt::format("Expr.cast({}, {})", python_type(want), operand) : computed);
}

// Python's operator that means `op`, as it is written on operands of these names, if it is defined on the type.
std::string python_operator(const ir::OpInfo& op, DataType type) {
  for (const ir::Meaning& meaning : ir::kMeanings) {
    if (meaning.how != ir::How::Op || meaning.op_row() != &op || ir::meaning(meaning.op, type) == nullptr) continue;
    const ir::InfixInfo& row = ir::info(meaning.op);
    const bool is_name = row.symbol == row.function;
    const std::string between = is_name ? ", " : fmt::format(" {} ", row.symbol);
    const std::string operands = op.arity == 1 ? "value" : fmt::format("{}", fmt::join(std::span(op.names).first(op.arity), between));
    if (is_name) return fmt::format("vyre.{}({})", row.function, operands);
    return op.arity == 1 ? fmt::format("{}{}", row.symbol, operands) : operands;
  }
  return {};
}

class Hints {
 public:
  explicit Hints(const Gathered& gathered) : gathered_(gathered), program_(*gathered.program) {}

  // Returns the hint, or the empty string if the message says everything. `at` is the statement of the finding, if it is in one.
  std::string operator()(const Finding& finding, NodeId at);

 private:
  std::string undeclared_buffer(NameId name);
  std::string undeclared_variable(NameId name, NodeId at);
  std::string unknown_op(StepId id);
  std::string barrier(NodeId at);
  std::string unsupported_cast(StepId id) const;
  std::string binary_operator(StepId id) const;

  std::string declared(ir::BufferDecl decl, ir::BufferAccess access, ir::DataType element) const;
  std::string with_atomics(const ir::BufferDecl& decl) const;
  std::uint32_t free_binding(std::string_view name);
  const std::unordered_set<std::string_view>& buffers();  // by name
  std::vector<std::string_view> visible(NodeId at);
  std::optional<std::string_view> similar(std::string_view name, const std::vector<std::string_view>& known);
  std::string place(NodeId statement, NodeId at) const;

  // The most comparisons of names in a program, counted in letters, so that the time stays in proportion to the program's size however many
  // names are wrong. A program of 100,000 misspellings gets suggestions for the first of them.
  static constexpr std::size_t kMostComparisons = 500'000;

  const Gathered& gathered_;
  const ir::Program& program_;
  std::unordered_map<std::string, std::uint32_t> free_bindings_;  // those given away, by the name of the buffer
  std::unordered_set<std::uint32_t> taken_;
  std::uint32_t next_binding_ = 0;
  std::optional<std::unordered_set<std::string_view>> buffers_;
  std::optional<std::unordered_map<NameId, ir::DataType>> written_;  // buffers that are stored to or changed by atomics, with their types
  std::optional<std::unordered_map<NameId, NodeId>> lets_;           // the first of each name
  std::optional<std::unordered_map<NodeId, DivergentBarrier>> barriers_;
  std::optional<std::vector<std::string>> op_ids_;
  std::size_t comparisons_ = 0;
};

std::string Hints::operator()(const Finding& finding, NodeId at) {
  if (!finding.said) return {};
  const StepId step{finding.site.index};
  const BufferId buffer{finding.site.index};
  const bool is_step = finding.site.kind == Site::Kind::Step;
  const auto root = [&](bool second) { return gathered_.step(second ? gathered_.roots[at].second : gathered_.roots[at].first); };
  const auto touched = [&] { return gathered_.buffer(is_step ? gathered_.step(step).buffer : gathered_.facts.statements[at].buffer); };
  const auto operand = [&](std::size_t k) { return gathered_.operand(step, k); };
  // Which of several operands the sentence is about: the first of a wrong type is reported first, but each has the same Fix.
  const auto wrong_operand = [&](DataType want, std::size_t from) {
    for (std::size_t k = from; k < gathered_.operands(step).size(); ++k) {
      if (wrong(operand(k).type, want)) return operand(k);
    }
    Step none;
    none.type = kUnknownType;
    return none;
  };

  switch (*finding.said) {
    case Message::DuplicateBinding: {
      BufferDecl decl = gathered_.buffer(buffer);
      decl.binding = free_binding(decl.name);
      return say<Hint::FreeBinding>(python_declaration(decl));
    }
    case Message::LoadFromUnknown:
      return undeclared_buffer(gathered_.expr<ir::Load>(step).buffer);
    case Message::BufLenOfUnknown:
      return undeclared_buffer(gathered_.expr<ir::BufLen>(step).buffer);
    case Message::AtomicOnUnknown:
      return undeclared_buffer(gathered_.expr<ir::Atomic>(step).buffer);
    case Message::StoreToUnknown:
      return undeclared_buffer(gathered_.node<ir::Store>(at).buffer);
    case Message::StoreNotWritable:
      return say<Hint::DeclareWritable>(declared(touched(), BufferAccess::ReadWrite, touched().element));
    case Message::UndeclaredVariable:
      return undeclared_variable(gathered_.expr<ir::Var>(step).name, at);
    case Message::AssignUndeclared:
      return undeclared_variable(gathered_.node<ir::Assign>(at).name, at);
    case Message::DuplicateLocal:
      return say<Hint::AssignOrRename>();
    case Message::AtomicNotWritable:
      return say<Hint::DeclareForAtomic>(with_atomics(touched()));
    case Message::DivergentBarrier:
      return barrier(at);
    case Message::AssignLoopVariable:
      return say<Hint::CopyLoopVariable>(python_name(program_.text(gathered_.node<ir::Assign>(at).name)));
    case Message::UnsupportedCast:
      return unsupported_cast(step);
    case Message::BytesElement:
      return say<Hint::DeclareBytes>(declared(touched(), touched().access, DataType::U8));
    case Message::AtomicElement:
      return say<Hint::DeclareU32>(with_atomics(touched()));
    case Message::LoopBound:
      return convert<Hint::ConvertBound>(gathered_, DataType::U32, wrong(root(false).type, DataType::U32) ? root(false) : root(true),
                                         "bound");
    case Message::UnknownOp:
      return unknown_op(step);
    case Message::NotInlinable: {
      const ir::OpSpec& spec = *gathered_.table->find(program_.text(gathered_.expr<ir::Call>(step).op));
      if (spec.procedure() != nullptr) return say<Hint::InvokeProcedure>(python_name(spec.id));
      return say<Hint::GiveBody>(python_name(spec.id), std::to_string(std::uint64_t{spec.version} + 1));
    }
    case Message::BinaryOperand:
    case Message::SignedOperand:
      return binary_operator(step);
    case Message::UnaryOperand: {
      const std::string text = python_operator(ir::info(gathered_.expr<ir::Unary>(step).op), operand(0).type);
      return text.empty() ? text : say<Hint::UnaryByType>(text);
    }
    case Message::IfCondition:
      return convert<Hint::ConvertCondition>(gathered_, DataType::Bool, root(false), "condition");
    case Message::CastToBytes:
      return say<Hint::StoreWords>();
    case Message::AtomicOnWorkgroup:
      return say<Hint::DeclareAtomic>(with_atomics(touched()));
    case Message::AtomicDeclaration:
      return say<Hint::DeclareAtomicU32>(with_atomics(gathered_.buffer(buffer)));
    case Message::AtomicOnPrivate:
      return say<Hint::PlainUpdate>();
    case Message::IndexType:
      return convert<Hint::ConvertIndex>(gathered_, DataType::U32, is_step ? operand(0) : root(false), "index");
    case Message::PackLane:
      return convert<Hint::ConvertIndex>(gathered_, DataType::U32, wrong_operand(DataType::U32, 0), "lane");
    case Message::StoreType:
      return convert<Hint::ConvertValue>(gathered_, ir::value_type(touched().element), root(true), "value");
    case Message::AssignType:
      return convert<Hint::ConvertValue>(gathered_, gathered_.facts.locals[gathered_.facts.statements[at].local].type, root(false),
                                         "value");
    case Message::SelectCondition:
      return convert<Hint::ConvertChoice>(gathered_, DataType::Bool, operand(0), "condition");
    case Message::SelectBranches:
      return convert<Hint::ConvertChoice>(gathered_, operand(1).type, operand(2), "if_false");
    case Message::AtomicValue:
      return convert<Hint::ConvertAtomicValue>(gathered_, DataType::U32, wrong_operand(DataType::U32, 1), "value");
    case Message::BodyResultType:
      return convert<Hint::ConvertResult>(gathered_, gathered_.op->function().signature.output, root(false), "result");
    case Message::OutputCount: {
      BufferDecl decl = gathered_.buffer(buffer);
      decl.output = false;
      return say<Hint::UnmarkOutput>(python_declaration(decl));
    }
    default:  // the sentence says what to write
      return {};
  }
}

std::string Hints::undeclared_buffer(NameId name) {
  if (!written_) {
    written_.emplace();
    for (NodeId id : gathered_.nodes<ir::Store>()) {
      const DataType stored = gathered_.step(gathered_.roots[id].second).type;
      written_->emplace(gathered_.node<ir::Store>(id).buffer, known(stored) ? stored : DataType::U32);
    }
    for (StepId id : gathered_.steps(ir::ExprKind::Atomic)) (*written_)[gathered_.expr<ir::Atomic>(id).buffer] = DataType::U32;
  }
  BufferDecl decl;
  decl.name = program_.text(name);
  std::vector<std::string_view> names;
  if (comparisons_ < kMostComparisons) names.assign(buffers().begin(), buffers().end());
  std::ranges::sort(names);
  if (const auto meant = similar(decl.name, names)) return say<Hint::NearestBuffer>(python_name(*meant));
  decl.binding = free_binding(decl.name);
  const auto found = written_->find(name);
  const bool is_written = found != written_->end();
  return say<Hint::DeclareBuffer>(
      declared(decl, is_written ? BufferAccess::ReadWrite : BufferAccess::ReadOnly, is_written ? found->second : DataType::U32));
}

std::string Hints::undeclared_variable(NameId id, NodeId at) {
  const std::string_view plain = program_.text(id);
  const std::string name = python_name(plain);
  if (!lets_) {
    lets_.emplace();
    for (NodeId let : gathered_.nodes<ir::Let>()) lets_->emplace(gathered_.node<ir::Let>(let).name, let);
  }
  if (const auto found = lets_->find(id); found != lets_->end()) return say<Hint::BindEarlier>(name, place(found->second, at));
  if (buffers().contains(plain)) return say<Hint::AccessBuffer>(name, name, name);
  const auto meant = similar(plain, visible(at));
  return meant ? say<Hint::NearestLocal>(python_name(*meant)) : say<Hint::BindBefore>(name);
}

// The variables that a statement may use, as far as the budget of comparisons goes.
std::vector<std::string_view> Hints::visible(NodeId at) {
  std::vector<std::string_view> names;
  if (gathered_.op != nullptr) names.assign(gathered_.op->function().parameters.begin(), gathered_.op->function().parameters.end());
  for (NodeId id{0}; id.index < at.index && comparisons_ < kMostComparisons; ++id.index, ++comparisons_) {
    // A block that ends before the statement is left out.
    const auto enter = [&](NodeId end) {
      if (end.index < at.index) id = end;
      return end.index > at.index;
    };
    match(
        program_.node(id), [&](const ir::Let& let) { names.push_back(program_.text(let.name)); },
        [&](const ir::Loop& loop) {
          if (enter(loop.end)) names.push_back(program_.text(loop.variable));
        },
        [&](const ir::If& branch) {
          if (enter(branch.end) && branch.otherwise.valid() && branch.otherwise.index < at.index) id = branch.otherwise;
        },
        [&](const ir::Block& block) { enter(block.end); }, [](const auto&) {});
  }
  return names;
}

std::string Hints::unknown_op(StepId id) {
  if (!op_ids_) {
    op_ids_.emplace();
    for (const ir::OpTable::Spec& spec : gathered_.table->all()) op_ids_->push_back(spec->id);
  }
  std::string_view name = program_.text(gathered_.expr<ir::Call>(id).op);
  name = name.substr(0, name.find('@'));
  const std::vector<std::string_view> ids(op_ids_->begin(), op_ids_->end());
  // Another version of a known operation is no misspelling, but its id is what there is.
  const auto meant = std::ranges::find(ids, name) != ids.end() ? std::optional(name) : similar(name, ids);
  return meant ? say<Hint::NearestOp>(python_name(*meant)) : say<Hint::RegisterOp>();
}

// Says where the workgroup's ways part, and how its invocations meet at the barrier all the same.
std::string Hints::barrier(NodeId at) {
  if (!barriers_) {
    barriers_.emplace();
    for (const DivergentBarrier& found : divergent_barriers(gathered_)) barriers_->emplace(found.barrier, found);
  }
  const auto found = barriers_->find(at);
  if (found == barriers_->end()) return {};
  const DivergentBarrier& parted = found->second;
  if (parted.returned.valid()) return say<Hint::RememberReturn>(place(parted.returned, at));
  if (parted.guard.valid()) {
    if (std::holds_alternative<ir::If>(program_.node(parted.guard))) return say<Hint::CloseIf>(place(parted.guard, at));
    return say<Hint::SameTurns>(place(parted.guard, at));
  }
  if (!parted.broken.valid()) return {};
  // Without the Break the Loop runs to its end, which a `while` does not have.
  constexpr std::uint32_t kMostTurns = 1u << 16;
  const Step& to = gathered_.step(gathered_.roots[parted.loop].second);
  if (const auto turns = ir::literal_u32(program_.expr(to.expr)); turns && *turns > kMostTurns) return {};
  return say<Hint::RememberBreak>(place(parted.broken, at));
}

std::string Hints::unsupported_cast(StepId id) const {
  const DataType target = gathered_.expr<ir::Cast>(id).target, source = gathered_.operand(id, 0).type;
  if (ir::is_narrow(target)) return say<Hint::NarrowCast>(ir::name(target), ir::name(target));
  std::string targets;
  for (const ir::CastRow& row : ir::kCasts) {
    if (row.source == source && row.target != source) targets += fmt::format("{}{}", targets.empty() ? "" : ", ", ir::name(row.target));
  }
  return targets.empty() ? targets : say<Hint::CastsFrom>(ir::name(source), targets);
}

std::string Hints::binary_operator(StepId id) const {
  const ir::OpInfo& op = *ir::operator_of(program_.expr(gathered_.step(id).expr));
  if (op.rule == ir::OperandRule::V030) {
    const std::string text = python_operator(op, op.operands[0]);
    return text.empty() ? text : say<Hint::SignedByType>(text);
  }
  const DataType left = gathered_.operand(id, 0).type;
  const std::string text = python_operator(op, wrong(left, DataType::U32) ? left : gathered_.operand(id, 1).type);
  return text.empty() ? text : say<Hint::ByType>(text);
}

std::string Hints::declared(BufferDecl decl, BufferAccess access, DataType element) const {
  decl.access = access;
  decl.element = element;
  return python_declaration(decl);
}

// The declaration with which atomics may target the buffer.
std::string Hints::with_atomics(const BufferDecl& decl) const {
  BufferDecl atomic = decl;
  atomic.atomic = !ir::is_bound(decl.access);
  return declared(atomic, atomic.atomic ? BufferAccess::Workgroup : BufferAccess::ReadWrite, DataType::U32);
}

const std::unordered_set<std::string_view>& Hints::buffers() {
  if (buffers_) return *buffers_;
  buffers_.emplace();
  for (const BufferDecl& decl : program_.buffers()) buffers_->insert(decl.name);
  return *buffers_;
}

// The hints of one program can be applied together: each buffer gets a binding of its own.
std::uint32_t Hints::free_binding(std::string_view name) {
  const auto [found, added] = free_bindings_.emplace(name, 0);
  if (!added) return found->second;
  if (taken_.empty()) {
    for (const BufferDecl& decl : program_.buffers()) {
      if (ir::is_bound(decl.access)) taken_.insert(decl.binding);
    }
  }
  while (!taken_.insert(next_binding_).second) ++next_binding_;
  return found->second = next_binding_;
}

std::optional<std::string_view> Hints::similar(std::string_view name, const std::vector<std::string_view>& known) {
  if (comparisons_ >= kMostComparisons) return std::nullopt;
  comparisons_ += known.size() * (name.size() + 1);
  return nearest(name, known);
}

// " (line 12)", " (kit.py:12)", or nothing when the source is not known.
std::string Hints::place(NodeId statement, NodeId at) const {
  const ir::SourcePlace there = program_.place(statement);
  if (!there.known()) return {};
  if (there.file == program_.place(at).file) return fmt::format(" (line {})", there.line);
  return fmt::format(" ({}:{})", ir::file_name(there.file), there.line);
}

}  // namespace

Advice hints(const Gathered& gathered) {
  return [all = std::make_shared<Hints>(gathered)](const Finding& finding, NodeId at) { return (*all)(finding, at); };
}

}  // namespace vyre::advise
