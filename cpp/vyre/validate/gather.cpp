#include "vyre/validate/gather.hpp"

#include <algorithm>

#include "vyre/base/overloaded.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/ir/walk.hpp"
#include "vyre/validate/limits.hpp"
#include "vyre/validate/op_bodies.hpp"

namespace vyre::validate {
namespace {

constexpr std::size_t kLongList = 8;
constexpr std::size_t kMaxLanes = 4;

class Gatherer {
 public:
  Gatherer(const ir::Program& program, const ir::OpSpec* op, OpBodies& bodies, bool limits)
      : program_(program),
        bodies_(bodies),
        limits_(limits),
        walk_(program.exprs().size()),
        buffers_(program.names().size()),
        live_(program.names().size()),
        callees_(program.names().size(), kUnresolved),
        step_of_(program.exprs().size()) {
    out_.program = &program;
    out_.op = op;
    out_.table = &bodies.table();
  }

  Gathered run() {
    for (std::uint32_t index = 0; index < program_.buffers().size(); ++index) {
      BufferId& buffer = buffers_[program_.names().find(program_.buffers()[index].name)];
      if (!buffer.valid()) buffer = BufferId{index};  // V001: the first declaration stays
    }
    if (out_.op != nullptr) declare_parameters(*out_.op);
    out_.facts.statements.resize(program_.nodes().size());
    out_.roots.resize(program_.nodes().size());
    out_.facts.steps.reserve(std::min<std::size_t>(program_.exprs().size(), kMaxNodeCount));
    for (std::uint32_t index = 0; index < program_.nodes().size(); ++index) {
      statement(NodeId{index});
      if (limits_ && count_ > kMaxNodeCount) {
        stop_at(NodeId{index});
        break;
      }
    }
    out_.operand_begin.push_back(static_cast<std::uint32_t>(out_.operand_steps.size()));
    return std::move(out_);
  }

 private:
  static constexpr std::uint32_t kUnresolved = kNoOp - 1;

  void statement(NodeId id) {
    const ir::Node& node = program_.node(id);
    Statement& statement = out_.facts.statements[id];
    statement.first_step = step_count();
    walk_.forget();
    match(
        node,
        [&](const ir::Let& let) {
          const StepId value = evaluate(let.value);
          out_.roots[id].first = value;
          statement.local = declare(let.name, out_.step(value).type, id, false);
        },
        [&](const ir::Assign& assign) {
          out_.roots[id].first = evaluate(assign.value);
          statement.local = live_[assign.name];
          if (statement.local.valid()) out_.facts.locals[statement.local].assigned = true;
        },
        [&](const ir::Store& store) {
          out_.roots[id].first = evaluate(store.index);
          out_.roots[id].second = evaluate(store.value);
          statement.buffer = buffers_[store.buffer];
        },
        [&](const ir::If& branch) {
          out_.roots[id].first = evaluate(branch.condition);
          open_scope();
        },
        [&](const ir::Else&) {
          close_scope();
          open_scope();
        },
        [&](const ir::Loop& loop) {
          out_.roots[id].first = evaluate(loop.from);
          out_.roots[id].second = evaluate(loop.to);
          open_scope();
          statement.local = declare(loop.variable, ir::DataType::U32, id, true);
        },
        [&](const ir::Block&) { open_scope(); }, [&](const ir::End&) { close_scope(); }, [](const ir::Barrier&) {},
        [](const ir::Return&) {}, [](const ir::Break&) {});
    statement.step_count = step_count() - statement.first_step;

    const bool counted = !std::holds_alternative<ir::Else>(node) && !std::holds_alternative<ir::End>(node);
    count_ += statement.step_count + (counted ? 1 : 0);
    const bool forbidden = out_.op != nullptr && (std::holds_alternative<ir::Store>(node) || std::holds_alternative<ir::Barrier>(node) ||
                                                  std::holds_alternative<ir::Return>(node));
    (forbidden ? out_.forbidden_nodes : out_.nodes_of_kind[node.index()]).push_back(id);
  }

