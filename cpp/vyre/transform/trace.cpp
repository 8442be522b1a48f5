// The Tracer copies the program once, statement by statement. With the densities Statements and Stores, an expression becomes a Let, and
// record_point() adds the code that counts a point and folds its lanes into the hash. With Effects and Branches, statements stay as they
// are, and only their effects are put under a condition on the limits. The record is written before each Return and at the end.
#include "vyre/transform/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "vyre/base/assert.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/transform/rebuild.hpp"

namespace vyre::transform {
namespace {

using ir::DataType;
using validate::Step;
using validate::ValidProgram;

// The smallest bindings that the program does not use.
std::array<std::uint32_t, 2> free_bindings(const ir::Program& program) {
  std::array<std::uint32_t, 2> free{};
  std::uint32_t next = 0;
  for (std::uint32_t& binding : free) {
    auto used = [&](const ir::BufferDecl& decl) { return ir::is_bound(decl.access) && decl.binding == next; };
    while (std::ranges::any_of(program.buffers(), used)) ++next;
    binding = next++;
  }
  return free;
}

class Tracer {
 public:
  Tracer(const ValidProgram& valid, const TraceOptions& options)
      : valid_(valid),
        program_(valid.program()),
        options_(options),
        rebuild_(valid),
        prefix_(free_prefix(program_, "__trace")),
        moved_(program_.exprs().size()),
        taken_(program_.exprs().size()) {
    const auto [limits, record] = free_bindings(program_);
    to().buffer(ir::BufferDecl::storage(limits_name(), limits, ir::BufferAccess::ReadOnly, DataType::U32));
    to().buffer(ir::BufferDecl::storage(record_name(), record, ir::BufferAccess::ReadWrite, DataType::U32));
  }

  Traced operator()(const ir::OpTable& ops) {
    begin();
    const std::uint32_t count = static_cast<std::uint32_t>(program_.nodes().size());
    bool open_end = true;
    std::uint32_t depth = 0;
    for (std::uint32_t index = 0; index < count; ++index) {
      const NodeId id{index};
      const ir::Node& node = program_.node(id);
      statement(id);
      if (std::holds_alternative<ir::End>(node)) --depth;
      if (std::holds_alternative<ir::If>(node) || std::holds_alternative<ir::Loop>(node) || std::holds_alternative<ir::Block>(node))
        ++depth;
      open_end = depth != 0 || !std::holds_alternative<ir::Return>(node);
    }
    if (open_end) flush();
    // The limits apply to programs that users write. The traced program may be larger.
    validate::Options without_limits;
    without_limits.limits = false;
    validate::Verdict verdict = validate::validate(to().finish(), ops, without_limits);
    VYRE_ASSERT(verdict.program.has_value());
    return Traced{*std::move(verdict.program), std::move(points_), limits_name(), record_name()};
  }

 private:
  ir::ProgramBuilder& to() { return rebuild_.to(); }
  std::string limits_name() const { return prefix_ + "_limits"; }
  std::string record_name() const { return prefix_ + "_record"; }
  NameId own(std::string_view name) { return to().name(fmt::format("{}_{}", prefix_, name)); }

  // Each use gets a node of its own. A shared node would be one expression that several scopes use, and sharing it gains nothing.
  ExprId u32(std::uint32_t value) { return to().add(ir::Literal::u32(value)); }
  ExprId var(NameId name) { return to().add(ir::Var{name}); }
  ExprId var(std::string_view name) { return var(own(name)); }
  ExprId binary(ir::BinOp op, ExprId left, ExprId right) { return to().add(ir::Binary{op, left, right}); }
  ExprId select(ExprId condition, ExprId if_true, ExprId if_false) { return to().add(ir::Select{condition, if_true, if_false}); }
  ExprId limit(LimitWord word) { return to().add(ir::Load{to().name(limits_name()), u32(word)}); }
  void let(std::string_view name, ExprId value) { to().let(own(name), value); }
  void assign(std::string_view name, ExprId value) { to().assign(own(name), value); }

