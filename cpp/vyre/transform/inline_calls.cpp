// Expands every Call (docs/semantics.md, Calls), so that later stages know nothing of operations.
//
// A body that is one expression takes the place of the call: the arguments replace its parameters, and because a statement evaluates each
// expression once, each argument is still evaluated once. Any other body becomes statements in front of the caller's:
// `let __call<N>_<parameter> = argument` in order, then the body with its locals renamed, and the call becomes a use of the result.
// Expressions that the caller's statement evaluates before such a call, and that cannot be evaluated later (atomics, loads of writable
// memory), are bound in front of it as well, in evaluation order.
// A division that is kept is copied like an operator.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>

#include "vyre/base/error.hpp"
#include "vyre/transform/passes.hpp"
#include "vyre/transform/rebuild.hpp"
#include "vyre/transform/wide_divisions.hpp"
#include "vyre/validate/limits.hpp"

namespace vyre::transform {
namespace {

using validate::Facts;
using validate::Step;
using validate::ValidOp;
using validate::ValidProgram;

using validate::kMaxNestingDepth;
using validate::kMaxNodeCount;

// An operation that only returns a parameter or another operation's result adds no expression, so the limit of the size does not limit
// the work: 32 nested levels with two calls each take 2^32 expansions. The work of an expansion is kExpansionWork plus one for each
// argument.
constexpr std::size_t kMaxWork = 100'000'000, kExpansionWork = 100;

bool is_kept(const ir::Program& program, const Facts& facts, const Step& step, Kept kept) {
  if (kept == Kept::None || !wide_division(facts.ops[step.op]->spec())) return false;
  if (kept == Kept::Divisions) return true;
  const ir::ExprList arguments = std::get<ir::Call>(program.expr(step.expr)).arguments;
  return std::holds_alternative<ir::Literal>(program.expr(program.operands(arguments)[1]));
}

class Inliner {
 public:
  explicit Inliner(const ValidProgram& program, Kept kept = Kept::None) : source_(program), kept_(kept) {
    const Interner& names = program.program().names();
    for (std::uint32_t index = 0; index < names.size(); ++index) reserve_number(names.text(NameId{index}));
  }

  ValidProgram run(bool uniformity = true) {
    const ir::Program& program = source_.program();
    for (const ir::BufferDecl& decl : program.buffers()) to_.buffer(decl);
    to_.workgroup_size(program.workgroup_size());
    Frame entry(program, source_.facts(), "");
    expand_body(entry);
    ValidProgram result = validate_result(to_.finish(), kept_ops_, uniformity);
    // An expression that several statements share was added once, but each of them evaluates it, so it counts once for each of them.
    std::size_t size = result.facts().steps.size();
    for (const ir::Node& node : result.program().nodes()) size += is_counted(node);
    if (size > kMaxNodeCount && had_call_) refuse_size();
    return result;
  }

 private:
  // A program or a body whose statements are being copied.
  struct Frame {
    Frame(const ir::Program& program_, const Facts& facts_, std::string prefix_)
        : program(program_),
          facts(facts_),
          prefix(std::move(prefix_)),
          names(facts_.locals.size()),
          moved(program_.exprs().size()),
          users(program_.exprs().size(), 0),
          fixed(program_.exprs().size(), 0) {}

    const ir::Program& program;
    const Facts& facts;
    std::string prefix;  // goes before the names of its locals; empty for the entry
    IdVector<LocalId, NameId> names;
    // By expression of the current statement: its copy, how many expressions and roots use it, and whether it gives the same value at any
    // time within the statement.
    IdVector<ExprId, ExprId> moved;
    IdVector<ExprId, std::uint32_t> users;
    IdVector<ExprId, std::uint8_t> fixed;
  };

  static bool is_counted(const ir::Node& node) { return !std::holds_alternative<ir::Else>(node) && !std::holds_alternative<ir::End>(node); }

