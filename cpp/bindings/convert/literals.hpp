// Converts between Python's numbers and values of the element types, and binds the constructors of Expr that make literals.
#pragma once

#include <string>

#include "bindings/bindings.hpp"
#include "vyre/ir/number.hpp"
#include "vyre/ir/value.hpp"

namespace vyre::python {

// The value as Python writes it: an int, a bool, or a tuple of lanes.
py::object to_python(const ir::Value& value, ir::DataType type);
py::object to_python(const ir::Number& number);
// The reverse conversion. `fix` is the Fix for a number that the type does not hold.
ir::Value to_value(py::handle object, ir::DataType type, const std::string& where);

// Whether `number`, which may be any object, is a value of the type, which is no vector.
bool holds(ir::DataType element, py::handle number);
// The values that holds() accepts, for messages: "True, False", "an integer from 0 to 4294967295".
std::string numbers_of(ir::DataType element);

// Binds Expr.u32 and the like, one constructor for each type with literals.
void bind_literals(py::class_<PyExpr>& expr);

}  // namespace vyre::python
