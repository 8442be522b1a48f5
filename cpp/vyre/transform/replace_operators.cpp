// Writes a Call in place of each operator, and lets inline_calls expand it.
#include "vyre/transform/replace_operators.hpp"

#include <algorithm>
#include <array>

#include "vyre/base/assert.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/transform/passes.hpp"
#include "vyre/transform/rebuild.hpp"

namespace vyre::transform {
namespace {

class Replacer {
 public:
  explicit Replacer(std::span<const OperatorBody> bodies) {
    for (const OperatorBody& body : bodies) operations_[number(*body.op.row)] = body.operation;
  }

  // The operation that replaces an expression; empty when the expression stays.
  std::string_view operation(const ir::Expr& expr) const {
    const ir::OpInfo* op = ir::operator_of(expr);
    return op == nullptr ? std::string_view() : operations_[number(*op)];
  }

  bool changes(const ir::Program& program) const {
    return std::ranges::any_of(program.exprs().items(), [&](const ir::Expr& expr) { return !operation(expr).empty(); });
  }

 private:
  std::array<std::string_view, ir::kOps.size()> operations_{};
};

}  // namespace

validate::ValidProgram replace_operators(const validate::ValidProgram& valid, std::span<const OperatorBody> bodies,
                                         const ir::OpTable& operations) {
  const ir::Program& program = valid.program();
  const Replacer replacer(bodies);
  if (!replacer.changes(program)) return valid;

  Rebuild rebuild(valid);
  IdVector<ExprId, ExprId> moved(program.exprs().size());
  for (std::uint32_t index = 0; index < program.exprs().size(); ++index) {
    const ExprId id{index};
    const std::string_view operation = replacer.operation(program.expr(id));
    if (operation.empty()) {
      moved[id] = rebuild.copy(id, [&](ExprId operand) { return moved[operand]; });
      continue;
    }
    std::vector<ExprId> arguments;
    for_each_operand(program, id, [&](ExprId operand) { arguments.push_back(moved[operand]); });
    moved[id] = rebuild.to().add(ir::Call{rebuild.to().name(operation), rebuild.to().list(arguments)});
  }
  for (std::uint32_t index = 0; index < program.nodes().size(); ++index) {
    rebuild.copy(NodeId{index}, [&](ExprId root) { return moved[root]; });
  }
  const validate::Verdict verdict = validate::validate(rebuild.to().finish(), operations, {.limits = false, .uniformity = false});
  VYRE_ASSERT(verdict.program.has_value());
  const validate::ValidProgram result = inline_calls(*verdict.program);
  VYRE_ASSERT(!replacer.changes(result.program()));
  return result;
}

}  // namespace vyre::transform
