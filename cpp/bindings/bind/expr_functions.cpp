// Binds the functions of Expr and of the module that are read from tables: one for each operator of ops.def, one for each operator that is
// chosen by the types of its operands (infix.def), and one for each operation that is chosen so (by_type.def).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <utility>

#include "bindings/bind/expr_class.hpp"
#include "vyre/base/assert.hpp"
#include "vyre/ir/handles/by_type.hpp"
#include "vyre/ir/handles/infix.hpp"

namespace vyre::python {
namespace {

using ir::BinOp;
using ir::UnOp;

// Returns the docstring's text for a function that chooses its operator by the type of its operands: what the function computes, and on
// which types.
std::string meaning(const ir::InfixInfo& row) {
  std::string types;
  for (const ir::TypeInfo& type : ir::kTypes) {
    if (ir::meaning(row.op, type.type) != nullptr) types += fmt::format("{}{}", types.empty() ? "" : ", ", type.name);
  }
  std::string_view what = "The absolute value; the least I32 stays what it is.";
  if (const ir::Meaning* on_u32 = ir::meaning(row.op, ir::DataType::U32)) {
    if (const BinOp* op = std::get_if<BinOp>(&on_u32->what)) what = ir::info(*op).meaning;
    if (const UnOp* op = std::get_if<UnOp>(&on_u32->what)) what = ir::info(*op).meaning;
  }
  return fmt::format("{} Resolved by the type of the operands, which is one of {}.", what, types);
}

// Defines an explicit operator as a method of Expr. The module gets it as a function, too, unless the module's function of that name
// chooses the operator by the types of its operands (bind_infix_functions).
template <class Function, class... Extra>
void def_operator(ExprClass& expr, py::module_& m, const std::string& name, Function function, const Extra&... extra) {
  const bool resolves = std::ranges::any_of(ir::kInfixes, [&](const ir::InfixInfo& row) { return row.function == name; });
  if (!resolves) return def_method(expr, m, name, function, extra...);
  const py::cpp_function made(function, py::name(name.c_str()), py::scope(expr), extra...);
  expr.attr(name.c_str()) = py::reinterpret_steal<py::object>(PyInstanceMethod_New(made.ptr()));
}

// Returns the docstring of a function of by_type.def. It lists the operations that the function chooses from.
std::string by_type_text(const ir::ByType& row, const std::vector<std::string>& parameters) {
  std::string chosen;
  for (const auto& [function, type, operation] : row.choices) {
    chosen += fmt::format("{}`{}` on {}", chosen.empty() ? "" : ", ", operation, ir::name(type));
  }
  std::string arguments;
  for (std::size_t k = 0; k < parameters.size(); ++k) arguments += fmt::format(", {}", k == 0 ? "vyre.Expr.var(\"a\")" : "1");
  std::string shown = "a";
  for (std::size_t k = 1; k < parameters.size(); ++k) shown += ", 1";
  return fmt::format("{0}({1}) -> Expr\n\n{5} Calls {2}.\n\n>>> vyre.{0}({3})\nExpr({0}({4}))", row.name, fmt::join(parameters, ", "),
                     chosen, arguments.substr(2), shown, row.meaning);
}

template <std::size_t>
using GivenHandle = py::handle;

template <std::size_t... K>
void def_by_type(py::module_& m, const ir::ByType& row, const std::vector<std::string>& parameters, std::index_sequence<K...>) {
  const std::string name(row.name);
  m.attr(name.c_str()) = py::cpp_function(
      [&row, parameters](GivenHandle<K>... given) {
        std::vector<ir::ExprHandle> arguments{to_adapting(given, argument(parameters[K].c_str(), row.name))...};
        return wrap(ir::expr::call(std::string(row.name), std::move(arguments), caller()));
      },
      py::name(name.c_str()), py::scope(m), py::arg(parameters[K].c_str())..., by_type_text(row, parameters).c_str());
}

}  // namespace

void bind_operator_functions(ExprClass& expr, py::module_& m) {
  for (const ir::BinOpInfo& row : ir::kBinOps) {
    const std::string shown =
        row.infix.empty() ? fmt::format("{}(a, 1)", row.text) : fmt::format("a {} 1", row.op == BinOp::Div ? "//" : row.infix);
    def_operator(
        expr, m, std::string(row.text),
        [&row](py::handle left, py::handle right) {
          const std::string_view name = row.text;
          return wrap(ir::expr::binary(row.op, operand(left, "left", name), operand(right, "right", name), caller()));
        },
        py::arg("left"), py::arg("right"),
        fmt::format(
            "{0}(left, right) -> Expr\n\n{1} Operands: {2} and {3}; result: {4}.\n\n>>> vyre.Expr.{0}(vyre.Expr.var(\"a\"), 1)\nExpr({5})",
            row.text, row.meaning, ir::name(row.left), ir::name(row.right), ir::name(row.result), shown)
            .c_str());
  }
  for (const ir::UnOpInfo& row : ir::kUnOps) {
    def_operator(
        expr, m, std::string(row.text),
        [&row](py::handle value) { return wrap(ir::expr::unary(row.op, operand(value, "value", row.text), caller())); }, py::arg("value"),
        fmt::format("{0}(value) -> Expr\n\n{1} Operand: {2}; result: {3}.\n\n>>> vyre.Expr.{0}(vyre.Expr.var(\"a\"))\nExpr({0}(a))",
                    row.text, row.meaning, ir::name(row.operand), ir::name(row.result))
            .c_str());
  }
  for (const ir::AtomicOpInfo& row : ir::kAtomicOps) {
    const std::string_view name = row.text;
    if (row.op == ir::AtomicOp::CompareExchange) {
      def_both(
          expr, m, std::string(name),
          [&row](py::handle buffer, py::handle index, py::handle expected, py::handle value) {
            std::string target = to_text(buffer, argument("buffer", row.text));
            ir::ExprHandle at = index_operand(index, row.text, target);
            ir::ExprHandle old = operand(expected, "expected", row.text);
            return wrap(
                ir::expr::atomic(row.op, std::move(target), std::move(at), std::move(old), operand(value, "value", row.text), caller()));
          },
          py::arg("buffer"), py::arg("index"), py::arg("expected"), py::arg("value"),
          fmt::format("{0}(buffer, index, expected, value) -> Expr\n\n{1} On a ReadWrite buffer of U32; gives the value held before, 0 "
                      "when index is out of bounds."
                      "\n\n>>> vyre.{0}(\"flags\", 0, 0, 1)\nExpr({0}(flags, 0, 0, 1))",
                      name, row.meaning)
              .c_str());
      continue;
    }
    def_both(
        expr, m, std::string(name),
        [&row](py::handle buffer, py::handle index, py::handle value) {
          std::string target = to_text(buffer, argument("buffer", row.text));
          ir::ExprHandle at = index_operand(index, row.text, target);
          return wrap(ir::expr::atomic(row.op, std::move(target), std::move(at), {}, operand(value, "value", row.text), caller()));
        },
        py::arg("buffer"), py::arg("index"), py::arg("value"),
        fmt::format("{0}(buffer, index, value) -> Expr\n\n{1} On a ReadWrite buffer of U32; gives the value held before, 0 when index is "
                    "out of bounds."
                    "\n\n>>> vyre.{0}(\"sums\", 0, 1)\nExpr({0}(sums, 0, 1))",
                    name, row.meaning)
            .c_str());
  }
}

// Binds the functions of the module that choose an explicit operator by the types of their operands, as Python's operators do: vyre.min,
// for instance. The function of Expr with the same name is always the operator of that name in ops.def.
void bind_infix_functions(py::module_& m) {
  for (const ir::InfixInfo& row : ir::kInfixes) {
    if (row.op == ir::Infix::Invert) continue;
    const std::string name(row.function);
    if (row.shape == ir::InfixShape::One) {
      m.attr(name.c_str()) = py::cpp_function(
          [&row](py::handle value) { return wrap(ir::expr::infix(row.op, {operand(value, "value", row.function)}, caller())); },
          py::name(name.c_str()), py::scope(m), py::arg("value"),
          fmt::format("{0}(value) -> Expr\n\n{1}\n\n>>> vyre.{0}(vyre.Expr.var(\"a\"))\nExpr({0}(a))", name, meaning(row)).c_str());
      continue;
    }
    const std::string shown = row.symbol == row.function ? fmt::format("{}(a, 1)", name) : fmt::format("a {} 1", row.symbol);
    m.attr(name.c_str()) = py::cpp_function(
        [&row](py::handle left, py::handle right) {
          auto [first, second] = adapting_pair(left, right, {"left", "right"}, row.function);
          return wrap(ir::expr::infix(row.op, {std::move(first), std::move(second)}, caller()));
        },
        py::name(name.c_str()), py::scope(m), py::arg("left"), py::arg("right"),
        fmt::format("{0}(left, right) -> Expr\n\n{1}\n\n>>> vyre.{0}(vyre.Expr.var(\"a\"), 1)\nExpr({2})", name, meaning(row), shown)
            .c_str());
  }
}

// Binds the functions that call an operation by the type of their operands. An integer among the arguments takes the type that the
// operation wants. If all arguments are integers, the function calls the first operation of its row.
void bind_by_type(py::module_& m) {
  for (const ir::ByType& row : ir::kByType) {
    std::istringstream words{std::string(row.parameters)};
    const std::vector<std::string> parameters{std::istream_iterator<std::string>(words), {}};
    switch (parameters.size()) {
      case 1:
        def_by_type(m, row, parameters, std::make_index_sequence<1>());
        break;
      case 2:
        def_by_type(m, row, parameters, std::make_index_sequence<2>());
        break;
      case 3:
        def_by_type(m, row, parameters, std::make_index_sequence<3>());
        break;
      default:
        VYRE_ASSERT(parameters.size() == 4);
        def_by_type(m, row, parameters, std::make_index_sequence<4>());
    }
  }
}

}  // namespace vyre::python
