// Implements the base class of the tracer of kernels, which handles `x = value`, the most frequent statement in traced functions.
//
// An assignment of an expression appends a Let of a new variable, and returns an expression that reads the variable. C++ does this without
// a Python frame between the user's line and the statement: to find the line, Python would make an object of each frame in between, and
// would have to collect all of them. Values that are no expressions go to the Python method `_let`.
//
// The class is made with Python's C API, because C++ has to share the attributes that Python code sets and reads.
#include <Python.h>
#include <structmember.h>

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "bindings/bindings.hpp"
#include "bindings/construct.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/guarded.hpp"

namespace vyre::python {
namespace {

struct Hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
// Each name that a variable or a buffer has, with the last number that was appended to it.
using Names = std::unordered_map<std::string, unsigned, Hash, std::equal_to<>>;

struct Lets {
  PyObject_HEAD PyObject* block;  // the list of statements that is being filled
  PyObject* variables;            // from the id of each expression that reads a variable to (the variable's name, the expression)
  char dead;                      // whether the next statement is unreachable
  Names* names;
};

constexpr std::string_view kOwn = "vyre$";  // the prefix of Python variables that the rewriting of the user's function has added

std::string new_name(Lets& self, std::string_view wanted) {
  if (self.names == nullptr) self.names = new Names;
  Names& names = *self.names;
  if (wanted.starts_with(kOwn)) wanted.remove_prefix(kOwn.size());
  const auto [known, is_new] = names.try_emplace(std::string(wanted), 1);
  if (is_new) return known->first;
  while (true) {
    std::string made = known->first + "_" + std::to_string(++known->second);
    if (names.contains(made)) continue;
    names.emplace(made, 1);
    return made;
  }
}

std::string_view text_of(PyObject* name) {
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(name, &size);
  if (text == nullptr) throw py::error_already_set();
  return {text, static_cast<std::size_t>(size)};
}

py::object id_of(py::handle object) { return py::reinterpret_steal<py::object>(PyLong_FromVoidPtr(object.ptr())); }

void check(int status) {
  if (status != 0) throw py::error_already_set();
}

// Makes the statement of `name = value`, and returns the expression that reads the variable from then on.
py::object let(Lets& self, PyObject* name, PyObject* value) {
  const int known = PyDict_Contains(self.variables, id_of(value).ptr());
  if (known < 0) throw py::error_already_set();
  if (known == 1) return py::reinterpret_borrow<py::object>(value);
  const std::string made = new_name(self, text_of(name));
  const ir::SourcePlace place = caller();
  if (self.dead == 0) {
    const py::object node = new_instance(PyNode{ir::node::open_let(made, exactly<PyExpr>(value)->handle, place)});
    check(PyList_Append(self.block, node.ptr()));
  }
  py::object variable = new_instance(PyExpr{ir::expr::var(made, place)});
  check(PyDict_SetItem(self.variables, id_of(variable).ptr(), py::make_tuple(py::str(made), variable).ptr()));
  return variable;
}

bool is_whole(const Lets& self) {
  return self.block != nullptr && PyList_Check(self.block) && self.variables != nullptr && PyDict_Check(self.variables);
}

Lets& lets_of(PyObject* self) { return *reinterpret_cast<Lets*>(self); }

PyObject* let_method(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  static PyObject* const otherwise = PyUnicode_InternFromString("_let");
  return guarded([&]() -> PyObject* {
    if (count != 2 || !PyUnicode_Check(args[0])) throw CallError("let takes (name, value). Fix: write let(name, value).");
    if (!is<PyExpr>(args[1]) || !is_whole(lets_of(self))) {
      PyObject* const arguments[] = {self, args[0], args[1]};
      return PyObject_VectorcallMethod(otherwise, arguments, 3, nullptr);
    }
    return let(lets_of(self), args[0], args[1]).release().ptr();
  });
}

PyObject* new_name_method(PyObject* self, PyObject* name) {
  return guarded([&]() -> PyObject* {
    if (!PyUnicode_Check(name)) throw CallError("new_name takes a str. Fix: write new_name(name).");
    const std::string made = new_name(lets_of(self), text_of(name));
    return PyUnicode_FromStringAndSize(made.data(), static_cast<Py_ssize_t>(made.size()));
  });
}

int traverse_lets(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(lets_of(self).block);
  Py_VISIT(lets_of(self).variables);
  return 0;
}

int clear_lets(PyObject* self) {
  Py_CLEAR(lets_of(self).block);
  Py_CLEAR(lets_of(self).variables);
  return 0;
}

void destroy_lets(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear_lets(self);
  delete lets_of(self).names;
  type->tp_free(self);
  Py_DECREF(type);
}

}  // namespace

void bind_lets(py::module_& m) {
  static char doc[] = "What the tracer of kernels is built on: it makes the statement of an assignment.";
  static PyMemberDef members[] = {{"block", T_OBJECT_EX, offsetof(Lets, block), 0, nullptr},
                                  {"variables", T_OBJECT_EX, offsetof(Lets, variables), 0, nullptr},
                                  {"dead", T_BOOL, offsetof(Lets, dead), 0, nullptr},
                                  {nullptr, 0, 0, 0, nullptr}};
  static PyMethodDef methods[] = {
      {"let", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(let_method)), METH_FASTCALL,
       "let($self, name, value, /)\n--\n\nThe value that a Python variable holds after an assignment."},
      {"new_name", new_name_method, METH_O, "new_name($self, name, /)\n--\n\nAn unused name: `name`, or `name` with a number appended."},
      {nullptr, nullptr, 0, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_members, members},
                                {Py_tp_methods, methods},
                                {Py_tp_traverse, reinterpret_cast<void*>(traverse_lets)},
                                {Py_tp_clear, reinterpret_cast<void*>(clear_lets)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(destroy_lets)},
                                {Py_tp_doc, doc},
                                {0, nullptr}};
  static PyType_Spec spec = {"vyre._core._Lets", sizeof(Lets), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  auto made = py::reinterpret_steal<py::object>(PyType_FromModuleAndSpec(m.ptr(), &spec, nullptr));
  if (!made) throw py::error_already_set();
  m.attr("_Lets") = made;
}

}  // namespace vyre::python
