// Binds the functions of Expr and of the module that are read from tables: one for each operator of ops.def, one for each operator that is
// chosen by the types of its operands (infix.def), and one for each operation that is chosen so (by_type.def).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>
#include <utility>

#include "bindings/bind/expr_class.hpp"
#include "vyre/base/assert.hpp"
#include "vyre/ir/handles/by_type.hpp"
#include "vyre/ir/handles/infix.hpp"

namespace vyre::python {
namespace {

// Returns the docstring's text for a function that chooses its operator by the type of its operands: what the function computes, and on
// which types.
std::string meaning(const ir::InfixInfo& row) {
  std::string types;
  for (const ir::TypeInfo& type : ir::kTypes) {
    if (ir::meaning(row.op, type.type) != nullptr) types += fmt::format("{}{}", types.empty() ? "" : ", ", type.name);
  }
  std::string_view what = "The absolute value; the least I32 stays what it is.";
  if (const ir::Meaning* on_u32 = ir::meaning(row.op, ir::DataType::U32)) {
    if (const ir::OpInfo* op = on_u32->op_row()) what = op->meaning;
  }
  return fmt::format("{} Resolved by the type of the operands, which is one of {}.", what, types);
}

// Returns the docstring of a function: its signature, what it computes, and a call, whose result is `shown` if it is no call itself.
std::string docstring(std::string_view function, std::string_view owner, const std::vector<std::string>& parameters, std::string_view text,
                      std::string shown = {}) {
  std::string further;
  for (std::size_t k = 1; k < parameters.size(); ++k) further += ", 1";
  if (shown.empty()) shown = fmt::format("{}(a{})", function, further);
  return fmt::format("{0}({1}) -> Expr\n\n{2}\n\n>>> {3}.{0}(vyre.Expr.var(\"a\"){4})\nExpr({5})", function, fmt::join(parameters, ", "),
                     text, owner, further, shown);
}

// Returns the names of the parameters of the function that applies an operator; null stands for one that has no row for itself.
std::vector<std::string> operand_names(const ir::OpInfo* op) {
  if (op == nullptr || op->arity == 1) return {"value"};
  return {op->names.begin(), op->names.begin() + op->arity};
}

template <std::size_t>
using GivenHandle = py::handle;

// Calls `define` with the indices below `count`, the number of a function's parameters.
template <class Define>
void with_indices(std::size_t count, const Define& define) {
  switch (count) {
    case 1:
      return define(std::make_index_sequence<1>());
    case 2:
      return define(std::make_index_sequence<2>());
    case 3:
      return define(std::make_index_sequence<3>());
    default:
      VYRE_ASSERT(count == 4);
      define(std::make_index_sequence<4>());
  }
}

// Defines an explicit operator as a method of Expr. The module gets it as a function, too, unless the module's function of that name
// chooses the operator by the types of its operands (bind_infix_functions).
template <std::size_t... K>
void def_operator(ExprClass& expr, py::module_& m, const ir::OpInfo& row, std::index_sequence<K...>) {
  const std::string name(row.text);
  const std::vector<std::string> parameters = operand_names(&row);
  const auto function = [&row, parameters](GivenHandle<K>... given) {
    return wrap(ir::expr::apply(row, {operand(given, parameters[K].c_str(), row.text)...}, caller()));
  };
  const std::array types{ir::name(row.operands[K])...};
  const std::string infix = row.infix.empty() ? "" : fmt::format("a {} 1", &row == &ir::info(ir::BinOp::Div) ? "//" : row.infix);
  const std::string text = docstring(
      name, "vyre.Expr", parameters,
      fmt::format("{} Operand{}: {}; result: {}.", row.meaning, row.arity == 1 ? "" : "s", fmt::join(types, " and "), ir::name(row.result)),
      infix);
  const bool resolves = std::ranges::any_of(ir::kInfixes, [&](const ir::InfixInfo& each) { return each.function == name; });
  if (!resolves) return def_method(expr, m, name, function, py::arg(parameters[K].c_str())..., text.c_str());
  const py::cpp_function made(function, py::name(name.c_str()), py::scope(expr), py::arg(parameters[K].c_str())..., text.c_str());
  expr.attr(name.c_str()) = py::reinterpret_steal<py::object>(PyInstanceMethod_New(made.ptr()));
}

// `shown` are the buffer and the further arguments of the example; `names` are the parameters after buffer and index.
template <std::size_t... K>
void def_atomic(ExprClass& expr, py::module_& m, const ir::AtomicOpInfo& row, std::string_view buffer, std::string_view shown,
                std::array<const char*, sizeof...(K)> names, std::index_sequence<K...>) {
  def_both(
      expr, m, std::string(row.text),
      [&row, names](py::handle buffer, py::handle index, GivenHandle<K>... given) {
        std::string target = to_text(buffer, argument("buffer", row.text));
        ir::ExprHandle at = operand(index, "index", row.text);
        const std::array values{operand(given, names[K], row.text)...};
        const ir::ExprHandle expected = values.size() == 2 ? values[0] : ir::ExprHandle();
        return wrap(ir::expr::atomic(row.op, std::move(target), std::move(at), expected, values.back(), caller()));
      },
      py::arg("buffer"), py::arg("index"), py::arg(names[K])...,
      fmt::format(
          "{0}(buffer, index, {2}) -> Expr\n\n{1} On a ReadWrite buffer of U32; gives the value held before, 0 when index is out of "
          "bounds.\n\n>>> vyre.{0}(\"{3}\", {4})\nExpr({0}({3}, {4}))",
          row.text, row.meaning, fmt::join(names, ", "), buffer, shown)
          .c_str());
}

template <std::size_t... K>
void def_infix(py::module_& m, const ir::InfixInfo& row, std::index_sequence<K...>) {
  const std::string name(row.function);
  const auto means = std::ranges::find_if(ir::kMeanings, [&](const ir::Meaning& each) { return each.op == row.op && each.op_row(); });
  const std::vector<std::string> parameters = operand_names(means == ir::kMeanings.end() ? nullptr : means->op_row());
  const std::string infix = sizeof...(K) == 1 || row.symbol == row.function ? "" : fmt::format("a {} 1", row.symbol);
  m.attr(name.c_str()) = py::cpp_function(
      [&row, parameters](GivenHandle<K>... given) {
        return wrap(ir::expr::infix(row.op, adapting(row.function, std::pair(parameters[K].c_str(), given)...), caller()));
      },
      py::name(name.c_str()), py::scope(m), py::arg(parameters[K].c_str())...,
      docstring(name, "vyre", parameters, meaning(row), infix).c_str());
}

// An integer among the arguments takes the type that the operation wants. If all arguments are integers, the function calls the first
// operation of its row.
template <std::size_t... K>
void def_by_type(py::module_& m, const ir::ByType& row, const std::vector<std::string>& parameters, std::index_sequence<K...>) {
  const std::string name(row.name);
  std::string chosen;
  for (const auto& [function, type, operation] : row.choices) {
    chosen += fmt::format("{}`{}` on {}", chosen.empty() ? "" : ", ", operation, ir::name(type));
  }
  m.attr(name.c_str()) = py::cpp_function(
      [&row, parameters](GivenHandle<K>... given) {
        std::vector<ir::ExprHandle> arguments{to_adapting(given, argument(parameters[K].c_str(), row.name))...};
        return wrap(ir::expr::call(std::string(row.name), std::move(arguments), caller()));
      },
      py::name(name.c_str()), py::scope(m), py::arg(parameters[K].c_str())...,
      docstring(name, "vyre", parameters, fmt::format("{} Calls {}.", row.meaning, chosen)).c_str());
}

}  // namespace

void bind_operator_functions(ExprClass& expr, py::module_& m) {
  for (const ir::OpInfo* row : ir::kOps) {
    // select() has a function of its own, because it gives an integer the type of the other branch.
    if (row->is_typed()) with_indices(row->arity, [&](auto indices) { def_operator(expr, m, *row, indices); });
  }
  for (const ir::AtomicOpInfo& row : ir::kAtomicOps) {
    if (row.op == ir::AtomicOp::CompareExchange) {
      def_atomic(expr, m, row, "flags", "0, 0, 1", {"expected", "value"}, std::make_index_sequence<2>());
    } else {
      def_atomic(expr, m, row, "sums", "0, 1", {"value"}, std::make_index_sequence<1>());
    }
  }
}

// Binds the functions of the module that choose an explicit operator by the types of their operands, as Python's operators do: vyre.min,
// for instance. The function of Expr with the same name is always the operator of that name in ops.def.
void bind_infix_functions(py::module_& m) {
  for (const ir::InfixInfo& row : ir::kInfixes) {
    if (row.op != ir::Infix::Invert) with_indices(row.arity(), [&](auto indices) { def_infix(m, row, indices); });
  }
}

// Binds the functions that call an operation by the type of their operands.
void bind_by_type(py::module_& m) {
  for (const ir::ByType& row : ir::kByType) {
    std::istringstream words{std::string(row.parameters)};
    const std::vector<std::string> parameters{std::istream_iterator<std::string>(words), {}};
    with_indices(parameters.size(), [&](auto indices) { def_by_type(m, row, parameters, indices); });
  }
}

}  // namespace vyre::python