  [[noreturn]] void refuse_size() const {
    throw LoweringError(fmt::format(
        "expanding `{}` makes the program larger than {} statements and expressions. Fix: call it less often, or split the program.",
        user_op_, kMaxNodeCount));
  }

  void charge() {
    if (++size_ > kMaxNodeCount && had_call_) refuse_size();
  }
  void charge_expansion(std::size_t arguments) {
    work_ += kExpansionWork + arguments;
    if (work_ > kMaxWork) refuse_size();
  }

  ExprId add(const ir::Expr& expr) {
    charge();
    return to_.add(expr);
  }

  // The program may already have a variable such as `__call0_t`. Then fresh_prefix() skips the number 0.
  void reserve_number(std::string_view text) {
    constexpr std::string_view kPrefix = "__call";
    if (!text.starts_with(kPrefix)) return;
    const char* end = text.data() + text.size();
    std::uint64_t number = 0;
    auto [after, error] = std::from_chars(text.data() + kPrefix.size(), end, number);
    if (error == std::errc() && after != end && *after == '_') taken_.insert(number);
  }
  std::string fresh_prefix() {
    while (taken_.contains(next_number_)) ++next_number_;
    return fmt::format("__call{}_", next_number_++);
  }

  NameId name(Frame& frame, LocalId local) {
    NameId& result = frame.names[local];
    if (!result.valid()) result = to_.name(frame.prefix + std::string(frame.program.text(frame.facts.locals[local].name)));
    return result;
  }

  // Whether the step is a call that is expanded. The others are copied.
  bool is_expanded(const ir::Program& program, const Facts& facts, const Step& step) {
    if (step.op == ~0u) return false;
    if (!is_kept(program, facts, step, kept_)) return true;
    if (std::ranges::find(kept_ops_, facts.ops[step.op]) == kept_ops_.end()) kept_ops_.push_back(facts.ops[step.op]);
    return false;
  }

  // Whether calls of the operation expand to an expression, without statements: its body is one Let, and the operations called there expand
  // to expressions, too.
  bool is_expression(const ValidOp& op) {
    auto [found, is_new] = expression_.try_emplace(&op, false);
    if (!is_new || op.body().nodes().size() != 1) return found->second;
    bool result = true;
    for (const Step& step : op.facts().steps) {
      if (is_expanded(op.body(), op.facts(), step) && !is_expression(*op.facts().ops[step.op])) result = false;
    }
    return expression_[&op] = result;
  }

  // The recursion is as deep as operations call each other: 32 (V017).
  ExprId expand_expression(const ValidOp& op, std::span<const ExprId> arguments) {
    charge_expansion(arguments.size());
    const ir::Program& body = op.body();
    IdVector<ExprId, ExprId> moved(body.exprs().size());
    std::vector<ExprId> inner;
    ExprId last;
    for (const Step& step : op.facts().steps) {
      const ir::Expr& expr = body.expr(step.expr);
      if (std::holds_alternative<ir::Var>(expr)) {
        last = arguments[step.local.index];  // there are no locals but the parameters, which come first
      } else if (is_expanded(body, op.facts(), step)) {
        inner.clear();
        for (ExprId id : body.operands(std::get<ir::Call>(expr).arguments)) inner.push_back(moved[id]);
        last = expand_expression(*op.facts().ops[step.op], inner);
      } else {
        last = add(copy_expr(
            body, expr, to_, [&](ExprId id) { return moved[id]; }, [&](NameId id) { return to_.name(body.text(id)); }));
      }
      moved[step.expr] = last;
    }
    return last;
  }

