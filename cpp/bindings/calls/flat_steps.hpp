// Binds the functions for tools that run the steps of a procedure one by one.
#pragma once

#include "bindings/bindings.hpp"

namespace vyre::python {

void bind_flat_steps(py::module_& m);

}  // namespace vyre::python