  void begin() {
    using enum ir::BinOp;
    auto id = [&](ir::GridIdKind kind, std::uint32_t axis) { return to().add(ir::GridId{kind, axis}); };
    const ir::WorkgroupSize size = program_.workgroup_size();
    // (z * y's size + y) * x's size + x
    auto number = [&](ir::GridIdKind kind, ExprId size_x, ExprId size_y) {
      const ExprId rows = binary(Add, binary(Mul, id(kind, 2), size_y), id(kind, 1));
      return binary(Add, binary(Mul, rows, size_x), id(kind, 0));
    };
    const ExprId group = number(ir::GridIdKind::Workgroup, limit(kLimitGroupsX), limit(kLimitGroupsY));
    const ExprId local = number(ir::GridIdKind::Local, u32(size[0]), u32(size[1]));
    let("invocation", binary(Add, binary(Mul, group, u32(size[0] * size[1] * size[2])), local));
    let("step", u32(0));
    let("phase", u32(0));
    let("hash", u32(0));
    let("last", u32(0));
  }

  // Writes the invocation's record. Called before each Return and at the end of the program.
  void flush() {
    using enum ir::BinOp;
    const NameId record = to().name(record_name());
    auto store = [&](RecordWord word, ExprId value) {
      const ExprId at = binary(Add, binary(Mul, var("invocation"), u32(kRecordWords)), u32(word));
      to().store(record, at, value);
    };
    store(kRecordHash, var("hash"));
    store(kRecordSteps, var("step"));
    store(kRecordPoint, var("last"));
    store(kRecordWritten, u32(1));
  }

  // Adds a point for each lane of the value that the local `name` holds. Fills in the lane of `point`.
  void points(TracePoint point, NameId name) {
    for (point.lane = 0; point.lane < ir::lanes(point.type); ++point.lane) {
      record_point(point, [&] {
        if (point.type == DataType::U32) return var(name);
        if (ir::lanes(point.type) == 1) return to().add(ir::Cast{DataType::U32, var(name)});
        return to().add(ir::Lane{var(name), point.lane});
      }());
    }
  }

  // Emits the code that counts the point and folds its lane into the hash, if the limits are not reached.
  void record_point(const TracePoint& point, ExprId lane) {
    using enum ir::BinOp;
    const auto number = static_cast<std::uint32_t>(points_.size());
    points_.push_back(point);
    // See fold().
    const ExprId folded = binary(Mul, binary(BitXor, binary(RotateLeft, var("hash"), u32(5)), lane), u32(kTraceSpread));
    const std::string hash = fmt::format("hash{}", number), taken = fmt::format("taken{}", number);
    let(hash, folded);
    const ExprId early = binary(Lt, var("phase"), limit(kLimitPhases));
    let(taken, binary(And, early, binary(Lt, var("step"), limit(kLimitSteps))));
    assign("hash", select(var(taken), var(hash), var("hash")));
    assign("last", select(var(taken), u32(number), var("last")));
    assign("step", binary(Add, var("step"), var(taken)));
  }

  bool excluded(const TracePoint& point) const {
    return std::ranges::any_of(options_.excluded, [&](const TracePoint& other) { return point.same_value(other); });
  }

  bool wanted(NodeId id, const Step& step, bool root, bool of_atomic) const {
    if (excluded({id, step.expr})) return false;
    if (id == options_.detail) return true;
    if (of_atomic || std::holds_alternative<ir::Atomic>(program_.expr(step.expr))) return true;
    if (options_.density == TraceDensity::Stores) return root && std::holds_alternative<ir::Store>(program_.node(id));
    return root || is_writable_load(valid_, step);
  }