  StepId evaluate(ExprId root) {
    walk_(
        root, [&](ExprId id, auto&& push) { for_each_distinct_operand(id, push); }, [&](ExprId id) { step(id); });
    return step_of_[root];
  }

  void step(ExprId id) {
    if (limits_ && step_count() > kMaxNodeCount) {
      // The statement is too large whatever follows: it is walked to its end, but memory stays bounded.
      step_of_[id] = StepId{0};
      return;
    }
    const ir::Expr& expr = program_.expr(id);
    const StepId step{step_count()};
    step_of_[id] = step;
    Step made;
    made.expr = id;
    out_.operand_begin.push_back(static_cast<std::uint32_t>(out_.operand_steps.size()));
    std::size_t judged = kMaxLanes;
    if (const ir::Call* call = std::get_if<ir::Call>(&expr)) {
      made.op = callee(call->op);
      const ir::OpSignature* signature = signature_of(made.op);
      judged = signature == nullptr ? 0 : signature->inputs.size();
    }
    link_operands(expr, judged);
    infer(expr, made);
    out_.facts.steps.push_back(made);

    const ir::ExprKind kind = ir::kind(expr);
    const bool forbidden = out_.op != nullptr && (kind == ir::ExprKind::Load || kind == ir::ExprKind::BufLen ||
                                                  kind == ir::ExprKind::Atomic || kind == ir::ExprKind::GridId);
    (forbidden ? out_.forbidden_steps : out_.steps_of_kind[expr.index()]).push_back(step);
  }

  void link_operands(const ir::Expr& expr, std::size_t judged) {
    auto link = [&](ExprId operand) { out_.operand_steps.push_back(step_of_[operand]); };
    auto list = [&](ir::ExprList operands) {
      const std::span<const ExprId> all = program_.operands(operands);
      return all.first(std::min(all.size(), judged));
    };
    ir::for_each_operand(expr, list, link);
  }

  // Sets the type, and what names resolve to. Operands have their steps already.
  void infer(const ir::Expr& expr, Step& made) {
    auto type = [&](ExprId operand) { return out_.step(step_of_[operand]).type; };
    made.type = match(
        expr, [](const ir::Literal& literal) { return literal.type; },
        [&](const ir::Var& var) {
          made.local = live_[var.name];
          return made.local.valid() ? out_.facts.locals[made.local].type : kUnknownType;
        },
        [&](const ir::Load& load) {
          made.buffer = buffers_[load.buffer];
          return made.buffer.valid() ? ir::value_type(out_.buffer(made.buffer).element) : kUnknownType;
        },
        [&](const ir::BufLen& length) {
          made.buffer = buffers_[length.buffer];
          return ir::DataType::U32;
        },
        [](const ir::GridId&) { return ir::DataType::U32; }, [](const ir::Applied auto& it) { return ir::info(it.op).result; },
        [&](const ir::Select& select) {
          const ir::DataType a = type(select.if_true);
          return a == type(select.if_false) ? a : kUnknownType;
        },
        [](const ir::Cast& cast) {
          return ir::value_type(cast.target);
        },  // V012 refuses a narrow target; what follows is no second mistake
        [&](const ir::Call&) {
          const ir::OpSignature* signature = signature_of(made.op);
          return signature == nullptr ? kUnknownType : signature->output;
        },
        [](const ir::Lane&) { return ir::DataType::U32; }, [](const ir::Pack& pack) { return ir::value_type(pack.type); },
        [&](const ir::Atomic& atomic) {
          made.buffer = buffers_[atomic.buffer];
          return ir::DataType::U32;
        });
  }

  std::uint32_t callee(NameId name) {
    std::uint32_t& index = callees_[name];
    if (index == kUnresolved) {
      index = kNoOp;
      if (OpBody* body = bodies_.find(program_.text(name))) {
        index = static_cast<std::uint32_t>(out_.callees.size());
        out_.callees.push_back(body);
      }
    }
    return index;
  }

