#include "bindings/seal.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include "bindings/construct.hpp"
#include "bindings/guarded.hpp"

namespace vyre::python {
namespace {

using Vectorcall = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
using Record = py::detail::function_record;

// pybind11's dispatcher, which runs every function of the module. call_sealed() takes its place and calls it.
Vectorcall dispatch = nullptr;

std::string keyword(PyObject* name) {
  constexpr std::size_t kLongest = 40;
  const py::object bytes = py::reinterpret_steal<py::object>(PyUnicode_AsEncodedString(name, "utf-8", "backslashreplace"));
  if (!bytes) throw py::error_already_set();
  return lenient_str(bytes.cast<std::string>().substr(0, kLongest)).cast<std::string>();
}

// Lists the types of the arguments from `first` on: "int, str, axis=float".
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

// Returns "(left, right)" for a docstring whose first line is "name(left, right) -> Expr", and an empty text for other docstrings.
std::string_view written_parameters(std::string_view doc, std::string_view name) {
  doc = doc.substr(0, doc.find('\n'));
  if (!doc.starts_with(name)) return {};
  doc.remove_prefix(name.size());
  doc = doc.substr(0, doc.rfind(" -> "));
  return doc.starts_with('(') && doc.ends_with(')') ? doc : std::string_view();
}

std::string_view doc_of(const Record& function) { return function.doc == nullptr ? std::string_view() : function.doc; }

// Returns the parameters of a function, as "(left, right)": from the first line of its docstring, else from pybind11's signature.
std::string parameters(const Record& function) {
  if (const std::string_view written = written_parameters(doc_of(function), function.name); !written.empty()) return std::string(written);
  const std::string_view known = function.signature;
  return std::string(known.substr(0, known.rfind(" -> ")));
}

[[noreturn]] void refuse_arguments(const Record& function, PyObject* const* args, std::size_t positional, PyObject* names) {
  const std::string fits = parameters(function);
  const std::string typed =
      fits.starts_with('(') ? fmt::format("({})", as_arguments(std::string_view(fits).substr(1, fits.size() - 2))) : fits;
  if (PyType_Check(function.scope.ptr()) == 0) {
    const std::string name = fmt::format("{}.{}", function.name[0] == '_' ? "vyre._core" : "vyre", function.name);
    throw CallError(
        fmt::format("{} takes {}, got ({}). Fix: write {}{}.", name, fits, given_types(args, 0, positional, names), name, typed));
  }
  auto* const owner = reinterpret_cast<PyTypeObject*>(function.scope.ptr());
  const std::string_view whole = owner->tp_name;
  const std::string name(whole.substr(whole.rfind('.') + 1));
  const bool bound = function.is_method && positional > 0 && PyObject_TypeCheck(args[0], owner) != 0;
  const std::string given = given_types(args, bound ? 1 : 0, positional, names);
  const std::string call = function.is_method ? fmt::format("x.{}{}, where x is of type {}", function.name, typed, name)
                                              : fmt::format("{}.{}{}", name, function.name, typed);
  throw CallError(fmt::format("{}.{} takes {}, got ({}). Fix: write {}.", name, function.name, fits, given, call));
}

// Whether a TypeError is pybind11's answer to a call that fits no signature.
bool fits_nothing(const py::error_already_set& error, const Record& function) {
  const std::string start = fmt::format("{}(): incompatible function arguments", function.name);
  return py::str(error.value()).attr("startswith")(start).cast<bool>();
}

// Calls the function through pybind11, but replaces pybind11's page-long message for a call that fits no signature.
PyObject* call_sealed(PyObject* self, PyObject* const* args, Py_ssize_t flags, PyObject* names) {
  return guarded([&]() -> PyObject* {
    bool refused = false;
    try {
      PyObject* result = dispatch(self, args, flags, names);
      if (result != nullptr || PyErr_Occurred() != PyExc_TypeError) return result;
    } catch (const py::error_already_set&) {
      refused = true;  // pybind11 could not build its message: a name has lone surrogates
    }
    const Record& function = *py::detail::function_record_ptr_from_PyObject(self);
    if (!refused) {
      py::error_already_set error;
      if (!fits_nothing(error, function)) {
        error.restore();
        return nullptr;
      }
    }
    refuse_arguments(function, args, static_cast<std::size_t>(PyVectorcall_NARGS(static_cast<std::size_t>(flags))), names);
  });
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

// Makes sure that an internal class of pybind11 is neither called nor inherited from.
void close(PyTypeObject* type, newfunc instead = refuse_new) {
  type->tp_new = instead;
  type->tp_flags &= ~Py_TPFLAGS_BASETYPE;
  make_immutable(type);
}

// Puts a signature in front of a docstring, in the form from which CPython makes `__text_signature__`, which inspect.signature reads. The
// text after the signature becomes `__doc__`.
std::string with_signature(std::string_view name, std::string_view parameters, std::string_view doc) {
  return fmt::format("{}{}\n--\n\n{}", name, parameters, doc);
}

// Gives a public function and `__call__` a signature. `__doc__` keeps its first line, because that line also has the type of the result.
// For `__call__`, the first line begins with the name of an object instead of the function's.
void sign_function(const Record& function) {
  const std::string_view name = function.name, doc = doc_of(function);
  const bool is_call = name == "__call__";
  if (name.starts_with('_') && !is_call) return;
  const std::string_view written = written_parameters(doc, is_call ? doc.substr(0, doc.find('(')) : name);
  if (written.empty()) return;
  std::string parameters(written);
  if (function.is_method) parameters.insert(1, written == "()" ? "self, /" : "self, /, ");
  const char*& text = function.def->ml_doc;
  std::free(const_cast<char*>(text));
  text = PYBIND11_COMPAT_STRDUP(with_signature(name, parameters, doc).c_str());
}

// Gives a class that is called a signature. `__doc__` loses its first line, which says no more than the signature.
void sign_class(PyTypeObject* type) {
  const std::string_view doc = type->tp_doc == nullptr ? "" : type->tp_doc;
  std::string_view name = type->tp_name;
  name.remove_prefix(name.rfind('.') + 1);
  const std::string_view written = written_parameters(doc, name);
  if (written.empty()) return;
  const std::string_view rest = doc.substr(name.size() + written.size() + 2);  // skips the line break and an empty line
  const std::string text = with_signature(name, written, rest);
  py::setattr(reinterpret_cast<PyObject*>(type), "__doc__", py::str(rest.data(), rest.size()));
  // Python frees tp_doc with the class. Python 3.13 and later use another allocator for it.
#if PY_VERSION_HEX >= 0x030D0000
  constexpr auto allocate = PyMem_Malloc;
  constexpr auto release = PyMem_Free;
#else
  constexpr auto allocate = PyObject_Malloc;
  constexpr auto release = PyObject_Free;
#endif
  void* const memory = allocate(text.size() + 1);
  if (memory == nullptr) throw std::bad_alloc();
  release(const_cast<char*>(type->tp_doc));
  type->tp_doc = static_cast<const char*>(std::memcpy(memory, text.c_str(), text.size() + 1));
}

// Returns the function in a member of a class or a module, or null if the member is no function.
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
    // pybind11 before 3.1 makes another form of function, which keeps pybind11's messages.
    if (method.ml_flags != (METH_FASTCALL | METH_KEYWORDS)) continue;
    const auto function = reinterpret_cast<Vectorcall>(reinterpret_cast<void (*)()>(method.ml_meth));
    if (function == call_sealed) continue;
    dispatch = function;
    method.ml_meth = reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call_sealed));
    sign_function(*py::detail::function_record_ptr_from_PyObject(self));
  }
}

// Closes the type of pybind11's function records, which Python code reaches as `__self__` of a function. Calling some methods of the type
// would end the process.
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
    sign_class(reinterpret_cast<PyTypeObject*>(value.ptr()));
    make_immutable(reinterpret_cast<PyTypeObject*>(value.ptr()));
  }
  close_function_records(m);
  close(base);
  close(kind, refuse_class);
}

}  // namespace vyre::python