  // Returns the expression for a second use of `copy` in the same statement. A literal, variable or id gets a new node, because the text
  // form gives a number to every node that is used twice, and would no longer write it in place.
  ExprId again(ExprId copy) {
    const ir::Expr& expr = to().expr(copy);
    const bool leaf = constant_of(expr).has_value() || std::holds_alternative<ir::Var>(expr) || std::holds_alternative<ir::GridId>(expr);
    return leaf ? to().add(ir::Expr(expr)) : copy;
  }

  // Emits a Let for each expression of the statement, in evaluation order, and records those that are wanted.
  void operands(NodeId id) {
    const ir::Node& node = program_.node(id);
    std::vector<ExprId> roots, of_atomics;
    for_each_root(node, [&](ExprId root) { roots.push_back(root); });
    for (const Step& step : valid_.facts().steps_of(id)) {
      if (const auto* atomic = std::get_if<ir::Atomic>(&program_.expr(step.expr))) {
        for (ExprId operand : program_.operands(atomic->operands)) of_atomics.push_back(operand);
      }
    }
    const auto among = [](const std::vector<ExprId>& those, ExprId expr) { return std::ranges::find(those, expr) != those.end(); };
    for (const Step& step : valid_.facts().steps_of(id)) {
      const ExprId copy = rebuild_.copy(step.expr, [&](ExprId operand) { return moved_[operand]; });
      const ir::Expr& expr = program_.expr(step.expr);
      const bool literal = constant_of(expr).has_value();
      const bool recorded = !literal && wanted(id, step, among(roots, step.expr), among(of_atomics, step.expr));
      // A variable has one value throughout a statement, and a literal everywhere, so neither needs a Let unless it is recorded.
      if (!recorded && (literal || std::holds_alternative<ir::Var>(expr))) {
        moved_[step.expr] = copy;
        continue;
      }
      const NameId name = own(fmt::format("value{}", values_++));
      to().let(name, copy);
      if (recorded) points({.statement = id, .expr = step.expr, .type = step.type}, name);
      moved_[step.expr] = var(name);
    }
  }

  void statement(NodeId id) {
    const ir::Node& node = program_.node(id);
    if (options_.density == TraceDensity::Effects || options_.density == TraceDensity::Branches) return limited(id);
    operands(id);
    if (std::holds_alternative<ir::Return>(node)) flush();
    rebuild_.copy(id, [&](ExprId expr) { return moved_[expr]; });
    if (const auto* store = std::get_if<ir::Store>(&node); store != nullptr && !excluded(effect_of(id))) {
      const NameId name = own(fmt::format("value{}", values_++));
      to().let(name, to().add(ir::Load{rebuild_.name(store->buffer), again(moved_[store->index])}));
      points(effect_of(id), name);
    }
    if (const auto* loop = std::get_if<ir::Loop>(&node); loop != nullptr && options_.density != TraceDensity::Stores) {
      if (const TracePoint turn{.statement = id}; !excluded(turn)) points(turn, rebuild_.name(loop->variable));
    }
    count_barrier(node);
  }

  void count_barrier(const ir::Node& node) {
    if (std::holds_alternative<ir::Barrier>(node)) assign("phase", binary(ir::BinOp::Add, var("phase"), u32(1)));
  }

  TracePoint effect_of(NodeId store) const {
    const BufferId buffer = valid_.facts().statements[store].buffer;
    return {.statement = store, .effect = true, .type = ir::value_type(program_.buffers()[buffer.index].element)};
  }

