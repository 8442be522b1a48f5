// Pickling of handles: as the bytes of a program with one statement, so that depth and sharing are the wire form's business.
#pragma once

#include "bindings.hpp"

namespace vyre::python {

py::bytes pickle(const ir::ExprHandle& expr);
py::bytes pickle(const ir::NodeHandle& node);
ir::ExprHandle unpickle_expr(const py::bytes& data);
ir::NodeHandle unpickle_node(const py::bytes& data);

}  // namespace vyre::python
