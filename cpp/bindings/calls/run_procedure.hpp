// Binds the functions that run procedures.
#pragma once

#include "bindings/bindings.hpp"

namespace vyre::python {

void bind_run_procedure(py::module_& m);

}  // namespace vyre::python