  // Copies the statement as it is written, except that its stores and atomics do not change memory once the limits are reached.
  void limited(NodeId id) {
    const ir::Node& node = program_.node(id);
    for (const Step& step : valid_.facts().steps_of(id)) {
      if (std::holds_alternative<ir::Atomic>(program_.expr(step.expr)))
        taken_[step.expr] = take({.statement = id, .expr = step.expr, .effect = true});
    }
    const auto* store = std::get_if<ir::Store>(&node);
    const NameId stores = store != nullptr ? take(effect_of(id)) : NameId{};
    for (const Step& step : valid_.facts().steps_of(id)) {
      const auto* atomic = std::get_if<ir::Atomic>(&program_.expr(step.expr));
      moved_[step.expr] = atomic != nullptr ? limited(*atomic, taken_[step.expr])
                                            : rebuild_.copy(step.expr, [&](ExprId operand) { return moved_[operand]; });
    }
    if (std::holds_alternative<ir::Return>(node)) flush();
    if (store == nullptr) {
      rebuild_.copy(id, [&](ExprId expr) { return moved_[expr]; });
    } else if (options_.density == TraceDensity::Branches) {
      // Atomics in the operands happen whether the store does or not.
      const NameId index = own(fmt::format("value{}", values_++)), value = own(fmt::format("value{}", values_++));
      to().let(index, moved_[store->index]);
      to().let(value, moved_[store->value]);
      to().if_(var(stores));
      to().store(rebuild_.name(store->buffer), var(index), var(value));
      to().end();
    } else {
      const NameId buffer = rebuild_.name(store->buffer);
      const ExprId index = moved_[store->index];
      to().store(buffer, index, select(var(stores), moved_[store->value], to().add(ir::Load{buffer, again(index)})));
    }
    count_barrier(node);
  }

  // Past the limits, the atomic gets an operand with which it changes nothing. An Exchange has no such operand, so its index goes out of
  // bounds instead. With Branches, the index of every atomic goes out of bounds: Effects and Branches disable effects in different ways,
  // because each way may change a fault (trace.hpp).
  ExprId limited(const ir::Atomic& atomic, NameId taken) {
    std::vector<ExprId> operands;
    for (ExprId operand : program_.operands(atomic.operands)) operands.push_back(moved_[operand]);
    const bool outside = options_.density == TraceDensity::Branches || atomic.op == ir::AtomicOp::Exchange;
    ExprId& limited = outside ? operands.front() : operands.back();
    const ExprId idle = [&] {
      if (outside) return u32(~0u);
      switch (atomic.op) {
        case ir::AtomicOp::And:
        case ir::AtomicOp::Min:
        case ir::AtomicOp::Exchange:
          return u32(~0u);
        case ir::AtomicOp::CompareExchange:
          return again(operands[1]);
        case ir::AtomicOp::Add:
        case ir::AtomicOp::Or:
        case ir::AtomicOp::Xor:
        case ir::AtomicOp::Max:
          break;
      }
      return u32(0);
    }();
    limited = select(var(taken), limited, idle);
    return to().add(ir::Atomic{atomic.op, atomic.has_expected, rebuild_.name(atomic.buffer), to().list(operands)});
  }

  // Adds a point for the effect, and emits a local that says whether the effect happens. Returns its name.
  NameId take(const TracePoint& point) {
    using enum ir::BinOp;
    const auto number = static_cast<std::uint32_t>(points_.size());
    points_.push_back(point);
    const ExprId early_step =
        binary(And, binary(Eq, var("invocation"), limit(kLimitInvocations)), binary(Lt, var("step"), limit(kLimitSteps)));
    const ExprId early_invocation = binary(Or, binary(Lt, var("invocation"), limit(kLimitInvocations)), early_step);
    const ExprId this_phase = binary(And, binary(Eq, var("phase"), limit(kLimitPhases)), early_invocation);
    const std::string taken = fmt::format("taken{}", number);
    let(taken, binary(Or, binary(Lt, var("phase"), limit(kLimitPhases)), this_phase));
    assign("last", select(var(taken), u32(number), var("last")));
    assign("step", binary(Add, var("step"), u32(1)));
    return own(taken);
  }

