// How handles become a Program: their statements are walked in order, with the types of the variables in scope (variables.hpp), and
// resolve_expressions.hpp makes the expressions of each. The walk is done again when it has found the type of a variable that began with an
// integer (OpenTypes) too late for what it had made already.
#include "vyre/ir/handles/resolve.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/builder.hpp"
#include "vyre/ir/handles/resolve_expressions.hpp"
#include "vyre/ir/handles/variables.hpp"

namespace vyre::ir {
namespace {

// A statement used twice becomes two, so 40 nested ones can stand for 2^40. Far above V019's limit, which judges the program.
constexpr std::size_t kMaxStatements = std::size_t{1} << 22;

// A statement that is its kind alone.
void add_plain(ProgramBuilder& builder, const NodeData& data) {
  if (data.kind == NodeKind::Barrier) return builder.barrier(data.place);
  if (data.kind == NodeKind::Return) return builder.return_(data.place);
  builder.break_(data.place);
}

// The group of the variable that an expression reads, if it is one that began with an integer.
const std::string* group_of(const ExprData& value, const OpenTypes& open_types) {
  return value.kind == ExprKind::Var ? open_types.group(value.name) : nullptr;
}

void add_let(ProgramBuilder& builder, Variables& variables, Expressions& make, OpenTypes& open_types, const NodeData& data) {
  const ExprData& given = *data.operands[0];
  const bool is_open = data.is_open && given.adapts && given.name.empty();
  const std::string group = is_open ? "= " + data.name : given.name;  // of this variable alone, or that of open_integer()
  const std::string* const joined = given.adapts && !group.empty() ? &group : group_of(given, open_types);
  if (joined != nullptr) open_types.declare(data.name, *joined);
  if (is_open && given.negative) open_types.note_negative(group);
  const Made value = make(data.operands[0], is_open ? open_types.type(group) : std::nullopt);
  const NameId name = builder.name(data.name);
  builder.let(name, value.id, data.place);
  variables.bind(name, value.type);
  const bool is_bit = given.is_bit() && !given.name.empty();
  // A Let by hand is a U32.
  open_types.note_truth(data.name, is_bit || (data.is_open && value.holds_truth), data.is_open && value.truth);
}

void add_assign(ProgramBuilder& builder, const Variables& variables, Expressions& make, OpenTypes& open_types, const NodeData& data) {
  const ExprHandle& given = data.operands[0];
  const NameId name = builder.name(data.name);
  std::optional<DataType> type = variables.type(name);
  Made value = make(given, type);
  if (const std::string* const group = open_types.group(data.name)) {
    const std::string* const other = group_of(*given, open_types);
    if (other != nullptr) {
      open_types.unite(*group, *other);
    } else if (given->adapts) {
      if (given->negative) open_types.note_negative(*group);
    } else if (value.type) {
      open_types.bind(*group, *value.type);
    }
    if (!type) type = open_types.type(*group);
  } else if (type) {
    make.want(*given, value.type, *type);
  }
  const bool is_truth = open_types.is_truth(data.name);
  if (type == DataType::Bool) value = make.as_bool(value, data.place);
  if (type.value_or(kU32) == kU32 && is_truth) value = make.as_word(value, data.place);
  if (is_truth && !value.holds_truth && !given->is_bit()) open_types.note_other(data.name);
  builder.assign(name, value.id, data.place);
}

// One walk over the program; nothing when `open_types` has learned a type that the walk did not know from its beginning.
std::optional<Resolved> walk(const std::vector<BufferDecl>& buffers, WorkgroupSize workgroup_size, std::span<const NodeHandle> entry,
                             const Surroundings& surroundings, SourcePlace place, OpenTypes& open_types) {
  ProgramBuilder builder;
  builder.workgroup_size(workgroup_size);
  builder.made_at(place);
  Variables variables;
  Expressions make(builder, variables, buffers, surroundings, open_types);
  for (const BufferDecl& decl : buffers) builder.buffer(decl);
  for (const auto& [name, type] : surroundings.variables) variables.bind(builder.name(name), type);

  // A list of statements still to come; `opener` says what happens when it runs out.
  struct Frame {
    std::span<const NodeHandle> rest;
    const NodeData* opener;  // null for the entry
    bool in_else;
  };
  std::vector<Frame> frames{{entry, nullptr, false}};
  const auto open = [&](const NodeData& data) {
    frames.push_back({data.body, &data, false});
    variables.open();
  };
  while (!frames.empty()) {
    Frame& top = frames.back();
    if (top.rest.empty()) {
      if (top.opener != nullptr) variables.close();
      if (top.opener != nullptr && !top.in_else && !top.opener->otherwise.empty()) {
        builder.else_(top.opener->place);
        top.rest = top.opener->otherwise;
        top.in_else = true;
        variables.open();
        continue;
      }
      if (top.opener != nullptr) builder.end();
      frames.pop_back();
      continue;
    }
    if (builder.node_count() >= kMaxStatements) {
      throw ArgumentError(fmt::format(
          "program has more than {} statements. Fix: use a statement inside others less often, or put it into a Loop.", kMaxStatements));
    }
    const NodeData& data = *top.rest.front();
    top.rest = top.rest.subspan(1);
    switch (data.kind) {
      case NodeKind::Let:
        add_let(builder, variables, make, open_types, data);
        break;
      case NodeKind::Assign:
        add_assign(builder, variables, make, open_types, data);
        break;
      case NodeKind::Store: {
        const ExprId index = make(data.operands[0]).id;
        const NameId buffer = builder.name(data.name);
        builder.store(buffer, index, make.stored(data.operands[1], buffer), data.place);
        break;
      }
      case NodeKind::If:
        builder.if_(make(data.operands[0]).id, data.place);
        open(data);
        break;
      case NodeKind::Loop: {
        const ExprId from = make(data.operands[0]).id;
        const NameId name = builder.name(data.name);
        builder.loop(name, from, make(data.operands[1]).id, data.place);
        open(data);
        variables.bind(name, DataType::U32);
        break;
      }
      case NodeKind::Block:
        builder.block(data.place);
        open(data);
        break;
      case NodeKind::Barrier:
      case NodeKind::Return:
      case NodeKind::Break:
        add_plain(builder, data);
        break;
    }
  }
  if (open_types.settle(make.leaned())) return std::nullopt;
  Resolved resolved;
  resolved.mistakes = make.take_mistakes();
  std::vector<ExprId*> kept;
  for (Mistake& mistake : resolved.mistakes) kept.push_back(&mistake.expr);
  resolved.program = builder.finish(kept);
  return resolved;
}

}  // namespace

Resolved resolve(const std::vector<BufferDecl>& buffers, WorkgroupSize workgroup_size, std::span<const NodeHandle> entry,
                 const Surroundings& surroundings, SourcePlace place) {
  OpenTypes open_types;
  while (true) {
    std::optional<Resolved> resolved = walk(buffers, workgroup_size, entry, surroundings, place, open_types);
    if (resolved) return *std::move(resolved);
  }
}

Program spell_out(std::span<const NodeHandle> entry) {
  Surroundings surroundings;
  surroundings.spelled = true;
  return resolve({}, {1, 1, 1}, entry, surroundings).program;
}

Program make_program(const std::vector<BufferDecl>& buffers, WorkgroupSize workgroup_size, std::span<const NodeHandle> entry,
                     SourcePlace place) {
  Resolved resolved = resolve(buffers, workgroup_size, entry, {}, place);
  VYRE_ASSERT(resolved.mistakes.empty());
  return std::move(resolved.program);
}

}  // namespace vyre::ir
