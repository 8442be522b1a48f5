#include "vyre/ir/builder.hpp"

#include <fmt/format.h>

#include <array>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/utf8.hpp"
#include "vyre/ir/data_type.hpp"

namespace vyre::ir {
namespace {

std::span<const ExprId> pooled(const std::vector<ExprId>& pool, ExprList list) {
  return std::span(pool).subspan(list.first + 1, pool[list.first].index);
}

ExprList add_to_pool(std::vector<ExprId>& pool, std::span<const ExprId> operands) {
  const ExprList list{static_cast<std::uint32_t>(pool.size())};
  pool.push_back(ExprId{static_cast<std::uint32_t>(operands.size())});
  pool.insert(pool.end(), operands.begin(), operands.end());
  return list;
}

// The operands in evaluation order; those that stand in the expression itself are copied to `fixed`.
std::span<const ExprId> operands_of(const Expr& expr, const std::vector<ExprId>& pool, std::array<ExprId, 3>& fixed) {
  std::span<const ExprId> listed;
  std::size_t count = 0;
  for_each_operand(
      expr,
      [&](ExprList list) {
        listed = pooled(pool, list);
        return std::span<const ExprId>();
      },
      [&](ExprId id) { fixed[count++] = id; });
  return listed.empty() ? std::span<const ExprId>(fixed.data(), count) : listed;
}

// Equal values are equal literals.
bool is_canonical(const Literal& literal) {
  const TypeInfo& type = info(literal.type);
  if (!type.literal || (type.lanes == 1 && literal.high != 0)) return false;
  return type.kind != TypeKind::Boolean || literal.low <= 1;
}

// Names are UTF-8, so that what comes later can print and save any program.
void check_name(std::string_view name) {
  if (is_utf8(name)) return;
  throw ArgumentError(fmt::format("name `{}` is not valid UTF-8. Fix: encode names as UTF-8, without lone surrogates.", escaped(name)));
}

}  // namespace

ProgramBuilder::ProgramBuilder() : data_(std::make_shared<Program::Data>()) {}

void ProgramBuilder::buffer(BufferDecl decl) {
  check_name(decl.name);
  data_->buffers.push_back(std::move(decl));
}
void ProgramBuilder::workgroup_size(WorkgroupSize size) { data_->workgroup_size = size; }
void ProgramBuilder::made_at(SourcePlace place) { data_->place = place; }
NameId ProgramBuilder::name(std::string_view text) {
  if (const NameId known = data_->names.find(text); known.valid()) return known;
  check_name(text);
  return data_->names.intern(text);
}
ExprList ProgramBuilder::list(std::span<const ExprId> operands) { return add_to_pool(data_->pool, operands); }
std::span<const ExprId> ProgramBuilder::operands(ExprList list) const { return pooled(data_->pool, list); }

void ProgramBuilder::reserve(std::size_t exprs, std::size_t nodes) {
  data_->exprs.reserve(exprs);
  data_->nodes.reserve(nodes);
}

ExprId ProgramBuilder::add(const Expr& expr, SourcePlace place) {
  for_each_operand(
      expr, [&](ExprList list) { return operands(list); }, [&](ExprId id) { VYRE_ASSERT(id.index < data_->exprs.size()); });
  if (const Literal* literal = std::get_if<Literal>(&expr)) VYRE_ASSERT(is_canonical(*literal));
  if (const Atomic* atomic = std::get_if<Atomic>(&expr)) {
    VYRE_ASSERT(operands(atomic->operands).size() == (atomic->has_expected ? 3u : 2u));
  }
  if (place.known()) {
    data_->expr_places.resize(data_->exprs.size());
    data_->expr_places.push_back(place);
  }
  return data_->exprs.push_back(expr);
}

NodeId ProgramBuilder::append(const Node& node, SourcePlace place) {
  if (place.known()) {
    data_->node_places.resize(data_->nodes.size());
    data_->node_places.push_back(place);
  }
  return data_->nodes.push_back(node);
}

void ProgramBuilder::let(NameId name, ExprId value, SourcePlace place) { append(Let{name, value}, place); }
void ProgramBuilder::assign(NameId name, ExprId value, SourcePlace place) { append(Assign{name, value}, place); }
void ProgramBuilder::store(NameId buffer, ExprId index, ExprId value, SourcePlace place) { append(Store{buffer, index, value}, place); }
void ProgramBuilder::if_(ExprId condition, SourcePlace place) { open_.push_back(append(If{condition, {}, {}}, place)); }

void ProgramBuilder::else_(SourcePlace place) {
  VYRE_ASSERT(!open_.empty());
  const NodeId opener = open_.back();
  const NodeId id = append(Else{opener, {}}, place);
  If* branch = std::get_if<If>(&data_->nodes[opener]);
  VYRE_ASSERT(branch != nullptr && !branch->otherwise.valid());
  branch->otherwise = id;
}

void ProgramBuilder::loop(NameId variable, ExprId from, ExprId to, SourcePlace place) {
  open_.push_back(append(Loop{variable, from, to, {}}, place));
}
void ProgramBuilder::block(SourcePlace place) { open_.push_back(append(Block{}, place)); }

void ProgramBuilder::end() {
  VYRE_ASSERT(!open_.empty());
  const NodeId opener = open_.back();
  open_.pop_back();
  // An empty Else says nothing: the canonical form has none.
  if (const Else* other = std::get_if<Else>(&data_->nodes[NodeId{static_cast<std::uint32_t>(data_->nodes.size() - 1)}]);
      other != nullptr && other->opener == opener) {
    data_->nodes.resize(data_->nodes.size() - 1);
    if (data_->node_places.size() > data_->nodes.size()) data_->node_places.resize(data_->nodes.size());
    std::get<If>(data_->nodes[opener]).otherwise = {};
  }
  const NodeId id = append(End{opener}, {});
  Node& node = data_->nodes[opener];
  if (If* branch = std::get_if<If>(&node)) {
    branch->end = id;
    if (branch->otherwise.valid()) std::get<Else>(data_->nodes[branch->otherwise]).end = id;
  } else if (Loop* loop = std::get_if<Loop>(&node)) {
    loop->end = id;
  } else {
    std::get<Block>(node).end = id;
  }
}

void ProgramBuilder::barrier(SourcePlace place) { append(Barrier{}, place); }
void ProgramBuilder::return_(SourcePlace place) { append(Return{}, place); }
void ProgramBuilder::break_(SourcePlace place) { append(Break{}, place); }

Program ProgramBuilder::finish(std::span<ExprId* const> kept) {
  VYRE_ASSERT(open_.empty());
  Program::Data& from = *data_;
  auto to = std::make_shared<Program::Data>();
  to->buffers = std::move(from.buffers);
  to->workgroup_size = from.workgroup_size;
  to->place = from.place;
  for (const BufferDecl& decl : to->buffers) to->names.intern(decl.name);

  IdVector<ExprId, ExprId> moved(from.exprs.size());
  IdVector<NameId, NameId> renamed(from.names.size());
  auto name = [&](NameId id) {
    if (!renamed[id].valid()) renamed[id] = to->names.intern(from.names.text(id));
    return renamed[id];
  };
  auto list = [&](ExprList old) {
    const ExprList copy = add_to_pool(to->pool, pooled(from.pool, old));
    for (std::size_t index = copy.first + 1; index < to->pool.size(); ++index) to->pool[index] = moved[to->pool[index]];
    return copy;
  };
  auto move = [&](ExprId id) {
    const Expr copy = map(
        from.exprs[id], [&](ExprId operand) { return moved[operand]; }, list, name);
    moved[id] = to->exprs.push_back(copy);
    if (!from.expr_places.empty()) {
      to->expr_places.push_back(id.index < from.expr_places.size() ? from.expr_places[id] : SourcePlace{});
    }
  };

  // A walk like PostOrder's, but what a root reaches for the first time is moved, and the stack grows with the depth alone:
  // from_bytes and parse answer for what is allocated here.
  struct Frame {
    ExprId id;
    std::uint32_t next;
  };
  std::vector<Frame> stack;
  auto move_reached = [&](ExprId root) {
    if (!moved[root].valid()) stack.push_back({root, 0});
    while (!stack.empty()) {
      Frame& top = stack.back();
      std::array<ExprId, 3> fixed;
      const std::span<const ExprId> operands = operands_of(from.exprs[top.id], from.pool, fixed);
      while (top.next < operands.size() && moved[operands[top.next]].valid()) ++top.next;
      if (top.next < operands.size()) {
        stack.push_back({operands[top.next++], 0});
        continue;
      }
      move(top.id);
      stack.pop_back();
    }
  };
  to->exprs.reserve(from.exprs.size());
  to->pool.reserve(from.pool.size());
  to->nodes.reserve(from.nodes.size());
  for (const Node& node : from.nodes) {
    for_each_root(node, move_reached);
    to->nodes.push_back(map(
        node, [&](ExprId root) { return moved[root]; }, name));
  }
  to->node_places = from.node_places;
  for (ExprId* id : kept) *id = moved[*id];
  data_ = std::make_shared<Program::Data>();
  return Program(std::move(to));
}

}  // namespace vyre::ir
