// Pickles a handle as the bytes of a program with one statement. The wire form then takes care of deep and of shared expressions.
#pragma once

#include "bindings/bindings.hpp"
#include "vyre/base/error.hpp"

namespace vyre::python {

// The error for bytes that pickle did not write.
ParseError not_pickled(const char* what);

py::bytes pickle(const ir::ExprHandle& expr);
py::bytes pickle(const ir::NodeHandle& node);
ir::ExprHandle unpickle_expr(const py::bytes& data);
ir::NodeHandle unpickle_node(const py::bytes& data);

}  // namespace vyre::python
