#include "vyre/ir/handles/handle.hpp"

#include <algorithm>

#include "vyre/ir/handles/infix.hpp"
#include "vyre/ir/handles/spelling.hpp"

namespace vyre::ir {
namespace {

// True for the caller that let go of the last reference.
template <class Data>
bool drop(const Data* data) noexcept {
  return data->references.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

// A work list instead of nested destructors: a child whose last reference goes is queued, not destroyed within its parent. The list
// runs through the dead themselves, because letting go must not need memory.
template <class Data>
class Dead {
 public:
  explicit Dead(const Data* data) : first_(data) {}
  Data* next() {
    const Data* data = first_;
    if (data != nullptr) first_ = data->next_dead;
    return const_cast<Data*>(data);
  }
  void add(const Data* data) {
    if (data == nullptr || !drop(data)) return;
    data->next_dead = first_;
    first_ = data;
  }

 private:
  const Data* first_;
};

// How many integers without a type choose one of an expression's values; 0 if it has another value.
std::uint64_t integers_of(const ExprData& value) {
  constexpr std::uint64_t kMost = 64;  // because such a Select is made anew for each use
  if (!value.adapts || !value.name.empty()) return 0;
  const std::uint64_t count = value.kind == ExprKind::Literal ? 1 : value.bits;
  return count < kMost ? count : 0;
}

// A Select of integers without a type has none either.
void note_integers(ExprData& data) {
  if (data.kind != ExprKind::Select) return;
  const ExprData &yes = *data.operands[1], &no = *data.operands[2];
  const std::uint64_t first = integers_of(yes), second = integers_of(no);
  if (first == 0 || second == 0) return;
  data.adapts = true;
  data.negative = yes.negative || no.negative;
  data.bits = first + second;
}

ExprHandle make(ExprKind kind, SourcePlace place, std::vector<ExprHandle> operands = {}, std::string name = {}, std::uint64_t bits = 0,
                std::uint8_t op = 0) {
  auto* data = new ExprData{};
  data->kind = kind;
  data->op = op;
  data->place = place;
  data->bits = bits;
  data->name = std::move(name);
  data->operands = std::move(operands);
  note_integers(*data);
  return ExprHandle(data);
}

// Takes the operands one by one, because a list in braces would copy them.
template <class... Operands>
ExprHandle applied(const OpInfo& op, SourcePlace place, Operands... operands) {
  auto* data = new ExprData{};
  ExprHandle made(data);
  data->kind = op.kind;
  data->op = op.index;
  data->place = place;
  data->operands.reserve(sizeof...(operands));
  (data->operands.push_back(std::move(operands)), ...);
  note_integers(*data);
  return made;
}

ExprData* integer_data(Number number, SourcePlace place) {
  auto* data = new ExprData{};
  data->kind = ExprKind::Literal;
  data->adapts = true;
  data->negative = number.negative;
  data->bits = number.bits();
  data->place = place;
  return data;
}

NodeHandle make(NodeKind kind, SourcePlace place, std::string name, std::vector<ExprHandle> operands, std::vector<NodeHandle> body = {},
                std::vector<NodeHandle> otherwise = {}) {
  auto* data = new NodeData{};
  data->kind = kind;
  data->place = place;
  data->name = std::move(name);
  data->operands = std::move(operands);
  data->body = std::move(body);
  data->otherwise = std::move(otherwise);
  return NodeHandle(data);
}

}  // namespace

void retain(const ExprData* data) noexcept { data->references.fetch_add(1, std::memory_order_relaxed); }
void retain(const NodeData* data) noexcept { data->references.fetch_add(1, std::memory_order_relaxed); }

void release(const ExprData* data) noexcept {
  if (!drop(data)) return;
  Dead dead(data);
  while (ExprData* last = dead.next()) {
    for (ExprHandle& operand : last->operands) dead.add(operand.detach());
    delete last;
  }
}

void release(const NodeData* data) noexcept {
  if (!drop(data)) return;
  Dead dead(data);
  while (NodeData* last = dead.next()) {
    for (NodeHandle& child : last->body) dead.add(child.detach());
    for (NodeHandle& child : last->otherwise) dead.add(child.detach());
    delete last;
  }
}

namespace expr {
ExprHandle literal(const Literal& value, SourcePlace place) {
  return make(ExprKind::Literal, place, {}, {}, value.bits(), static_cast<std::uint8_t>(value.type));
}
ExprHandle infix(Infix op, std::vector<ExprHandle> operands, SourcePlace place) {
  auto* data = new ExprData{};
  // The kind says how many operands there are; `infix` is asked before it.
  data->kind = operands.size() == 1 ? ExprKind::Unary : ExprKind::Binary;
  data->infix = op;
  data->place = place;
  data->operands = std::move(operands);
  return ExprHandle(data);
}
ExprHandle integer(Number number, SourcePlace place) { return ExprHandle(integer_data(number, place)); }
ExprHandle taking_bools(ExprHandle logical) {
  const_cast<ExprData&>(*logical).takes_bools = true;
  return logical;
}

ExprHandle open_integer(Number number, std::string group, SourcePlace place) {
  ExprData* data = integer_data(number, place);
  data->name = std::move(group);
  return ExprHandle(data);
}
ExprHandle u32(std::uint32_t value, SourcePlace place) { return literal(Literal::u32(value), place); }
ExprHandle i32(std::int32_t value, SourcePlace place) { return literal(Literal::i32(value), place); }
ExprHandle boolean(bool value, SourcePlace place) { return literal(Literal::boolean(value), place); }
ExprHandle u64(std::uint64_t value, SourcePlace place) { return literal(Literal::u64(value), place); }
ExprHandle var(std::string name, SourcePlace place) { return make(ExprKind::Var, place, {}, std::move(name)); }
ExprHandle load(std::string buffer, ExprHandle index, SourcePlace place) {
  return make(ExprKind::Load, place, {std::move(index)}, std::move(buffer));
}
ExprHandle buf_len(std::string buffer, SourcePlace place) { return make(ExprKind::BufLen, place, {}, std::move(buffer)); }
ExprHandle grid_id(GridIdKind kind, std::uint32_t axis, SourcePlace place) {
  return make(ExprKind::GridId, place, {}, {}, axis, static_cast<std::uint8_t>(kind));
}
ExprHandle binary(BinOp op, ExprHandle left, ExprHandle right, SourcePlace place) {
  return applied(info(op), place, std::move(left), std::move(right));
}
ExprHandle unary(UnOp op, ExprHandle operand, SourcePlace place) { return applied(info(op), place, std::move(operand)); }
ExprHandle select(ExprHandle condition, ExprHandle if_true, ExprHandle if_false, SourcePlace place) {
  return applied(info(TernOp::Select), place, std::move(condition), std::move(if_true), std::move(if_false));
}
ExprHandle apply(const OpInfo& op, std::vector<ExprHandle> operands, SourcePlace place) {
  return make(op.kind, place, std::move(operands), {}, 0, op.index);
}
ExprHandle cast(DataType target, ExprHandle value, SourcePlace place) {
  return make(ExprKind::Cast, place, {std::move(value)}, {}, 0, static_cast<std::uint8_t>(target));
}
ExprHandle call(std::string op_id, std::vector<ExprHandle> arguments, SourcePlace place) {
  return make(ExprKind::Call, place, std::move(arguments), std::move(op_id));
}
ExprHandle lane(ExprHandle value, std::uint32_t k, SourcePlace place) { return make(ExprKind::Lane, place, {std::move(value)}, {}, k); }
ExprHandle pack(DataType type, std::vector<ExprHandle> lanes, SourcePlace place) {
  return make(ExprKind::Pack, place, std::move(lanes), {}, 0, static_cast<std::uint8_t>(type));
}
ExprHandle atomic(AtomicOp op, std::string buffer, ExprHandle index, ExprHandle expected, ExprHandle value, SourcePlace place) {
  std::vector<ExprHandle> operands{std::move(index)};
  const bool has_expected = static_cast<bool>(expected);
  if (has_expected) operands.push_back(std::move(expected));
  operands.push_back(std::move(value));
  auto* data = new ExprData{};
  data->kind = ExprKind::Atomic;
  data->op = static_cast<std::uint8_t>(op);
  data->has_expected = has_expected;
  data->place = place;
  data->name = std::move(buffer);
  data->operands = std::move(operands);
  return ExprHandle(data);
}
}  // namespace expr

namespace node {
NodeHandle let(std::string name, ExprHandle value, SourcePlace place) {
  return make(NodeKind::Let, place, std::move(name), {std::move(value)});
}
NodeHandle open_let(std::string name, ExprHandle value, SourcePlace place) {
  NodeHandle made = let(std::move(name), std::move(value), place);
  const_cast<NodeData&>(*made).is_open = true;  // no other handle has it yet
  return made;
}
NodeHandle assign(std::string name, ExprHandle value, SourcePlace place) {
  return make(NodeKind::Assign, place, std::move(name), {std::move(value)});
}
NodeHandle store(std::string buffer, ExprHandle index, ExprHandle value, SourcePlace place) {
  return make(NodeKind::Store, place, std::move(buffer), {std::move(index), std::move(value)});
}
NodeHandle if_(ExprHandle condition, std::vector<NodeHandle> then, std::vector<NodeHandle> otherwise, SourcePlace place) {
  return make(NodeKind::If, place, {}, {std::move(condition)}, std::move(then), std::move(otherwise));
}
NodeHandle loop(std::string variable, ExprHandle from, ExprHandle to, std::vector<NodeHandle> body, SourcePlace place) {
  return make(NodeKind::Loop, place, std::move(variable), {std::move(from), std::move(to)}, std::move(body));
}
NodeHandle block(std::vector<NodeHandle> body, SourcePlace place) { return make(NodeKind::Block, place, {}, {}, std::move(body)); }
NodeHandle barrier(SourcePlace place) { return make(NodeKind::Barrier, place, {}, {}); }
NodeHandle return_(SourcePlace place) { return make(NodeKind::Return, place, {}, {}); }
NodeHandle break_(SourcePlace place) { return make(NodeKind::Break, place, {}, {}); }
}  // namespace node

namespace {

// A call, or the operator or integer of Python that is spelled as one.
ExprHandle called(std::string id, std::vector<ExprHandle> arguments, SourcePlace place) {
  if (!id.starts_with('\0')) return expr::call(std::move(id), std::move(arguments), place);
  if (const std::optional<Infix> op = spelling::parse_infix(id)) {
    if (arguments.size() == info(*op).arity()) return expr::infix(*op, std::move(arguments), place);
  }
  const auto is_literal = [](const ExprHandle& each) { return each->kind == ExprKind::Literal && !each->adapts; };
  if (id == spelling::kInteger && arguments.size() == 2 && std::ranges::all_of(arguments, is_literal)) {
    return expr::integer(Number::of(arguments[0]->bits, arguments[1]->bits != 0), place);
  }
  return expr::call(std::move(id), std::move(arguments), place);
}

}  // namespace

std::vector<NodeHandle> entry_handles(const Program& program) {
  IdVector<ExprId, ExprHandle> exprs;
  exprs.reserve(program.exprs().size());
  auto named = [&](NameId id) { return std::string(program.text(id)); };
  auto handles = [&](const auto& ids) {
    std::vector<ExprHandle> made;
    made.reserve(std::size(ids));
    for (ExprId id : ids) made.push_back(exprs[id]);
    return made;
  };
  auto list = [&](ExprList operands) { return handles(program.operands(operands)); };
  for (std::uint32_t index = 0; index < program.exprs().size(); ++index) {
    const SourcePlace place = program.place(ExprId{index});
    exprs.push_back(match(
        program.expr(ExprId{index}), [&](const Literal& value) { return expr::literal(value, place); },
        [&](const Var& var) { return expr::var(named(var.name), place); },
        [&](const Load& load) { return expr::load(named(load.buffer), exprs[load.index], place); },
        [&](const BufLen& length) { return expr::buf_len(named(length.buffer), place); },
        [&](const GridId& grid) { return expr::grid_id(grid.kind, grid.axis, place); },
        [&](const Applied auto& it) { return expr::apply(info(it.op), handles(applied_to(it)), place); },
        [&](const Cast& cast) { return expr::cast(cast.target, exprs[cast.value], place); },
        [&](const Call& call) { return called(named(call.op), list(call.arguments), place); },
        [&](const Lane& lane) { return expr::lane(exprs[lane.value], lane.lane, place); },
        [&](const Pack& pack) { return expr::pack(pack.type, list(pack.lanes), place); },
        [&](const Atomic& atomic) {
          std::vector<ExprHandle> operands = list(atomic.operands);
          return expr::atomic(atomic.op, named(atomic.buffer), operands.front(), atomic.has_expected ? operands[1] : ExprHandle(),
                              operands.back(), place);
        }));
  }

  // Lists being filled; the last one belongs to the innermost open statement.
  std::vector<std::vector<NodeHandle>> lists(1);
  std::vector<std::vector<NodeHandle>> then_lists;  // of Ifs that have reached their Else
  for (std::uint32_t index = 0; index < program.nodes().size(); ++index) {
    const SourcePlace place = program.place(NodeId{index});
    auto add = [&](NodeHandle handle) { lists.back().push_back(std::move(handle)); };
    match(
        program.node(NodeId{index}), [&](const Let& let) { add(node::let(named(let.name), exprs[let.value], place)); },
        [&](const Assign& assign) { add(node::assign(named(assign.name), exprs[assign.value], place)); },
        [&](const Store& store) { add(node::store(named(store.buffer), exprs[store.index], exprs[store.value], place)); },
        [&](const If&) { lists.emplace_back(); },
        [&](const Else&) {
          then_lists.push_back(std::move(lists.back()));
          lists.back().clear();
        },
        [&](const Loop&) { lists.emplace_back(); }, [&](const Block&) { lists.emplace_back(); },
        [&](const End& end) {
          std::vector<NodeHandle> body = std::move(lists.back());
          lists.pop_back();
          const SourcePlace opened = program.place(end.opener);
          const Node& opener = program.node(end.opener);
          if (const If* branch = std::get_if<If>(&opener)) {
            std::vector<NodeHandle> otherwise;
            if (branch->otherwise.valid()) {
              otherwise = std::move(body);
              body = std::move(then_lists.back());
              then_lists.pop_back();
            }
            add(node::if_(exprs[branch->condition], std::move(body), std::move(otherwise), opened));
          } else if (const Loop* loop = std::get_if<Loop>(&opener)) {
            add(node::loop(named(loop->variable), exprs[loop->from], exprs[loop->to], std::move(body), opened));
          } else {
            add(node::block(std::move(body), opened));
          }
        },
        [&](const Barrier&) { add(node::barrier(place)); }, [&](const Return&) { add(node::return_(place)); },
        [&](const Break&) { add(node::break_(place)); });
  }
  return std::move(lists.front());
}

}  // namespace vyre::ir
