// Applies the rules of rewrites.def. Each gives an operand or a literal, so nothing is evaluated that was not; where an operand is
// dropped, it must be `fixed` (see rebuild.hpp). A variable that stands for one expression for good is looked through: whether a value
// is bound by a Let or written in place makes no difference to what is known of it.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "vyre/transform/passes.hpp"
#include "vyre/transform/rebuild.hpp"
#include "vyre/transform/rewrites.hpp"
#include "vyre/transform/value_key.hpp"

namespace vyre::transform {
namespace {

using ir::DataType;
using rewrite::Kind;
using rewrite::Root;
using rewrite::Rule;
using rewrite::Signs;
using rewrite::Term;
using validate::Step;

class Simplifier {
 public:
  explicit Simplifier(const validate::ValidProgram& valid)
      : valid_(valid),
        program_(valid.program()),
        facts_(expr_facts(valid)),
        result_(program_.exprs().size()),
        locals_(program_.exprs().size()),
        bindings_(valid.facts().locals.size()) {
    find_bound();
  }

  validate::ValidProgram run() {
    for (std::uint32_t index = 0; index < program_.exprs().size(); ++index) {
      const ExprId id{index};
      result_[id].by = id;
      if (const std::optional<Root> root = root_of(program_.expr(id))) simplify(id, *root);
    }
    return replace(valid_, result_);
  }

 private:
  // More expressions are not searched for what may be known of a value.
  static constexpr std::size_t kMostLookedAt = 64;
  // Of a local.
  struct Binding {
    ExprId value;                         // of its Let, when it is never assigned
    std::uint32_t let = 0, last_use = 0;  // statements
    bool several = false, judged = false;
  };

  // What each variable stands for: the value of its Let.
  void find_bound() {
    const validate::Facts& facts = valid_.facts();
    std::vector<NodeId> loops;  // around the statement, the innermost last
    for (std::uint32_t index = 0; index < program_.nodes().size(); ++index) {
      const NodeId id{index};
      const ir::Node& node = program_.node(id);
      for (const Step& step : facts.steps_of(id)) {
        if (!step.local.valid()) continue;
        LocalId& local = locals_[step.expr];
        if (!local.valid()) local = step.local;
        // A name may be that of several locals; then nothing is known of it.
        if (local != step.local) bindings_[local].several = bindings_[step.local].several = true;
        Binding& binding = bindings_[step.local];
        // A loop that the Let is not in reads it in every round.
        const auto outermost = std::ranges::upper_bound(loops, NodeId{binding.let});
        binding.last_use =
            std::max(binding.last_use, outermost == loops.end() ? index : std::get_if<ir::Loop>(&program_.node(*outermost))->end.index);
      }
      const LocalId local = facts.statements[id].local;
      if (const auto* let = std::get_if<ir::Let>(&node)) {
        bindings_[local].let = index;
        if (!facts.locals[local].assigned) bindings_[local].value = let->value;
      } else if (std::holds_alternative<ir::Loop>(node)) {
        bindings_[local].let = index;
        loops.push_back(id);
      } else if (std::holds_alternative<ir::Assign>(node)) {
        assigns_.emplace_back(local, index);
      } else if (const auto* end = std::get_if<ir::End>(&node); end != nullptr && !loops.empty() && loops.back() == end->opener) {
        loops.pop_back();
      }
    }
    std::ranges::sort(assigns_);
    // A variable is looked through to what its Let reads, so that this is used wherever the variable is.
    for (std::uint32_t index = static_cast<std::uint32_t>(program_.nodes().size()); index-- > 0;) {
      const NodeId id{index};
      if (!std::holds_alternative<ir::Let>(program_.node(id))) continue;
      const Binding user = bindings_[facts.statements[id].local];
      for (const Step& step : facts.steps_of(id)) {
        if (step.local.valid()) bindings_[step.local].last_use = std::max(bindings_[step.local].last_use, user.last_use);
      }
    }
  }

  // Whether some statement between the two assigns the local.
  bool is_assigned_between(LocalId local, std::uint32_t after, std::uint32_t before) const {
    const auto next = std::ranges::upper_bound(assigns_, std::pair(local, after));
    return next != assigns_.end() && next->first == local && next->second < before;
  }

