// Binds the base class of the tracer of kernels; see lets.cpp.
#pragma once

#include "bindings/bindings.hpp"

namespace vyre::python {

void bind_lets(py::module_& m);

}  // namespace vyre::python
