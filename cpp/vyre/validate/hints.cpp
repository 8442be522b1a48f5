// One switch chooses the HINT of rules.def that fits a finding, and the functions behind it fill the hints that depend on the cause: a name
// that is misspelt, bound later or in an inner block, a barrier that a part of the workgroup misses, an operator on the wrong types.
//
// Scopes, bindings and names are gathered when a hint first asks for them. Comparisons of names are limited (kMostComparisons), so that the
// time stays in proportion to the program's size however many names are wrong.
#include "vyre/validate/hints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "vyre/base/nearest.hpp"
#include "vyre/base/overloaded.hpp"
#include "vyre/base/utf8.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/validate/op_bodies.hpp"
#include "vyre/validate/python_text.hpp"

namespace vyre::validate {
namespace {

using ir::BufferAccess;
using ir::BufferDecl;
using ir::DataType;

// The most comparisons of names in a program, counted in letters. A program of 100,000 misspellings gets suggestions for the first of them.
constexpr std::size_t kMostComparisons = 500'000;
// Blocks around a let that are looked at; more than V018 allows is an error of its own.
constexpr int kMostBlocks = 64;

template <Hint hint, class... Values>
std::string say(const Values&... values) {
  static_assert(places(info(hint).sentence) == sizeof...(Values));
  const std::array<std::string, sizeof...(Values)> texts{std::string(values)...};
  return filled(info(hint).sentence, texts);
}

std::string block_name(const ir::Node& node) {
  if (std::holds_alternative<ir::If>(node)) return "If";
  return std::holds_alternative<ir::Loop>(node) ? "Loop" : "Block";
}

DataType or_u32(DataType type) { return known(type) ? type : DataType::U32; }

// "... argument 2 of ..." -> 2: which of several operands a sentence is about.
std::size_t number_after(std::string_view message, std::string_view words) {
  std::size_t number = 0;
  if (const std::size_t at = message.find(words); at != std::string_view::npos) {
    const char* first = message.data() + at + words.size();
    std::from_chars(first, message.data() + message.size(), number);
  }
  return number;
}

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

BufferDecl Hints::unique(BufferId id) {
  BufferDecl decl = gathered_.buffer(id);
  if (buffers().at(decl.name) != id.index) decl.name = unused_name(decl.name);
  if (ir::is_bound(decl.access) && first_with_binding().at(decl.binding) != id.index) decl.binding = free_binding(decl.name);
  return decl;
}

std::string Hints::undeclared_buffer(NameId name) {
  if (!written_) {
    written_.emplace();
    for (NodeId id : gathered_.nodes<ir::Store>()) {
      written_->emplace(gathered_.node<ir::Store>(id).buffer, or_u32(gathered_.step(gathered_.roots[id].second).type));
    }
    for (StepId id : gathered_.steps(ir::ExprKind::Atomic)) (*written_)[gathered_.expr<ir::Atomic>(id).buffer] = DataType::U32;
  }
  BufferDecl decl;
  decl.name = program_.text(name);
  decl.binding = free_binding(decl.name);
  if (const auto found = written_->find(name); found != written_->end()) {
    decl.access = BufferAccess::ReadWrite;
    decl.element = found->second;
  }
  std::vector<std::string_view> names;
  if (comparisons_ < kMostComparisons) {
    for (const BufferDecl& known : program_.buffers()) names.push_back(known.name);
  }
  const auto meant = similar(decl.name, names);
  if (!meant) return say<Hint::DeclareBuffer>(python_declaration(decl));
  return say<Hint::NearestBuffer>(python_name(*meant), python_declaration(decl));
}

std::string Hints::undeclared_variable(NameId id, NodeId at, bool assigned) {
  const std::string_view plain = program_.text(id);
  const std::string name = python_name(plain);
  const StepId root = gathered_.roots[at].first;
  const DataType type = assigned ? or_u32(gathered_.step(root).type) : DataType::U32;
  const std::string value = assigned ? code(root, "value") : python_zero(type);

  const Scopes& all = scopes();
  if (const auto found = all.of.find(id); found != all.of.end()) {
    for (const Binding& binding : found->second) {
      if (++comparisons_ > kMostComparisons) break;
      const auto* let = std::get_if<ir::Let>(&program_.node(binding.statement));
      if (let == nullptr) continue;
      const std::string zero = python_zero(or_u32(gathered_.step(gathered_.roots[binding.statement].first).type));
      if (binding.statement == at) return say<Hint::OwnInitialiser>(name, zero, name);
      if (binding.statement.index > at.index) {
        // Moved before this statement, it is seen here when its list is this statement's, or is around it.
        const NodeId opener = binding.opener;
        if (!opener.valid() || opener.index < at.index) return say<Hint::BoundLater>(name, place(binding.statement, at));
        return say<Hint::BindEarlier>(name, zero, name, code(gathered_.roots[binding.statement].first, "value"),
                                      place(binding.statement, at));
      }
      NodeId outermost = binding.opener;
      for (int k = 0; k < kMostBlocks && outermost.valid(); ++k) {
        const NodeId around = all.openers.at(outermost);
        if (!around.valid()) break;
        const std::uint32_t end = match(
            program_.node(around), [](const ir::If& it) { return it.end.index; }, [](const ir::Loop& it) { return it.end.index; },
            [](const ir::Block& it) { return it.end.index; }, [](const auto&) { return 0u; });
        if (end > at.index) break;  // it holds this statement too
        outermost = around;
      }
      if (!outermost.valid()) continue;
      const std::string block = block_name(program_.node(outermost));
      return say<Hint::BindOutside>(name, place(binding.statement, at), block, name, zero, block, name,
                                    code(gathered_.roots[binding.statement].first, "value"));
    }
  }
  if (buffers().contains(plain)) {
    return assigned ? say<Hint::StoreInstead>(name, name, value) : say<Hint::LoadInstead>(name, name);
  }
  std::vector<std::string_view> seen;
  if (comparisons_ < kMostComparisons) {
    if (gathered_.op != nullptr)
      seen.insert(seen.end(), gathered_.op->function().parameters.begin(), gathered_.op->function().parameters.end());
    for (const auto& [known, bindings] : all.of) {
      for (const Binding& binding : bindings) {
        ++comparisons_;
        if (binding.first_seen <= at.index && at.index <= binding.last_seen) seen.push_back(program_.text(known));
      }
    }
    std::ranges::sort(seen);
  }
  if (const auto meant = similar(plain, seen)) return say<Hint::NearestLocal>(python_name(*meant), name, python_zero(type));
  if (assigned) return say<Hint::BindInstead>(name, value, gathered_.op == nullptr ? "`entry`" : "`body`", name, python_zero(type));
  return say<Hint::BindBefore>(name, value);
}

std::string Hints::duplicate_local(NodeId at) {
  const ir::Node& node = program_.node(at);
  const auto* let = std::get_if<ir::Let>(&node);
  const NameId id = let != nullptr ? let->name : std::get<ir::Loop>(node).variable;
  const std::string other = python_name(unused_name(program_.text(id)));
  const Scopes& all = scopes();
  if (const auto found = all.of.find(id); let != nullptr && found != all.of.end()) {
    for (const Binding& binding : found->second) {
      if (++comparisons_ > kMostComparisons) break;
      const bool seen = binding.first_seen <= at.index && at.index <= binding.last_seen && binding.statement != at;
      if (!seen || !std::holds_alternative<ir::Let>(program_.node(binding.statement))) continue;
      const DataType first = gathered_.step(gathered_.roots[binding.statement].first).type;
      const StepId value = gathered_.roots[at].first;
      if (!known(first) || gathered_.step(value).type != first) break;
      return say<Hint::AssignOrRename>(python_name(program_.text(id)), code(value, "value"), place(binding.statement, at), other);
    }
  }
  return say<Hint::RenameLocal>(other);
}

std::string Hints::loop_variable(NodeId at) const {
  const std::string_view name = program_.text(gathered_.node<ir::Assign>(at).name);
  return say<Hint::CopyLoopVariable>(python_name(unused_name(name)), python_name(name));
}

// Where the workgroup's ways part, and how its invocations meet at the barrier all the same.
std::string Hints::barrier(NodeId at) {
  if (!barriers_) {
    barriers_.emplace();
    for (const DivergentBarrier& found : divergent_barriers(gathered_)) barriers_->emplace(found.barrier, found);
  }
  const auto found = barriers_->find(at);
  if (found == barriers_->end()) return {};
  const auto& [id, guard, returned, direct, broken, loop] = found->second;
  if (!guard.valid()) return left_loop(found->second);
  const Roots& roots = gathered_.roots[guard];
  const auto* branch = std::get_if<ir::If>(&program_.node(guard));
  if (returned.valid()) {
    // A Return that an If of the entry takes by itself: what is left of the entry is for the other invocations.
    const Scopes& all = scopes();
    const bool alone = branch != nullptr && direct && !all.openers.at(guard).valid();
    if (!alone) {
      const std::string name = python_name(new_name("returned"));
      return say<Hint::RememberReturn>(place(returned, at), name, name, name);
    }
    const bool in_else = branch->otherwise.valid() && branch->otherwise.index < returned.index;
    const std::string name = python_name(new_name("inside"));
    const std::string inside = in_else ? code(roots.first, "condition") : negated(roots.first);
    return say<Hint::GuardStores>(place(returned, at), name, inside, name);
  }
  if (branch != nullptr) {
    const std::string name = python_name(new_name("inside"));
    return say<Hint::CloseIf>(place(guard, at), name, code(roots.first, "condition"), name);
  }
  const std::string variable = fmt::format("Expr.var({})", python_name(program_.text(gathered_.node<ir::Loop>(guard).variable)));
  const std::string from = code(roots.first, "from_"), below = fmt::format("Expr.lt({}, {})", variable, code(roots.second, "to"));
  const std::string inside = from == "0" ? below : fmt::format("Expr.bitand(Expr.le({}, {}), {})", from, variable, below);
  return say<Hint::SameTurns>(place(guard, at), inside);
}

// For a barrier that a part of the workgroup misses because it left a Loop by a Break: the Loop around the barrier, or around a Return.
std::string Hints::left_loop(const DivergentBarrier& found) {
  if (found.returned.valid()) {
    const std::string name = python_name(new_name("returned"));
    return say<Hint::RememberReturn>(place(found.returned, found.barrier), name, name, name);
  }
  if (!found.broken.valid()) return {};
  // Without the Break the Loop runs to its end, which a `while` does not have.
  constexpr std::uint32_t kMostTurns = 1u << 16;
  const Step& to = gathered_.step(gathered_.roots[found.loop].second);
  if (const auto turns = ir::literal_u32(program_.expr(to.expr)); turns && *turns > kMostTurns) return {};
  const std::string name = python_name(new_name("left"));
  return say<Hint::RememberBreak>(place(found.broken, found.barrier), name, name, name);
}

// The opposite of a condition.
std::string Hints::negated(StepId id) const {
  const Step& step = gathered_.step(id);
  const std::string text = code(id, "condition");
  const auto* binary = std::get_if<ir::Binary>(&program_.expr(step.expr));
  if (binary != nullptr && text != "condition") {
    if (const auto opposite = python_opposite(binary->op)) {
      const std::string left = code(gathered_.operands(id)[0], "left"), right = code(gathered_.operands(id)[1], "right");
      return fmt::format("Expr.{}({}, {})", ir::info(*opposite).text, left, right);
    }
  }
  return python_unary(ir::UnOp::LogicalNot, {or_u32(step.type), text});
}

std::string Hints::unsupported_cast(StepId id) const {
  const DataType target = gathered_.expr<ir::Cast>(id).target;
  const StepId value = gathered_.operands(id)[0];
  const DataType source = gathered_.step(value).type;
  if (source == DataType::Bytes) {
    const BufferId buffer = gathered_.step(value).buffer;
    return buffer.valid() ? bytes_buffer(gathered_.buffer(buffer), Hint::CastFromBytes, Hint::CastFromBytesMemory) : std::string();
  }
  if (ir::is_narrow(target)) return say<Hint::NarrowCast>(ir::name(target), narrowed(target, source, value));
  std::string targets;
  for (const ir::CastRow& row : ir::kCasts) {
    if (row.source == source && row.target != source) targets += fmt::format("{}{}", targets.empty() ? "" : ", ", ir::name(row.target));
  }
  return say<Hint::CastsFrom>(converted(target, value, "value"), ir::name(source), targets);
}

// The low bits of a value, as an element of the type has them.
std::string Hints::narrowed(DataType element, DataType source, StepId value) const {
  const DataType type = ir::value_type(element);
  const std::string code = python_converted(type, source, this->code(value, "value"));
  const std::uint32_t bits = 8 * ir::min_bytes(element);
  if (type == DataType::U32) return fmt::format("Expr.bitand({}, 0x{:X})", code, (1u << bits) - 1);
  return fmt::format("Expr.sshr(Expr.cast(DataType.I32, Expr.shl(Expr.cast(DataType.U32, {0}), {1})), {1})", code, 32 - bits);
}

std::string Hints::bytes_buffer(const BufferDecl& decl, Hint bound, Hint memory) const {
  BufferDecl words = decl;
  words.element = DataType::U32;
  const std::string text = python_declaration(words);
  return filled(info(ir::is_bound(decl.access) ? bound : memory).sentence, std::array{text});
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

std::string Hints::binary_operator(StepId id, Hint hint) const {
  const ir::BinOp op = gathered_.expr<ir::Binary>(id).op;
  std::array<PythonOperand, 2> operands;
  for (std::size_t k : {0, 1}) {
    const StepId step = gathered_.operands(id)[k];
    operands[k] = {or_u32(gathered_.step(step).type), code(step, k == 0 ? "left" : "right"),
                   ir::literal_u32(program_.expr(gathered_.step(step).expr)).has_value()};
  }
  if (const auto beyond = python_beyond_i32(op, operands[0], operands[1])) {
    if (!beyond->always) return say<Hint::LargeLiteral>(beyond->on_bits, beyond->literal);
    return say<Hint::LargeLiteralCompared>(*beyond->always ? "Expr.u32(1)" : "Expr.u32(0)", beyond->literal, beyond->on_bits);
  }
  const std::string text = python_binary(op, operands[0], operands[1], *gathered_.table);
  const bool vectors = std::ranges::any_of(operands, [](const PythonOperand& operand) { return ir::lanes(operand.type) > 1; }) &&
                       std::ranges::none_of(operands, [](const PythonOperand& operand) { return operand.type == DataType::U64; });
  if (text.empty()) {
    const bool on_left = operands[0].type != DataType::U32 && operands[0].type != DataType::Bool;
    const std::string_view type = ir::name(operands[on_left ? 0 : 1].type);
    return op == ir::BinOp::MulHigh ? say<Hint::NoHighProduct>(type) : say<Hint::NoOperator>(type);
  }
  const bool by_lane = hint == Hint::TypedOperator && vectors && (ir::info(op).laws & ir::kTruth) != 0;
  return filled(info(by_lane ? Hint::LaneByLane : hint).sentence, std::array{text});
}

std::string Hints::lane_of_pack(StepId id, std::string_view message) const {
  const std::size_t k = number_after(message, "pack lane ");
  return say<Hint::ConvertLane>(converted(DataType::U32, gathered_.operands(id)[k], "lane"), std::to_string(k));
}

std::string Hints::argument(StepId id, std::string_view message) const {
  const std::size_t k = number_after(message, "argument ");
  const DataType want = gathered_.callees[gathered_.step(id).op]->spec->function().signature.inputs[k];
  const std::string text = converted(want, gathered_.operands(id)[k], "value");
  return text.empty() ? text : say<Hint::ConvertArgument>(text, std::to_string(k));
}

BufferDecl Hints::declared(BufferId id, BufferAccess access, DataType element) const {
  BufferDecl decl = gathered_.buffer(id);
  decl.access = access;
  decl.element = element;
  return decl;
}

// Workgroup and Private memory has no binding of its own, and its length is not the host array's.
BufferDecl Hints::as_storage(const BufferDecl& decl) {
  BufferDecl result = decl;
  if (!ir::is_bound(decl.access)) {
    result.binding = free_binding(decl.name);
    result.count = 0;
  }
  result.access = BufferAccess::ReadWrite;
  result.atomic = false;
  return result;
}

// The declaration with which atomics may target the buffer.
BufferDecl Hints::with_atomics(const BufferDecl& decl) const {
  BufferDecl result = decl;
  result.atomic = !ir::is_bound(decl.access);
  result.access = result.atomic ? BufferAccess::Workgroup : BufferAccess::ReadWrite;
  result.element = DataType::U32;
  return result;
}

std::string Hints::code(StepId id, std::string_view otherwise) const {
  return python_expr(program_, gathered_.step(id).expr, otherwise, wrong_);
}

std::string Hints::converted(DataType want, StepId id, std::string_view otherwise) const {
  return python_converted(want, gathered_.step(id).type, code(id, otherwise));
}

std::string Hints::new_name(std::string_view like) const {
  return program_.names().find(like).valid() ? unused_name(like) : std::string(like);
}

std::string Hints::unused_name(std::string_view like) const {
  constexpr std::size_t kLongestStem = 40;
  std::string stem(like.substr(0, kLongestStem));
  while (!is_utf8(stem)) stem.pop_back();
  std::string name;
  // Tries small numbers first. If these are taken, goes on with numbers above the count of names, which are rarely taken.
  constexpr std::size_t kSmall = 50;
  for (std::size_t k = 2; name.empty() || program_.names().find(name).valid(); ++k) {
    name = fmt::format("{}_{}", stem, k < kSmall ? k : program_.names().size() + k);
  }
  return name;
}

const std::unordered_map<std::string_view, std::uint32_t>& Hints::buffers() {
  if (buffers_) return *buffers_;
  buffers_.emplace();
  for (std::uint32_t index = 0; index < program_.buffers().size(); ++index) buffers_->emplace(program_.buffers()[index].name, index);
  return *buffers_;
}

// The hints of one program can be applied together: each buffer gets a binding of its own.
std::uint32_t Hints::free_binding(std::string_view name) {
  const auto [found, added] = free_bindings_.emplace(name, next_binding_);
  if (!added) return found->second;
  while (first_with_binding().contains(next_binding_)) ++next_binding_;
  return found->second = next_binding_++;
}

const std::unordered_map<std::uint32_t, std::uint32_t>& Hints::first_with_binding() {
  if (bindings_) return *bindings_;
  bindings_.emplace();
  for (std::uint32_t index = 0; index < program_.buffers().size(); ++index) {
    const BufferDecl& decl = program_.buffers()[index];
    if (ir::is_bound(decl.access)) bindings_->emplace(decl.binding, index);
  }
  return *bindings_;
}

std::optional<std::string_view> Hints::similar(std::string_view name, const std::vector<std::string_view>& known) {
  if (comparisons_ >= kMostComparisons) return std::nullopt;
  comparisons_ += known.size() * (name.size() + 1);
  return nearest(name, known);
}

const Hints::Scopes& Hints::scopes() {
  if (scopes_) return *scopes_;
  Scopes& all = scopes_.emplace();
  struct Open {
    NodeId opener;
    std::vector<std::pair<NameId, std::size_t>> names;
  };
  std::vector<Open> open(1);
  const auto close = [&](std::uint32_t last) {
    for (const auto& [name, position] : open.back().names) all.of[name][position].last_seen = last;
    open.back().names.clear();
  };
  const auto bind = [&](NameId name, NodeId id, NodeId opener) {
    std::vector<Binding>& bindings = all.of[name];
    open.back().names.emplace_back(name, bindings.size());
    bindings.push_back({id, id.index + 1, ~0u, opener});
  };
  for (std::uint32_t index = 0; index < program_.nodes().size(); ++index) {
    const NodeId id{index};
    const auto enter = [&] {
      all.openers.emplace(id, open.back().opener);
      open.push_back({id, {}});
    };
    match(
        program_.node(id), [&](const ir::Let& let) { bind(let.name, id, open.back().opener); },
        [&](const ir::Loop& loop) {
          enter();
          bind(loop.variable, id, id);
        },
        [&](const ir::If&) { enter(); }, [&](const ir::Block&) { enter(); }, [&](const ir::Else&) { close(index); },
        [&](const ir::End&) {
          close(index);
          open.pop_back();
        },
        [](const auto&) {});
  }
  return all;
}

// " (line 12)", " (kit.py:12)", or nothing when the source is not known.
std::string Hints::place(NodeId statement, NodeId at) const {
  const ir::SourcePlace there = program_.place(statement);
  if (!there.known()) return {};
  if (there.file == program_.place(at).file) return fmt::format(" (line {})", there.line);
  return fmt::format(" ({}:{})", ir::file_name(there.file), there.line);
}

}  // namespace vyre::validate
