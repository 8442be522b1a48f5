// Protects the finished module: Python code can use it but not change it.
#pragma once

#include "bindings/bindings.hpp"

namespace vyre::python {

// The last step of making the module. Its classes become immutable, as Python's built-in classes are: otherwise, after `x.__class__ = Expr`
// or a change of a class's bases, C++ code would take an object's bytes for those of another type. The internal classes of pybind11 that
// Python code can reach can no longer be instantiated or inherited from. A call that fits no signature raises an error in the words of this
// package. Functions and classes whose docstring begins with their signature show it to inspect.signature.
void seal(const py::module_& m);

// Adds members that Python code defines to a class that is immutable already.
void add_members(py::handle kind, const py::dict& members);

}  // namespace vyre::python
