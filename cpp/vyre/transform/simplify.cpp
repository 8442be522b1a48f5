// Applies the rules of rewrites.def. The result of a rule is an operand or a literal, so no rule adds an evaluation. An operand that a rule
// drops must be `fixed` (see rebuild.hpp). A rule applies in the same way whether a value is bound by a Let or written in place (see
// meanings.hpp).
#include <array>

#include "vyre/ir/ops.hpp"
#include "vyre/transform/meanings.hpp"
#include "vyre/transform/passes.hpp"
#include "vyre/transform/rebuild.hpp"
#include "vyre/transform/rewrites.hpp"

namespace vyre::transform {
namespace {

using ir::DataType;
using rewrite::Kind;
using rewrite::Root;
using rewrite::Rule;
using rewrite::Signs;
using rewrite::Term;

class Simplifier {
 public:
  explicit Simplifier(const validate::ValidProgram& valid)
      : valid_(valid),
        program_(valid.program()),
        facts_(expr_facts(valid)),
        result_(program_.exprs().size()),
        meanings_(valid, facts_, result_) {}

  validate::ValidProgram run() {
    for (std::uint32_t index = 0; index < program_.exprs().size(); ++index) {
      const ExprId id{index};
      result_[id].by = id;
      if (const std::optional<Root> root = root_of(program_.expr(id))) simplify(id, *root);
    }
    return replace(valid_, result_);
  }

 private:
  // Which expressions a pattern's variables and terms stand for.
  struct Match {
    std::array<ExprId, rewrite::kMaxVariables> variables;
    std::array<ExprId, rewrite::kMaxTerms> terms;
  };

  // The root that a pattern can start with; nothing for expressions that no pattern names.
  static std::optional<Root> root_of(const ir::Expr& expr) {
    // The operators of a kind stand one after the other in ir::kOps.
    switch (kind(expr)) {
      case ir::ExprKind::Binary:
        return static_cast<Root>(number(ir::kBinOps[0]) + static_cast<Root>(std::get_if<ir::Binary>(&expr)->op));
      case ir::ExprKind::Unary:
        return static_cast<Root>(number(ir::kUnOps[0]) + static_cast<Root>(std::get_if<ir::Unary>(&expr)->op));
      case ir::ExprKind::Cast:
        return rewrite::kCastRoot;
      case ir::ExprKind::Lane:
        return rewrite::kLaneRoot;
      case ir::ExprKind::Pack:
        return rewrite::kPackRoot;
      default:
        if (const ir::OpInfo* op = ir::operator_of(expr)) return number(*op);
        return std::nullopt;
    }
  }

  // The operands of an expression that can be a root. Other expressions are never asked for theirs.
  struct Operands {
    std::array<ExprId, rewrite::kMaxArity> ids;
    std::size_t count = 0;
  };
  Operands operands_of(const ir::Expr& expr) const {
    Operands result;
    const auto push = [&](ExprId id) { result.ids[result.count++] = id; };
    const auto list = [&](ir::ExprList list) { return program_.operands(list); };
    // The two kinds that are nearly all.
    if (const auto* binary = std::get_if<ir::Binary>(&expr)) {
      push(binary->left);
      push(binary->right);
    } else if (const auto* unary = std::get_if<ir::Unary>(&expr)) {
      push(unary->operand);
    } else {
      for_each_operand(expr, list, push);
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
        if (meanings_.same(operands.ids[k], operands.ids[at])) signs[at] |= rewrite::kRepeatedSign;
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
      if (matches(rule, 0, id, match) && apply(id, rule, match)) return;
    }
  }

  // The properties of an operand that rules ask for, computed once for all rules.
  Signs signs_of(ExprId operand) {
    const Replacement& meant = meanings_.of(operand);
    if (meant.constant) return rewrite::kLiteralSign;
    const ExprId by = meant.by;
    const ir::Expr& expr = program_.expr(by);
    if (std::holds_alternative<ir::Literal>(expr)) return rewrite::kLiteralSign;
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
      if (bound.valid()) return meanings_.same(bound, id);
      const Replacement& meant = meanings_.of(id);
      if (term.kind == Kind::Truth && (meant.constant || !is_truth(meant.by))) return false;
      bound = id;
      return true;
    }
    const Replacement& meant = meanings_.of(id);
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
      case Kind::Operator:
        return root_of(expr) == term.op;
      case Kind::Cast: {
        const auto* cast = std::get_if<ir::Cast>(&expr);
        if (cast == nullptr || !facts_.types[cast->value]) return false;
        return ir::cast_kind(*facts_.types[cast->value], cast->target) == static_cast<ir::CastKind>(term.op);
      }
      case Kind::Lane: {
        const auto* lane = std::get_if<ir::Lane>(&expr);
        return lane != nullptr && lane->lane == term.op;
      }
      case Kind::Pack:
        return std::holds_alternative<ir::Pack>(expr);
      case Kind::Literal:
      case Kind::Truth:
      case Kind::Any:
        return false;
    }
    return false;
  }

  // Returns whether the rule was applied.
  bool apply(ExprId id, const Rule& rule, const Match& match) {
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
    const Replacement& result = meanings_.of(id);
    if (!result.constant && !std::holds_alternative<ir::Literal>(program_.expr(result.by))) return std::nullopt;
    const std::optional<Constant> constant = result.constant ? result.constant : constant_of(program_.expr(result.by));
    if (!constant || lanes(constant->type) != 1) return std::nullopt;
    return constant->value.lanes[0];
  }

  // Whether the value can only be 0 or 1.
  bool is_truth(ExprId id) const {
    const ir::Expr& expr = program_.expr(id);
    if (const ir::OpInfo* op = ir::operator_of(expr); op != nullptr && op->is_typed()) return op->laws & ir::kTruth;
    if (facts_.types[id] == DataType::Bool) return true;
    const auto* cast = std::get_if<ir::Cast>(&expr);
    return cast != nullptr && lanes(cast->target) == 1 && facts_.types[cast->value] == DataType::Bool;
  }

  const validate::ValidProgram& valid_;
  const ir::Program& program_;
  const ExprFacts facts_;
  IdVector<ExprId, Replacement> result_;
  Meanings meanings_;
};

}  // namespace

validate::ValidProgram simplify(const validate::ValidProgram& valid) { return Simplifier(valid).run(); }

}  // namespace vyre::transform
