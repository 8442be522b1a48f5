#include "seal.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <string>
#include <string_view>

namespace vyre::python {
namespace {

using Function = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
using Record = py::detail::function_record;

// pybind11's, behind every function of the module.
Function dispatch = nullptr;

std::string keyword(PyObject* name) {
  constexpr std::size_t kLongest = 40;
  const py::object bytes = py::reinterpret_steal<py::object>(PyUnicode_AsEncodedString(name, "utf-8", "backslashreplace"));
  if (!bytes) throw py::error_already_set();
  return lenient_str(bytes.cast<std::string>().substr(0, kLongest)).cast<std::string>();
}

// "int, str, axis=float": the types of what was given from `first` on.
std::string given_types(PyObject* const* args, std::size_t first, std::size_t positional, PyObject* names) {
  constexpr std::size_t kMost = 10, kLongest = 60;
  const std::size_t total = positional + (names == nullptr ? 0 : static_cast<std::size_t>(PyTuple_GET_SIZE(names)));
  std::string result;
  for (std::size_t k = first; k < total; ++k) {
    if (k > first) result += ", ";
    if (k == first + kMost) return result + "...";
    if (k >= positional) result += keyword(PyTuple_GET_ITEM(names, static_cast<Py_ssize_t>(k - positional))) + "=";
    result += lenient_str(std::string_view(Py_TYPE(args[k])->tp_name).substr(0, kLongest)).cast<std::string>();
  }
  return result;
}

// "(left, right)": by the first line of the docstring, else what pybind11 knows.
std::string parameters(const Record& function) {
  const std::string start = fmt::format("{}(", function.name);
  std::string_view text = function.doc == nullptr ? "" : function.doc;
  text = text.substr(0, text.find('\n'));
  if (text.starts_with(start)) {
    text.remove_prefix(start.size() - 1);
  } else {
    text = function.signature;
  }
  return std::string(text.substr(0, text.rfind(" -> ")));
}

[[noreturn]] void refuse_call(const Record& function, PyObject* const* args, std::size_t positional, PyObject* names) {
  const std::string fits = parameters(function);
  if (PyType_Check(function.scope.ptr()) == 0) {
    const std::string name = fmt::format("{}.{}", function.name[0] == '_' ? "vyre._core" : "vyre", function.name);
    throw CallError(
        fmt::format("{} takes {}, got ({}). Fix: write {}{}.", name, fits, given_types(args, 0, positional, names), name, fits));
  }
  auto* const owner = reinterpret_cast<PyTypeObject*>(function.scope.ptr());
  const std::string_view whole = owner->tp_name;
  const std::string name(whole.substr(whole.rfind('.') + 1));
  const bool bound = function.is_method && positional > 0 && PyObject_TypeCheck(args[0], owner) != 0;
  const std::string given = given_types(args, bound ? 1 : 0, positional, names);
  const std::string call = function.is_method ? fmt::format("x.{}{}, where x is of type {}", function.name, fits, name)
                                              : fmt::format("{}.{}{}", name, function.name, fits);
  throw CallError(fmt::format("{}.{} takes {}, got ({}). Fix: write {}.", name, function.name, fits, given, call));
}

// Whether a TypeError is pybind11's answer to a call that fits no signature.
bool fits_nothing(const py::error_already_set& error, const Record& function) {
  const std::string start = fmt::format("{}(): incompatible function arguments", function.name);
  return py::str(error.value()).attr("startswith")(start).cast<bool>();
}

// Calls the function through pybind11, but replaces pybind11's page-long message for a call that fits no signature.
PyObject* call(PyObject* self, PyObject* const* args, Py_ssize_t flags, PyObject* names) {
  try {
    bool refused = false;
    try {
      PyObject* result = dispatch(self, args, flags, names);
      if (result != nullptr || PyErr_Occurred() != PyExc_TypeError) return result;
    } catch (const py::error_already_set&) {
      refused = true;  // it could not write its answer down: a name that UTF-8 cannot hold
    }
    const Record& function = *py::detail::function_record_ptr_from_PyObject(self);
    if (!refused) {
      py::error_already_set error;
      if (!fits_nothing(error, function)) {
        error.restore();
        return nullptr;
      }
    }
    refuse_call(function, args, static_cast<std::size_t>(PyVectorcall_NARGS(static_cast<std::size_t>(flags))), names);
  } catch (py::error_already_set& error) {
    error.restore();
#ifdef __GLIBCXX__
  } catch (abi::__forced_unwind&) {
    throw;  // how Python ends a thread that comes back after the interpreter
#endif
  } catch (...) {
    py::detail::try_translate_exceptions();
  }
  return nullptr;
}

PyObject* refuse_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyErr_Format(PyExc_TypeError, "%.100s makes no objects. Fix: use the functions that vyre shows.", type->tp_name);
  return nullptr;
}

PyObject* refuse_class(PyTypeObject*, PyObject*, PyObject*) {
  PyErr_SetString(PyExc_TypeError,
                  "the classes of vyre have no subclasses. Fix: keep an object of theirs in an attribute of your own class.");
  return nullptr;
}

void make_immutable(PyTypeObject* type) {
#ifdef Py_TPFLAGS_IMMUTABLETYPE
  type->tp_flags |= Py_TPFLAGS_IMMUTABLETYPE;
#endif
  PyType_Modified(type);
}

// A class of pybind11's own: neither called nor inherited from.
void close(PyTypeObject* type, newfunc instead = refuse_new) {
  type->tp_new = instead;
  type->tp_flags &= ~Py_TPFLAGS_BASETYPE;
  make_immutable(type);
}

// The function in what a class or a module holds, or null.
PyObject* function_in(py::handle value) {
  if (PyInstanceMethod_Check(value.ptr())) return PyInstanceMethod_GET_FUNCTION(value.ptr());
  if (PyCFunction_Check(value.ptr())) return value.ptr();
  if (py::isinstance<py::staticmethod>(value)) return value.attr("__func__").ptr();
  return nullptr;
}

void seal_functions(py::handle owner) {
  for (const auto& [name, value] : py::dict(owner.attr("__dict__"))) {
    PyObject* const found = function_in(value);
    if (found == nullptr || PyCFunction_Check(found) == 0) continue;
    PyObject* const self = PyCFunction_GET_SELF(found);
    if (self == nullptr || py::detail::function_record_ptr_from_PyObject(self) == nullptr) continue;
    PyMethodDef& method = *reinterpret_cast<PyCFunctionObject*>(found)->m_ml;
    // Before 3.1 pybind11 has another form of function; such a one keeps pybind11's words.
    if (method.ml_flags != (METH_FASTCALL | METH_KEYWORDS)) continue;
    const auto function = reinterpret_cast<Function>(reinterpret_cast<void (*)()>(method.ml_meth));
    if (function == call) continue;
    dispatch = function;
    method.ml_meth = reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call));
  }
}

