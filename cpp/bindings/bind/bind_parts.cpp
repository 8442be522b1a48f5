// Binds a program's expressions and statements as tuples, for what walks over them in Python.
#include <array>
#include <string_view>
#include <variant>

#include "bindings/bindings.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/program.hpp"
#include "vyre/base/overloaded.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre::python {
namespace {

// In the order of the variants.
constexpr std::array kExprNames = {
#define EXPR(kind, number) std::string_view(#kind),
#include "vyre/ir/kinds.def"
};
constexpr std::array kNodeNames = {
#define NODE(kind, number) std::string_view(#kind),
#include "vyre/ir/kinds.def"
};

// (kind, name, operands, value): the name is that of the variable, buffer, operator, operation, type or grid id. An Atomic has that of its
// buffer, and its operator behind its kind. The value is that of a literal, the axis or the lane.
py::tuple expression_part(const ir::Program& program, const ir::Expr& expr) {
  std::string kind(kExprNames[expr.index()]);
  std::string_view name;
  py::list operands;
  std::uint64_t value = 0;
  ir::for_each_field(
      expr, overloaded{[&](const ExprId& id) { operands.append(id.index); },
                       [&](const ir::ExprList& list) {
                         for (const ExprId id : program.operands(list)) operands.append(id.index);
                       },
                       [&](const NameId& id) { name = program.text(id); }, [&](const ir::DataType& type) { name = ir::name(type); },
                       [&](const ir::GridIdKind& id) { name = ir::info(id).text; },
                       [&](const ir::AtomicOp& op) { kind.append(" ").append(ir::info(op).name); },
                       [&](const ir::BinOp& op) { name = ir::info(op).name; }, [&](const ir::UnOp& op) { name = ir::info(op).name; },
                       [&](const bool&) {}, [&](const std::uint32_t& number) { value = number; }});
  if (const auto* literal = std::get_if<ir::Literal>(&expr)) value = literal->bits();
  return py::make_tuple(kind, lenient_str(name), py::tuple(operands), value);
}

// (kind, name, roots): the name is that of the variable or the buffer.
py::tuple statement_part(const ir::Program& program, const ir::Node& node) {
  std::string_view name;
  py::list roots;
  ir::for_each_field(node, overloaded{[&](const ExprId& id) { roots.append(id.index); }, [&](const NameId& id) { name = program.text(id); },
                                      [](const NodeId&) {}});
  return py::make_tuple(kNodeNames[node.index()], lenient_str(name), py::tuple(roots));
}

}  // namespace

void bind_program_parts(py::module_& m) {
  m.def(
      "_parts",
      [](const PyProgram& program) {
        py::list exprs, nodes;
        for (const ir::Expr& expr : program.program.exprs()) exprs.append(expression_part(program.program, expr));
        for (const ir::Node& node : program.program.nodes()) nodes.append(statement_part(program.program, node));
        return py::make_tuple(exprs, nodes);
      },
      py::arg("program"));
}

}  // namespace vyre::python