  // Emits the statements of the body, and returns an expression that reads its result.
  ExprId expand_statements(const ValidOp& op, std::span<const ExprId> arguments) {
    charge_expansion(arguments.size());
    Frame frame(op.body(), op.facts(), fresh_prefix());
    for (std::uint32_t k = 0; k < arguments.size(); ++k) {
      // The parameter is named here, because the body need not mention it.
      frame.names[LocalId{k}] = to_.name(frame.prefix + op.spec().function().parameters[k]);
      let(frame.names[LocalId{k}], arguments[k]);
    }
    expand_body(frame);
    return add(ir::Var{name(frame, op.result())});
  }

  void let(NameId name, ExprId value) {
    charge();
    to_.let(name, value);
  }

  void expand_body(Frame& frame) {
    for (std::uint32_t index = 0; index < frame.program.nodes().size(); ++index) expand_statement(frame, NodeId{index});
  }

  void expand_statement(Frame& frame, NodeId id) {
    const ir::Node& node = frame.program.node(id);
    expand_operands(frame, id);
    if (is_counted(node)) charge();
    const bool opens =
        std::holds_alternative<ir::If>(node) || std::holds_alternative<ir::Loop>(node) || std::holds_alternative<ir::Block>(node);
    if (opens && !is_entry(frame)) {
      if (to_.open_blocks() >= kMaxNestingDepth) {
        throw LoweringError(fmt::format("expanding `{}` nests statements deeper than {}. Fix: call it where fewer statements enclose it.",
                                        user_op_, kMaxNestingDepth));
      }
    }
    const LocalId local = frame.facts.statements[id].local;
    copy_node(
        node, to_, [&](ExprId root) { return frame.moved[root]; },
        [&](NameId old) { return local.valid() ? name(frame, local) : to_.name(frame.program.text(old)); },
        is_entry(frame) ? frame.program.place(id) : ir::SourcePlace());
  }

  // Whether the frame is the program itself, not the body of an operation.
  bool is_entry(const Frame& frame) const { return &frame.facts == &source_.facts(); }
  static bool changes_memory(const Frame& frame, const Step& step) {
    return std::holds_alternative<ir::Atomic>(frame.program.expr(step.expr));
  }
  bool reads_changing_memory(const Frame& frame, const Step& step) const { return is_entry(frame) && is_writable_load(source_, step); }

  // The calls of a statement that become statements.
  struct StatementCalls {
    std::vector<std::uint8_t> by_step;  // empty if the statement has no calls
    std::size_t last = 0;               // the last of them; 0 if there are none
    bool contains(std::size_t step) const { return by_step[step] != 0; }
  };

  // Also counts in frame.users the users of each expression of the statement, if it has calls.
  StatementCalls find_statement_calls(Frame& frame, NodeId node) {
    const std::span<const Step> steps = frame.facts.steps_of(node);
    StatementCalls calls;
    if (std::ranges::none_of(steps, [](const Step& step) { return step.op != ~0u; })) return calls;
    const bool has_atomic = std::ranges::any_of(steps, [&](const Step& step) { return changes_memory(frame, step); });
    calls.by_step.resize(steps.size());
    for (const Step& step : steps) frame.users[step.expr] = 0;
    for_each_root(frame.program.node(node), [&](ExprId root) { ++frame.users[root]; });
    for (std::size_t at = 0; at < steps.size(); ++at) {
      const Step& step = steps[at];
      bool fixed = !changes_memory(frame, step) && !reads_changing_memory(frame, step);
      for_each_operand(frame.program, step.expr, [&](ExprId operand) {
        ++frame.users[operand];
        fixed = fixed && frame.fixed[operand];
      });
      frame.fixed[step.expr] = fixed;
      if (!is_expanded(frame.program, frame.facts, step)) continue;
      // In a statement without atomics it does not matter when a load is made, because nothing changes memory between the loads.
      if (!is_expression(*frame.facts.ops[step.op]) || (has_atomic && !fixed)) {
        calls.by_step[at] = 1;
        calls.last = at;
      }
    }
    return calls;
  }