  const ValidProgram& valid_;
  const ir::Program& program_;
  const TraceOptions& options_;
  Rebuild rebuild_;
  const std::string prefix_;
  IdVector<ExprId, ExprId> moved_;
  IdVector<ExprId, NameId> taken_;  // for each atomic, the local from take(); used with Effects and Branches
  std::vector<TracePoint> points_;
  std::uint32_t values_ = 0;
};

}  // namespace

Traced trace(const ValidProgram& program, const ir::OpTable& ops, const TraceOptions& options) { return Tracer(program, options)(ops); }

namespace {

// A program that holds only the expressions copied with expr(), and the statements added to to(), so that they can be printed alone.
class Excerpt {
 public:
  explicit Excerpt(const ir::Program& program) : program_(program), moved_(program.exprs().size()) {}

  ir::ProgramBuilder& to() { return alone_; }
  NameId name(NameId id) { return alone_.name(program_.text(id)); }

  ExprId expr(ExprId root) {
    // Copies every expression that `root` reaches. Operands have smaller numbers than their users, so sorting puts them first.
    std::vector<ExprId> reached, waiting{root};
    while (!waiting.empty()) {
      const ExprId id = waiting.back();
      waiting.pop_back();
      if (moved_[id].valid()) continue;
      moved_[id] = id;  // seen; its own number follows below
      reached.push_back(id);
      for_each_operand(program_, id, [&](ExprId operand) { waiting.push_back(operand); });
    }
    std::ranges::sort(reached);
    for (const ExprId id : reached) {
      auto operand = [&](ExprId old) { return moved_[old]; };
      moved_[id] = alone_.add(copy_expr(program_, program_.expr(id), alone_, operand, [&](NameId old) { return name(old); }));
    }
    return moved_[root];
  }

  // Returns the statements as text, without the lines that describe the program.
  std::string text() {
    while (alone_.open_blocks() > 0) alone_.end();
    const std::string whole = to_text(alone_.finish());
    const std::size_t body = whole.find("\n\n");
    return body == std::string::npos ? std::string() : whole.substr(body + 2, whole.size() - body - 3);
  }

 private:
  const ir::Program& program_;
  ir::ProgramBuilder alone_;
  IdVector<ExprId, ExprId> moved_;
};

}  // namespace

std::string statement_text(const ir::Program& program, NodeId statement) {
  Excerpt excerpt(program);
  const ir::Node& node = program.node(statement);
  if (std::holds_alternative<ir::Else>(node) || std::holds_alternative<ir::End>(node)) return {};
  auto root = [&](ExprId id) { return excerpt.expr(id); };
  copy_node(node, excerpt.to(), root, [&](NameId id) { return excerpt.name(id); });
  std::string text = excerpt.text();
  if (text.ends_with(" {\n}")) text.erase(text.size() - 4);
  return text;
}

namespace {

// `root(excerpt)` adds the expression to the excerpt and returns it.
template <class Root>
std::string value_text(const ir::Program& program, Root&& root) {
  Excerpt excerpt(program);
  const ExprId value = root(excerpt);
  constexpr std::string_view kLet = "let _ = ";
  excerpt.to().let(excerpt.to().name("_"), value);
  std::string text = excerpt.text();
  // The Let is the last line. The definitions of shared expressions, if there are any, stand before it and are kept.
  const std::size_t last = text.rfind(kLet);
  return text.substr(0, last) + text.substr(last + kLet.size());
}

}  // namespace

std::string expression_text(const ir::Program& program, ExprId expr) {
  return value_text(program, [&](Excerpt& excerpt) { return excerpt.expr(expr); });
}

std::string element_text(const ir::Program& program, NodeId statement, ExprId expr) {
  return value_text(program, [&](Excerpt& excerpt) {
    if (expr.valid()) {
      const auto& atomic = std::get<ir::Atomic>(program.expr(expr));
      const ExprId index = excerpt.expr(program.operands(atomic.operands).front());
      return excerpt.to().add(ir::Load{excerpt.name(atomic.buffer), index});
    }
    const auto& store = std::get<ir::Store>(program.node(statement));
    const ExprId index = excerpt.expr(store.index);
    return excerpt.to().add(ir::Load{excerpt.name(store.buffer), index});
  });
}

}  // namespace vyre::transform
