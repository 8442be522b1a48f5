// Declares what the files share that bind the Python class Expr: conversions of operands, and definitions of functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/construct.hpp"
#include "bindings/convert/convert.hpp"

namespace vyre::python {

using ExprClass = py::class_<PyExpr>;

// expr_functions.cpp: the functions of the class and of the module that are read from tables.
void bind_operator_functions(ExprClass& expr, py::module_& m);
void bind_infix_functions(py::module_& m);
void bind_by_type(py::module_& m);
// expr_operators.cpp: Python's own operators.
void bind_infix(ExprClass& expr);
void bind_refusals(ExprClass& expr);

inline py::object wrap(ir::ExprHandle handle) { return new_instance(PyExpr{std::move(handle)}); }

// The description of the argument, which only messages need, is not built for an operand that quick_expr() accepts.
inline ir::ExprHandle operand(py::handle object, const char* name, std::string_view function) {
  if (ir::ExprHandle value = quick_expr(object)) return value;
  return to_expr(object, argument(name, function));
}

// Converts operands, each with the name of its parameter, that must have one type. If all are integers, none can take its type from
// another, so all are U32.
template <class... Named>
std::vector<ir::ExprHandle> adapting(std::string_view function, const Named&... given) {
  const bool untyped = (is_integer(given.second) && ...);
  const auto value = [&](const char* name, py::handle object) {
    return untyped || is<PyExpr>(object) ? operand(object, name, function) : to_adapting(object, argument(name, function));
  };
  return {value(given.first, given.second)...};
}

// Defines a function under one name as a static method of Expr and as a function of the module.
template <class Function, class... Extra>
py::cpp_function def_both(ExprClass& expr, py::module_& m, const std::string& name, Function function, const Extra&... extra) {
  py::cpp_function made(function, py::name(name.c_str()), py::scope(m), extra...);
  m.attr(name.c_str()) = made;
  expr.attr(name.c_str()) = py::staticmethod(made);
  return made;
}

// A function whose first argument is a value is also a method of Expr: x.rotl(3) is Expr.rotl(x, 3).
template <class Function, class... Extra>
void def_method(ExprClass& expr, py::module_& m, const std::string& name, Function function, const Extra&... extra) {
  py::cpp_function made = def_both(expr, m, name, function, extra...);
  expr.attr(name.c_str()) = py::reinterpret_steal<py::object>(PyInstanceMethod_New(made.ptr()));
}

}  // namespace vyre::python