  // The value that a variable stands for wherever it is read; invalid for other expressions.
  ExprId value_of(ExprId id) {
    const LocalId local = locals_[id];
    if (!local.valid()) return {};
    Binding& binding = bindings_[local];
    // An operand's fate is decided before its user's.
    if (!binding.value.valid() || binding.several || binding.value.index > id.index) return {};
    if (!binding.judged) {
      binding.judged = true;
      if (!stays(binding)) binding.value = ExprId{};
    }
    return binding.value;
  }

  // Whether it gives in every use what it gave to the Let: it reaches no effect, and no variable that is assigned in between. Further
  // down in a loop around both, an assignment is followed by the Let again.
  bool stays(const Binding& binding) const {
    std::array<ExprId, kMostLookedAt> pending{binding.value};
    std::size_t end = 1;
    bool result = true;
    for (std::size_t next = 0; next < end && result; ++next) {
      const Replacement& found = result_[pending[next]];
      if (found.constant) continue;
      if (locals_[found.by].valid()) result = !is_assigned_between(locals_[found.by], binding.let, binding.last_use);
      result = result && facts_.repeatable[found.by];
      for_each_operand(program_, found.by, [&](ExprId operand) {
        result = result && end < pending.size();
        if (result) pending[end++] = operand;
      });
    }
    return result;
  }

  // What an expression has become, looked at through variables.
  const Replacement& meaning(ExprId id) {
    const Replacement* result = &result_[id];
    while (!result->constant) {
      const ExprId value = value_of(result->by);
      if (!value.valid()) break;
      result = &result_[value];
    }
    return *result;
  }

  // Equal expressions of one statement are one (merge_duplicates), but a Let may stand between two of them.
  bool same(ExprId a, ExprId b) {
    if (a == b) return true;
    const Replacement& one = meaning(a);
    const Replacement& other = meaning(b);
    if (one.constant || other.constant) return same_throughout(a, b);
    if (one.by == other.by) return true;
    const ir::Expr& expr = program_.expr(one.by);
    if (kind(expr) != kind(program_.expr(other.by))) return false;
    if (const auto* binary = std::get_if<ir::Binary>(&expr); binary != nullptr) {
      if (binary->op != std::get_if<ir::Binary>(&program_.expr(other.by))->op) return false;
    }
    return same_throughout(a, b);
  }
  bool is_literal(const Replacement& found) const { return found.constant || kind(program_.expr(found.by)) <= ir::ExprKind::LitU64; }
  bool same_throughout(ExprId a, ExprId b) {
    std::array<std::pair<ExprId, ExprId>, kMostLookedAt> pending{std::pair(a, b)};
    std::size_t end = 1;
    for (std::size_t next = 0; next < end; ++next) {
      const auto [left, right] = pending[next];
      if (left == right) continue;
      const Replacement& one = meaning(left);
      const Replacement& other = meaning(right);
      if (!one.constant && !other.constant && one.by == other.by) continue;
      if (is_literal(one) || is_literal(other)) {
        if (!is_literal(one) || !is_literal(other)) return false;
        const Constant known = one.constant ? *one.constant : *constant_of(program_.expr(one.by));
        const Constant known_too = other.constant ? *other.constant : *constant_of(program_.expr(other.by));
        if (known.type != known_too.type || known.value.lanes != known_too.value.lanes) return false;
        continue;
      }
      const ir::Expr& expr = program_.expr(one.by);
      if (kind(expr) != kind(program_.expr(other.by)) || !facts_.repeatable[one.by] || !facts_.repeatable[other.by]) return false;
      const auto any = [](ExprId) { return ExprId{0}; };
      if (value_key(program_, expr, any) != value_key(program_, program_.expr(other.by), any)) return false;
      const std::size_t begin = end;
      for_each_operand(program_, one.by, [&](ExprId operand) {
        if (end < pending.size()) pending[end].first = operand;
        ++end;
      });
      if (end > pending.size()) return false;
      std::size_t at = begin;
      for_each_operand(program_, other.by, [&](ExprId operand) { pending[at++].second = operand; });
    }
    return true;
  }

  // Which expressions a pattern's variables and terms stand for.
  struct Match {
    std::array<ExprId, rewrite::kMaxVariables> variables;
    std::array<ExprId, rewrite::kMaxTerms> terms;
  };