  // Copies the expressions of the statement. Emits the statements that its calls expand to in front of it. Atomics, loads of writable
  // memory and shared expressions before the last of these calls are bound in front of its statements.
  void expand_operands(Frame& frame, NodeId node) {
    const std::span<const Step> steps = frame.facts.steps_of(node);
    const StatementCalls calls = find_statement_calls(frame, node);
    std::vector<ExprId> arguments;
    for (std::size_t at = 0; at < steps.size(); ++at) {
      const Step& step = steps[at];
      const ir::Expr& expr = frame.program.expr(step.expr);
      ExprId& moved = frame.moved[step.expr];
      if (std::holds_alternative<ir::Var>(expr)) {
        moved = add(ir::Var{name(frame, step.local)});
        continue;
      }
      if (is_expanded(frame.program, frame.facts, step)) {
        const auto& call = std::get<ir::Call>(expr);
        if (is_entry(frame)) user_op_ = frame.program.text(call.op);
        had_call_ = true;
        arguments.clear();
        for (ExprId id : frame.program.operands(call.arguments)) arguments.push_back(frame.moved[id]);
        const ValidOp& op = *frame.facts.ops[step.op];
        moved = calls.contains(at) ? expand_statements(op, arguments) : expand_expression(op, arguments);
      } else {
        moved = add(copy_expr(
            frame.program, expr, to_, [&](ExprId id) { return frame.moved[id]; },
            [&](NameId id) { return to_.name(frame.program.text(id)); }));
      }
      if (at >= calls.last) continue;
      // An expression that two users share may end up in two statements, and would be evaluated by both.
      const bool shared = frame.users[step.expr] > 1 && !is_leaf(to_.expr(moved));
      if (changes_memory(frame, step) || reads_changing_memory(frame, step) || shared) {
        const NameId fresh = to_.name(fresh_prefix() + "value");
        let(fresh, moved);
        moved = add(ir::Var{fresh});
      }
    }
  }

  static bool is_leaf(const ir::Expr& expr) {
    bool leaf = true;
    for_each_operand(
        expr, [](ir::ExprList) { return std::array<ExprId, 1>{}; }, [&](ExprId) { leaf = false; });
    return leaf;
  }

  const ValidProgram& source_;
  const Kept kept_;
  Operations kept_ops_;
  ir::ProgramBuilder to_;
  std::unordered_set<std::uint64_t> taken_;
  std::uint64_t next_number_ = 0;
  std::unordered_map<const ValidOp*, bool> expression_;
  std::string user_op_;  // the operation that the program itself calls, and whose call is being expanded; for messages
  bool had_call_ = false;
  std::size_t size_ = 0, work_ = 0;
};

bool has_calls(const ValidProgram& program) { return !program.facts().ops.empty(); }

// Whether the calls that are kept may make the program too large once they are expanded.
bool may_outgrow(const ValidProgram& program) {
  std::size_t size = program.facts().steps.size() + program.program().nodes().size();
  for (const Step& step : program.facts().steps) {
    if (step.op == ~0u) continue;
    const ValidOp& op = *program.facts().ops[step.op];
    size += 2 * (op.facts().steps.size() + op.body().nodes().size());
  }
  return size > kMaxNodeCount;
}

}  // namespace

ValidProgram inline_calls(const ValidProgram& program, Kept kept) {
  if (!has_calls(program)) return program;
  const auto is_expanded = [&](const Step& step) { return step.op != ~0u && !is_kept(program.program(), program.facts(), step, kept); };
  const ValidProgram result = std::ranges::any_of(program.facts().steps, is_expanded) ? Inliner(program, kept).run() : program;
  // All backends refuse the same programs, whatever lowering has code for.
  if (has_calls(result) && may_outgrow(result)) Inliner(result).run(false);
  return result;
}

// V010 (uniformity) is not checked, because checked execution finds divergent barriers itself.
void check_expansion(const ValidProgram& program) {
  if (has_calls(program)) Inliner(program).run(false);
}

}  // namespace vyre::transform