  template <class Push>
  void for_each_distinct_operand(ExprId id, Push&& push) {
    const ir::Expr& expr = program_.expr(id);
    const ir::ExprList* operands = long_list(expr);
    if (operands == nullptr) return ir::for_each_operand(program_, id, push);
    auto [found, added] = out_.long_lists.try_emplace(id);
    if (added) found->second = distinct(id, program_.operands(*operands));
    for (const Operand& operand : found->second) push(operand.expr);
  }

  // Null when the expression has few operands.
  const ir::ExprList* long_list(const ir::Expr& expr) const {
    const ir::ExprList* operands = nullptr;
    if (const ir::Call* call = std::get_if<ir::Call>(&expr)) operands = &call->arguments;
    if (const ir::Pack* pack = std::get_if<ir::Pack>(&expr)) operands = &pack->lanes;
    return operands != nullptr && program_.operands(*operands).size() > kLongList ? operands : nullptr;
  }

  std::vector<Operand> distinct(ExprId user, std::span<const ExprId> all) {
    std::vector<Operand> once;
    seen_.resize(program_.exprs().size());
    for (std::uint32_t k = 0; k < all.size(); ++k) {
      if (seen_[all[k]] == user) continue;
      seen_[all[k]] = user;
      once.push_back({all[k], k});
    }
    return once;
  }

  // Null for an unknown operation, which is V016, and for a procedure, which is V020.
  const ir::OpSignature* signature_of(std::uint32_t op) const {
    if (op == kNoOp) return nullptr;
    const ir::OpSpec& spec = *out_.callees[op]->spec;
    return spec.procedure() == nullptr ? &spec.function().signature : nullptr;
  }

  // Parameter k is local k, whatever is wrong with its name.
  void declare_parameters(const ir::OpSpec& op) {
    for (std::size_t k = 0; k < op.function().parameters.size(); ++k) {
      Local local;
      local.name = program_.names().find(op.function().parameters[k]);
      local.type = k < op.function().signature.inputs.size() ? op.function().signature.inputs[k] : kUnknownType;
      const LocalId id = out_.facts.locals.push_back(local);
      if (local.name.valid() && !live_[local.name].valid()) live_[local.name] = id;
    }
  }

  // An invalid id when the name is taken: V008, the first binding stays.
  LocalId declare(NameId name, ir::DataType type, NodeId declaration, bool loop_variable) {
    if (live_[name].valid()) return {};
    declared_.push_back(name);
    return live_[name] = out_.facts.locals.push_back({name, type, loop_variable, false, declaration});
  }

  void open_scope() { scopes_.push_back(declared_.size()); }
  void close_scope() {
    for (; declared_.size() > scopes_.back(); declared_.pop_back()) live_[declared_.back()] = {};
    scopes_.pop_back();
  }

  void stop_at(NodeId id) {
    out_.over_limit = id;
    out_.facts = Facts{};
    out_.facts.statements.resize(program_.nodes().size());
    out_.callees.clear();
    for (auto& steps : out_.steps_of_kind) steps.clear();
    for (auto& nodes : out_.nodes_of_kind) nodes.clear();
    out_.forbidden_steps.clear();
    out_.forbidden_nodes.clear();
    out_.operand_begin.clear();
    out_.operand_steps.clear();
  }

  std::uint32_t step_count() const { return static_cast<std::uint32_t>(out_.facts.steps.size()); }

  const ir::Program& program_;
  OpBodies& bodies_;
  bool limits_;
  Gathered out_;
  std::uint64_t count_ = 0;  // as V019 counts
  ir::PostOrder walk_;
  IdVector<NameId, BufferId> buffers_;
  IdVector<NameId, LocalId> live_;  // no shadowing, so a name has one meaning at a time
  IdVector<NameId, std::uint32_t> callees_;
  IdVector<ExprId, StepId> step_of_;  // in the statement being walked
  std::vector<NameId> declared_;
  std::vector<std::size_t> scopes_;
  IdVector<ExprId, ExprId> seen_;
};

}  // namespace

bool known(ir::DataType type) { return type != kUnknownType && type != ir::DataType::Bytes; }

Gathered gather(const ir::Program& program, const ir::OpSpec* op, OpBodies& bodies, bool limits) {
  return Gatherer(program, op, bodies, limits).run();
}

}  // namespace vyre::validate
