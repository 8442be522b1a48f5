// Protects the finished module: Python code can use it but not change it.
#pragma once

#include "bindings.hpp"

namespace vyre::python {

// The last step of making the module. Its classes become immutable, as those of Python itself are: `x.__class__ = Expr` or another
// base would take an object's bytes for what they are not. What pybind11 has for its own use, and Python can reach, makes no objects
// any more. And a call that fits no signature says so in the words of this package.
void seal(const py::module_& m);

}  // namespace vyre::python
