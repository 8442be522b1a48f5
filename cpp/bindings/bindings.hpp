// Shared by the files of the Python module. Their pattern: convert what was given (convert.hpp says what is wrong with it),
// release the GIL, forward to a layer, wrap the result.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "vyre/base/diagnostic.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/handle.hpp"
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

// Whether an object is a T by its type. isinstance() asks the object too, and `__class__` may say anything.
template <class T>
bool is(py::handle object) {
  // Never given back: the classes live as long as the process.
  static const PyObject* const type = py::type::of<T>().release().ptr();
  return reinterpret_cast<const PyObject*>(Py_TYPE(object.ptr())) == type;
}

// The T in an object of exactly that type, else null. It takes a fraction of the time of a cast, which looks the type up.
template <class T>
T* exactly(py::handle object) {
  if (!is<T>(object)) return nullptr;
  return static_cast<T*>(reinterpret_cast<py::detail::instance*>(object.ptr())->get_value_and_holder().value_ptr());
}

// One a file, called by module.cpp in this order.
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
void bind_planned(py::module_& m);
void bind_launch(py::module_& m);
void bind_host_launch(py::module_& m);
void bind_kernel_calls(py::module_& m);
void bind_graph(py::module_& m);
void bind_profile(py::module_& m);
void bind_check(py::module_& m);
void bind_cuda(py::module_& m);
void bind_dlpack(py::module_& m);
void bind_fuzz(py::module_& m);

// Installs the operators of the class Expr as slots. It is called when all methods of the class are bound.
void bind_infix_slots(py::module_& m, py::handle expr);

// The Python call that is under way: the innermost frame outside the package that vyre.hide_frames does not hide. Cheap enough for every
// node.
ir::SourcePlace caller();

// Short texts for repr(): never longer than a few lines, whatever the size.
std::string brief(const ir::ExprHandle& expr);
std::string brief(const ir::NodeHandle& node);
std::string brief(const ir::BufferDecl& decl);
std::string brief(const ir::Program& program);
// A Python string literal of `text`, cut when long.
std::string quoted(std::string_view text);

// A Python string from UTF-8 that may not be: what is not is shown as escapes.
py::str lenient_str(std::string_view text);

// UTF-8 of an object, what UTF-8 cannot hold being shown as escapes; nothing when it is no str.
std::string lenient_text(py::handle object);

}  // namespace vyre::python
