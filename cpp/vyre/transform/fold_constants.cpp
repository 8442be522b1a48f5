// Constant folding: replaces expressions that are computed only from literals. The definitions of semantics.hpp compute their values.
#include <algorithm>

#include "vyre/ir/semantics.hpp"
#include "vyre/transform/passes.hpp"
#include "vyre/transform/rebuild.hpp"

namespace vyre::transform {
namespace {

using ir::DataType;

using Constants = IdVector<ExprId, std::optional<Constant>>;

std::optional<Constant> evaluate(const ir::Program& program, const ir::Expr& expr, const Constants& constants) {
  using Known = std::optional<Constant>;
  const Known none;
  // clang-format off
  return match(
      expr,
      [&](const ir::Literal&) { return constant_of(expr); },
      [&](const auto&) { return none; },
      [&](const ir::Applied auto& it) {
        const auto operands = ir::applied_to(it);
        if (!std::ranges::all_of(operands, [&](ExprId id) { return constants[id].has_value(); })) return none;
        const auto bits = [&](auto... id) { return ir::evaluate(it.op, constants[id]->value.lanes[0]...); };
        return Known(Constant{info(it.op).result, ir::scalar(std::apply(bits, operands))});
      },
      [&](const ir::Cast& cast) {
        const Known& value = constants[cast.value];
        if (!value) return none;
        const std::optional<ir::CastKind> kind = ir::cast_kind(value->type, cast.target);
        if (!kind) return none;
        return Known(Constant{cast.target, ir::cast(*kind, value->value, lanes(value->type), lanes(cast.target))});
      },
      [&](const ir::Lane& lane) {
        const Known& value = constants[lane.value];
        if (!value) return none;
        return Known(Constant{DataType::U32, ir::scalar(value->value.lanes[lane.lane])});
      },
      [&](const ir::Pack& pack) {
        Constant result{pack.type, {}};
        std::size_t at = 0;
        for (ExprId id : program.operands(pack.lanes)) {
          if (!constants[id]) return none;
          result.value.lanes[at++] = constants[id]->value.lanes[0];
        }
        return Known(result);
      });
  // clang-format on
}

}  // namespace

validate::ValidProgram fold_constants(const validate::ValidProgram& valid) {
  const ir::Program& program = valid.program();
  const ExprFacts facts = expr_facts(valid);
  Constants constants(program.exprs().size());
  IdVector<ExprId, Replacement> replacements(program.exprs().size());
  for (std::uint32_t index = 0; index < program.exprs().size(); ++index) {
    const ExprId id{index};
    const ir::Expr& expr = program.expr(id);
    replacements[id].by = id;
    if (const auto* select = std::get_if<ir::Select>(&expr)) {
      const std::optional<Constant>& condition = constants[select->condition];
      if (!condition) continue;
      const bool taken = condition->value.lanes[0] != 0;
      const ExprId chosen = taken ? select->if_true : select->if_false;
      const ExprId other = taken ? select->if_false : select->if_true;
      // A Select evaluates both operands, so the operand that is not chosen may be dropped only if its evaluation cannot be observed.
      if (!facts.fixed[other]) continue;
      replacements[id] = replacements[chosen];
      constants[id] = constants[chosen];
      continue;
    }
    constants[id] = evaluate(program, expr, constants);
    // A vector has no literal and is not replaced, but an expression that takes a lane of a known vector is folded.
    if (constants[id] && literal(*constants[id]) && !constant_of(expr)) replacements[id].constant = constants[id];
  }
  return replace(valid, replacements);
}

}  // namespace vyre::transform
