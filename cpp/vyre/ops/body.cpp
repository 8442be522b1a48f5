#include "vyre/ops/body.hpp"

#include <fmt/format.h>

#include <unordered_set>

#include "vyre/base/assert.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre::ops {

void add_result(std::span<const std::string> parameters, std::vector<ir::NodeHandle>& statements, ir::ExprHandle result,
                ir::SourcePlace place) {
  std::unordered_set<std::string_view> taken(parameters.begin(), parameters.end());
  std::vector<const ir::NodeHandle*> open;
  open.reserve(statements.size());
  for (const ir::NodeHandle& statement : statements) open.push_back(&statement);
  while (!open.empty()) {
    const ir::NodeData& statement = **open.back();
    open.pop_back();
    taken.insert(statement.name);
    for (const ir::NodeHandle& inner : statement.body) open.push_back(&inner);
    for (const ir::NodeHandle& inner : statement.otherwise) open.push_back(&inner);
  }
  std::string name = "result";
  for (int suffix = 1; taken.contains(name); ++suffix) name = fmt::format("result_{}", suffix);

  statements.push_back(ir::node::let(std::move(name), std::move(result), place));
}

ir::Program make_body(std::span<const std::string> parameters, std::vector<ir::NodeHandle> statements, ir::ExprHandle result,
                      ir::SourcePlace place) {
  add_result(parameters, statements, std::move(result), place);
  return ir::make_program({}, {1, 1, 1}, statements, place);
}

ir::ExprHandle Body::let(std::string_view name, Expr value) {
  statements_.push_back(ir::node::let(std::string(name), std::move(value)));
  return ir::expr::var(std::string(name));
}

void Body::assign(const Expr& variable, Expr value) {
  VYRE_ASSERT(variable->kind == ir::ExprKind::Var);
  statements_.push_back(ir::node::assign(variable->name, std::move(value)));
}

void Body::if_(Expr condition, const std::function<void()>& then) {
  std::vector<ir::NodeHandle> body = inner(then);
  statements_.push_back(ir::node::if_(std::move(condition), std::move(body)));
}

void Body::repeat(std::uint32_t rounds, const std::function<void()>& round) {
  std::string variable = fmt::format("round_{}", loops_++);
  std::vector<ir::NodeHandle> body = inner(round);
  statements_.push_back(ir::node::loop(std::move(variable), ir::expr::u32(0), ir::expr::u32(rounds), std::move(body)));
}

void Body::break_if(Expr condition) { statements_.push_back(ir::node::if_(std::move(condition), {ir::node::break_()})); }

std::vector<ir::NodeHandle> Body::inner(const std::function<void()>& write) {
  std::vector<ir::NodeHandle> outer = std::exchange(statements_, {});
  write();
  return std::exchange(statements_, std::move(outer));
}

ir::OpTable::Spec make_op(Claims claims, const std::function<ir::ExprHandle(Body&)>& body) {
  auto spec = std::make_shared<ir::OpSpec>();
  spec->id = std::move(claims.id);
  spec->function().signature = std::move(claims.signature);
  spec->summary = std::move(claims.summary);
  spec->function().laws = std::move(claims.laws);
  spec->function().examples = std::move(claims.examples);
  for (std::size_t k = 0; k < spec->function().signature.inputs.size(); ++k) spec->function().parameters.push_back(Body::parameter_name(k));
  Body writer;
  ir::ExprHandle result = body(writer);
  spec->function().body = make_body(spec->function().parameters, writer.take(), std::move(result));
  return spec;
}

namespace {

std::vector<ir::OpLaw> laws_of(std::uint8_t laws) {
  std::vector<ir::OpLaw> result;
  if (laws & ir::kCommutative) result.push_back(ir::OpLaw::Commutative);
  if (laws & ir::kAssociative) result.push_back(ir::OpLaw::Associative);
  if (laws & ir::kIdempotent) result.push_back(ir::OpLaw::Idempotent);
  if (laws & ir::kInvolution) result.push_back(ir::OpLaw::Involution);
  return result;
}

}  // namespace

ir::OpTable::Spec make_op(std::string id, ir::AnyOp op, std::vector<ir::OpExample> examples) {
  const ir::OpInfo& row = *op.row;
  const auto inputs = std::span(row.operands).first(row.arity);
  return make_op(
      {std::move(id), {{inputs.begin(), inputs.end()}, row.result}, std::string(row.meaning), laws_of(row.laws), std::move(examples)},
      [&row](Body& body) {
        std::vector<ir::ExprHandle> parameters;
        for (std::size_t k = 0; k < row.arity; ++k) parameters.push_back(body.parameter(k));
        return ir::expr::apply(row, std::move(parameters));
      });
}

}  // namespace vyre::ops