  // What a pattern can start with; nothing for the expressions that no pattern names.
  static std::optional<Root> root_of(const ir::Expr& expr) {
    switch (kind(expr)) {
      case ir::ExprKind::Binary:
        return static_cast<Root>(std::get_if<ir::Binary>(&expr)->op);
      case ir::ExprKind::Unary:
        return static_cast<Root>(rewrite::kUnaryRoot + static_cast<Root>(std::get_if<ir::Unary>(&expr)->op));
      case ir::ExprKind::Cast:
        return rewrite::kCastRoot;
      case ir::ExprKind::Select:
        return rewrite::kSelectRoot;
      case ir::ExprKind::Lane:
        return rewrite::kLaneRoot;
      case ir::ExprKind::Pack:
        return rewrite::kPackRoot;
      case ir::ExprKind::LitU32:
      case ir::ExprKind::LitI32:
      case ir::ExprKind::LitBool:
      case ir::ExprKind::LitU64:
      case ir::ExprKind::Var:
      case ir::ExprKind::Load:
      case ir::ExprKind::BufLen:
      case ir::ExprKind::GridId:
      case ir::ExprKind::Call:
      case ir::ExprKind::Atomic:
        return std::nullopt;
    }
    return std::nullopt;
  }

  // Only what can be a root has operands here.
  struct Operands {
    std::array<ExprId, rewrite::kMaxArity> ids;
    std::size_t count = 0;
  };
  Operands operands_of(const ir::Expr& expr) const {
    Operands result;
    auto push = [&](ExprId id) { result.ids[result.count++] = id; };
    switch (kind(expr)) {
      case ir::ExprKind::Binary:
        push(std::get_if<ir::Binary>(&expr)->left);
        push(std::get_if<ir::Binary>(&expr)->right);
        break;
      case ir::ExprKind::Unary:
        push(std::get_if<ir::Unary>(&expr)->operand);
        break;
      default:
        for_each_operand(
            expr, [&](ir::ExprList list) { return program_.operands(list); }, push);
    }
    return result;
  }

  void simplify(ExprId id, Root root) {
    const std::span<const Rule> rules = rewrite::kTable.of(root);
    const Operands operands = operands_of(program_.expr(id));
    std::array<Signs, rewrite::kMaxArity> signs{};
    Signs any = 0;
    for (std::size_t at = 0; at < operands.count; ++at) {
      signs[at] = signs_of(operands.ids[at]);
      for (std::size_t k = 0; k < at; ++k) {
        if (same(operands.ids[k], operands.ids[at])) signs[at] |= rewrite::kRepeatedSign;
      }
      any |= signs[at];
    }
    const Signs wanted = rewrite::kTable.signs[root];
    if (wanted != 0 && (any & wanted) == 0) return;
    Match match;
    for (const Rule& rule : rules) {
      bool possible = true;
      for (std::size_t k = 0; k < operands.count; ++k) possible = possible && (rule.signs[k] & ~signs[k]) == 0;
      if (!possible) continue;
      match.variables = {};
      if (matches(rule, 0, id, match) && becomes(id, rule, match)) return;
    }
  }

  // What a rule may want an operand to be, found without looking at rules.
  Signs signs_of(ExprId operand) {
    const Replacement& meant = meaning(operand);
    if (meant.constant) return rewrite::kLiteralSign;
    const ExprId by = meant.by;
    const ir::Expr& expr = program_.expr(by);
    if (kind(expr) <= ir::ExprKind::LitU64) return rewrite::kLiteralSign;
    const Signs truth = is_truth(by) ? rewrite::kTruthSign : 0;
    const std::optional<Root> root = root_of(expr);
    return root ? rewrite::sign(*root) | truth : truth;
  }

  // The recursion is as deep as a pattern.
  bool matches(const Rule& rule, std::uint8_t at, ExprId id, Match& match) {
    const Term& term = rule.pattern[at];
    match.terms[at] = id;
    if (term.kind == Kind::Literal) {
      const std::optional<std::uint32_t> known = bits(id);
      return known && term.condition(*known);
    }
    if (term.is_variable()) {
      ExprId& bound = match.variables[term.variable];
      if (bound.valid()) return same(bound, id);
      const Replacement& meant = meaning(id);
      if (term.kind == Kind::Truth && (meant.constant || !is_truth(meant.by))) return false;
      bound = id;
      return true;
    }
    const Replacement& meant = meaning(id);
    if (meant.constant) return false;
    const ir::Expr& expr = program_.expr(meant.by);
    if (!has_head(expr, term)) return false;
    const Operands operands = operands_of(expr);
    if (operands.count != term.arity) return false;
    for (std::size_t k = 0; k < operands.count; ++k) {
      if (!matches(rule, term.operands[k], operands.ids[k], match)) return false;
    }
    return true;
  }

