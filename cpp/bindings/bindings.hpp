// Declarations that the files of the Python module share. A binding converts the arguments (the functions of convert.hpp report wrong
// ones), releases the GIL, calls the C++ layer that does the work, and wraps the result.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <string>

#include "vyre/base/diagnostic.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/handles/handle.hpp"
#include "vyre/ir/program.hpp"

namespace vyre::python {

namespace py = pybind11;

// The Python classes Expr and Node: one handle each, immutable.
struct PyExpr {
  ir::ExprHandle handle;
};
struct PyNode {
  ir::NodeHandle handle;
};

// A call that does not fit the function's signature. In Python it is a TypeError too.
struct CallError : ArgumentError {
  using ArgumentError::ArgumentError;
};

// Whether the type of an object is exactly T. isinstance() also reads the object's `__class__`, which user code can set to anything.
template <class T>
bool is(py::handle object) {
  // The reference is never released, because the classes live as long as the process.
  static const PyObject* const type = py::type::of<T>().release().ptr();
  return reinterpret_cast<const PyObject*>(Py_TYPE(object.ptr())) == type;
}

// Returns the T in an object whose type is exactly T, else null. It takes a fraction of the time of a cast, which looks the type up.
template <class T>
T* exactly(py::handle object) {
  if (!is<T>(object)) return nullptr;
  return static_cast<T*>(reinterpret_cast<py::detail::instance*>(object.ptr())->get_value_and_holder().value_ptr());
}

// Each function binds one part of the module and is defined in a file of its own. module.cpp calls them.
void bind_errors(py::module_& m);
void bind_types(py::module_& m);
void bind_frames(py::module_& m);
void bind_expr(py::module_& m);
void bind_node(py::module_& m);
void bind_program(py::module_& m);
void bind_procedure(py::module_& m);
void bind_validate(py::module_& m);
void bind_ops(py::module_& m);
void bind_transform(py::module_& m);
void bind_emit(py::module_& m);
void bind_run(py::module_& m);
void bind_trial(py::module_& m);
void bind_explain(py::module_& m);
void bind_array(py::module_& m);
void bind_ascending(py::module_& m);
void bind_planned(py::module_& m);
void bind_launch(py::module_& m);
void bind_host_launch(py::module_& m);
void bind_kernel_calls(py::module_& m);
void bind_graph(py::module_& m);
void bind_profile(py::module_& m);
void bind_check(py::module_& m);
void bind_reach(py::module_& m);
void bind_program_parts(py::module_& m);
void bind_cuda(py::module_& m);
void bind_dlpack(py::module_& m);
void bind_fuzz(py::module_& m);
void bind_byte_strings(py::module_& m);
void bind_run_procedure(py::module_& m);
void bind_flat_steps(py::module_& m);
void bind_lets(py::module_& m);

// Installs the operators of the class Expr as type slots. Must be called after all methods of the class are bound.
void bind_infix_slots(py::module_& m, py::handle expr);

// Returns the place of the running call in the user's source: the innermost frame outside the package that vyre.hide_frames does not hide.
// It is fast enough to be called for every node.
ir::SourcePlace caller();

// Short texts for repr(): never longer than a few lines, whatever the size.
std::string brief(const ir::ExprHandle& expr);
std::string brief(const ir::NodeHandle& node);
std::string brief(const ir::BufferDecl& decl);
std::string brief(const ir::Program& program);
// Returns a Python string literal of `text`, shortened if it is long. Its name is not `quoted`, because with a std::string
// that name finds std::quoted too.
std::string quoted_text(std::string_view text);

// Converts UTF-8 to a Python string. Bytes that are not valid UTF-8 become escapes.
py::str lenient_str(std::string_view text);

// Returns a list of texts: what `text` gives for each element of the range, converted by lenient_str().
template <class Range, class Text = std::identity>
py::list lenient_list(const Range& range, const Text& text = {}) {
  py::list made;
  for (const auto& each : range) made.append(lenient_str(std::invoke(text, each)));
  return made;
}

// Returns a tuple of what `row` gives for each element of the range.
template <class Range, class Row>
py::tuple rows_of(const Range& range, const Row& row) {
  py::list made;
  for (const auto& each : range) made.append(std::invoke(row, each));
  return made;
}

// Converts a Python string to UTF-8. Lone surrogates become escapes. Returns an empty text if the object is no str.
std::string lenient_text(py::handle object);

}  // namespace vyre::python
