// Defines how notebooks draw objects of the module's classes.
#pragma once

#include "bindings/bindings.hpp"

namespace vyre::python {

// Defines `_repr_html_`, which IPython, marimo and editors look for. `form` is a function of vyre._html.programs, which is imported when an
// object is drawn.
template <class T>
void def_html_form(py::class_<T>& type, const char* form) {
  type.def("_repr_html_", [form](const T& self) { return py::module_::import("vyre._html.programs").attr(form)(py::cast(self)); });
}

}  // namespace vyre::python