  bool has_head(const ir::Expr& expr, const Term& term) const {
    switch (term.kind) {
      case Kind::Binary: {
        const auto* binary = std::get_if<ir::Binary>(&expr);
        return binary != nullptr && binary->op == static_cast<ir::BinOp>(term.op);
      }
      case Kind::Unary: {
        const auto* unary = std::get_if<ir::Unary>(&expr);
        return unary != nullptr && unary->op == static_cast<ir::UnOp>(term.op);
      }
      case Kind::Cast: {
        const auto* cast = std::get_if<ir::Cast>(&expr);
        if (cast == nullptr || !facts_.types[cast->value]) return false;
        return ir::cast_kind(*facts_.types[cast->value], cast->target) == static_cast<ir::CastKind>(term.op);
      }
      case Kind::Lane: {
        const auto* lane = std::get_if<ir::Lane>(&expr);
        return lane != nullptr && lane->lane == term.op;
      }
      case Kind::Select:
        return std::holds_alternative<ir::Select>(expr);
      case Kind::Pack:
        return std::holds_alternative<ir::Pack>(expr);
      case Kind::Literal:
      case Kind::Truth:
      case Kind::Any:
        return false;
    }
    return false;
  }

  bool becomes(ExprId id, const Rule& rule, const Match& match) {
    for (std::uint8_t variable = 0; variable < match.variables.size(); ++variable) {
      const ExprId bound = match.variables[variable];
      if ((rule.dropped >> variable & 1u) && !result_[bound].constant && !facts_.fixed[result_[bound].by]) return false;
    }
    const std::optional<DataType> type = facts_.types[id];
    if (rule.is_literal) {
      if (!type) return false;
      result_[id].constant = Constant{*type, ir::scalar(rule.bits)};
      return true;
    }
    const ExprId by = match.terms[rule.result];
    if (rule.needs_types && (!type || type_of(by) != type)) return false;
    result_[id] = result_[by];
    return true;
  }

  std::optional<DataType> type_of(ExprId id) const {
    return result_[id].constant ? result_[id].constant->type : facts_.types[result_[id].by];
  }

  // The bits of a literal of one lane.
  std::optional<std::uint32_t> bits(ExprId id) {
    const Replacement& result = meaning(id);
    if (!result.constant && kind(program_.expr(result.by)) > ir::ExprKind::LitU64) return std::nullopt;
    const std::optional<Constant> constant = result.constant ? result.constant : constant_of(program_.expr(result.by));
    if (!constant || lanes(constant->type) != 1) return std::nullopt;
    return constant->value.lanes[0];
  }

  // Can only be 0 or 1.
  bool is_truth(ExprId id) const {
    const ir::Expr& expr = program_.expr(id);
    if (const auto* binary = std::get_if<ir::Binary>(&expr)) return info(binary->op).laws & ir::kTruth;
    if (const auto* unary = std::get_if<ir::Unary>(&expr)) return info(unary->op).laws & ir::kTruth;
    if (facts_.types[id] == DataType::Bool) return true;
    const auto* cast = std::get_if<ir::Cast>(&expr);
    return cast != nullptr && lanes(cast->target) == 1 && facts_.types[cast->value] == DataType::Bool;
  }

  const validate::ValidProgram& valid_;
  const ir::Program& program_;
  const ExprFacts facts_;
  IdVector<ExprId, Replacement> result_;
  IdVector<ExprId, LocalId> locals_;  // of variables
  IdVector<LocalId, Binding> bindings_;
  std::vector<std::pair<LocalId, std::uint32_t>> assigns_;
};

}  // namespace

validate::ValidProgram simplify(const validate::ValidProgram& valid) { return Simplifier(valid).run(); }

}  // namespace vyre::transform
