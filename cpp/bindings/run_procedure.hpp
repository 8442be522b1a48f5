// The core's entry for calls of procedures.
#pragma once

#include "bindings.hpp"

namespace vyre::python {

void bind_run_procedure(py::module_& m);

}  // namespace vyre::python