// The type of `__self__` of pybind11's functions. Some of its methods end the process.
void close_function_records(const py::module_& m) {
  auto* const type = Py_TYPE(PyCFunction_GET_SELF(py::object(m.attr("parse")).ptr()));
  for (const char* name : {"__init__", "__new__"}) {
    if (PyDict_DelItemString(type->tp_dict, name) != 0) throw py::error_already_set();
  }
  type->tp_init = [](PyObject*, PyObject*, PyObject*) { return 0; };
  close(type);
}

}  // namespace

void add_members(py::handle kind, const py::dict& members) {
  auto* const type = reinterpret_cast<PyTypeObject*>(kind.ptr());
#ifdef Py_TPFLAGS_IMMUTABLETYPE
  type->tp_flags &= ~Py_TPFLAGS_IMMUTABLETYPE;
#endif
  for (const auto& [name, value] : members) py::setattr(kind, name, value);
  make_immutable(type);
}

void seal(const py::module_& m) {
  const auto* const expr = reinterpret_cast<PyTypeObject*>(py::type::of<PyExpr>().ptr());
  PyTypeObject* const base = expr->tp_base;
  PyTypeObject* const kind = Py_TYPE(reinterpret_cast<const PyObject*>(expr));
  seal_functions(m);
  for (const auto& [name, value] : py::dict(m.attr("__dict__"))) {
    if (Py_TYPE(value.ptr()) != kind) continue;
    seal_functions(value);
    make_immutable(reinterpret_cast<PyTypeObject*>(value.ptr()));
  }
  close_function_records(m);
  close(base);
  close(kind, refuse_class);
}

}  // namespace vyre::python
