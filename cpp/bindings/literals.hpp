// Values of the element types: Python's numbers as such, and the constructors of Expr that make literals of them.
#pragma once

#include <string>

#include "bindings.hpp"
#include "vyre/ir/value.hpp"

namespace vyre::python {

// The value as Python writes it: an int, a bool, or a tuple of lanes.
py::object to_python(const ir::Value& value, ir::DataType type);
// The reverse. `fix` is for a number that the type does not hold.
ir::Value to_value(py::handle object, ir::DataType type, const std::string& where, const std::string& fix = {});

// Whether a number, which may be any object, is a value of a type that is no vector.
bool holds(ir::DataType element, py::handle number);
// These numbers, for messages: "True, False", "an integer from 0 to 4294967295".
std::string numbers_of(ir::DataType element);
// Whether an integer is a value of a type with integers, as an element of a numpy array; false for other types.
bool fits(ir::DataType element, py::handle integer);
// The integers that an element holds, least and greatest: "0 to 4294967295".
std::string range_of(ir::DataType element);
// The Fix for an integer out of that range.
std::string wrapped(ir::DataType element);

// Expr.u32 and the others: one for each type with literals.
void bind_literals(py::class_<PyExpr>& expr);

}  // namespace vyre::python
