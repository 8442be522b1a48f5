// Each conversion first tries the types that nearly all calls pass, without calling into Python. Everything else goes the slow way, on
// which an object of a user's class may run code and raise. given() describes any object in a short text for the error.
#include "bindings/convert/convert.hpp"

#include <fmt/format.h>
#include <pybind11/native_enum.h>
#include <pybind11/numpy.h>

#include <algorithm>

#include "bindings/resident.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/data_type.hpp"

namespace vyre::python {
namespace {

PYBIND11_CONSTINIT py::gil_safe_call_once_and_store<py::object> numpy_integer;
PYBIND11_CONSTINIT py::gil_safe_call_once_and_store<py::object> numpy_bool;
PYBIND11_CONSTINIT py::gil_safe_call_once_and_store<py::object> numpy_generic;

const py::object& numpy_type(py::gil_safe_call_once_and_store<py::object>& store, const char* name) {
  return store.call_once_and_store_result([&] { return py::object(py::module_::import("numpy").attr(name)); }).get_stored();
}

// Reads tp_name directly: a class can override __name__ and return anything.
std::string type_name(py::handle object) {
  constexpr std::size_t kLongest = 100;
  std::string_view name = Py_TYPE(object.ptr())->tp_name;
  if (const std::size_t dot = name.rfind('.'); dot != name.npos) name.remove_prefix(dot + 1);
  return lenient_str(name.substr(0, kLongest)).cast<std::string>();
}

// Returns the object's repr(), or nothing if repr() raises an Exception.
std::optional<std::string> repr_of(py::handle object) {
  const py::object text = py::reinterpret_steal<py::object>(PyObject_Repr(object.ptr()));
  const py::object bytes =
      text ? py::reinterpret_steal<py::object>(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace")) : text;
  if (bytes) return bytes.cast<std::string>();
  if (PyErr_ExceptionMatches(PyExc_Exception) == 0) throw py::error_already_set();
  PyErr_Clear();
  return std::nullopt;
}

}  // namespace

std::string given(py::handle object) {
  constexpr std::size_t kLongest = 60;
  const std::string type = type_name(object);
  if (object.is_none()) return "None";
  if (py::isinstance<py::array>(object)) {
    return fmt::format("an array of {} with shape {}", py::str(object.attr("dtype")).cast<std::string>(),
                       py::str(object.attr("shape")).cast<std::string>());
  }
  if (PyLong_Check(object.ptr()) && !PyBool_Check(object.ptr())) {
    const auto bits = object.attr("bit_length")().cast<std::size_t>();
    if (bits > 128) return fmt::format("an integer of {} bits", bits);
  }
  if (PyUnicode_Check(object.ptr()) || PyBytes_Check(object.ptr())) {
    // Shows only the beginning, because repr() of the whole could be as long as the user's data.
    py::object start = object[py::slice(0, kLongest, 1)];
    const std::size_t length = PyUnicode_Check(object.ptr()) ? static_cast<std::size_t>(PyUnicode_GET_LENGTH(object.ptr()))
                                                             : static_cast<std::size_t>(PyBytes_GET_SIZE(object.ptr()));
    return fmt::format("{}{} ({})", repr_of(start).value_or(""), length > kLongest ? "..." : "", type);
  }
  if (PyLong_Check(object.ptr()) || PyFloat_Check(object.ptr()) || PyType_Check(object.ptr()) || is_integer(object) || is_boolean(object) ||
      is<PyExpr>(object) || is<PyNode>(object) || py::isinstance(object, py::module_::import("enum").attr("Enum"))) {
    if (std::optional<std::string> text = repr_of(object)) {
      if (text->size() > 2 * kLongest) text = text->substr(0, 2 * kLongest) + "...";
      return fmt::format("{} ({})", *text, type);
    }
  }
  if (PyTuple_Check(object.ptr())) {
    const auto items = py::reinterpret_borrow<py::tuple>(object);
    const bool plain = items.size() <= 8 && std::all_of(items.begin(), items.end(), [](py::handle item) { return is_integer(item); });
    if (plain) {
      std::string text = repr_of(object).value_or(std::string(2 * kLongest + 1, ' '));
      if (text.size() <= 2 * kLongest) return fmt::format("{} ({})", text, type);
    }
  }
  if (py::isinstance(object, numpy_type(numpy_generic, "generic"))) {
    return fmt::format("{} ({})", py::str(object).cast<std::string>().substr(0, kLongest), type);
  }
  return fmt::format("an object of type {}", type);
}

std::string argument(const char* name, std::string_view function) { return fmt::format("argument `{}` of {}", name, function); }

void reject(const std::string& where, const std::string& wanted, py::handle object) { reject(where, wanted, given(object)); }

void reject(const std::string& where, const std::string& wanted, const std::string& got) {
  throw ArgumentError(fmt::format("{} must be {}, got {}. Fix: pass {}.", where, wanted, got, wanted));
}

void reject_name(const std::string& where, const std::string& names, py::handle object, const std::string& meant) {
  throw ArgumentError(fmt::format("{} must be one of {}, got {}. Fix: write one of these{}.", where, names, given(object), meant));
}

bool is_boolean(py::handle object) {
  return PyBool_Check(object.ptr()) || (!PyLong_Check(object.ptr()) && py::isinstance(object, numpy_type(numpy_bool, "bool_")));
}

bool is_integer(py::handle object) {
  if (PyLong_Check(object.ptr())) return !PyBool_Check(object.ptr());
  return py::isinstance(object, numpy_type(numpy_integer, "integer"));
}

// Does not import numpy.ma: before that module is imported, no masked array exists. Importing it takes time, and a child that is forked
// while another thread imports it would wait for ever.
bool is_masked(py::handle object) {
  PyObject* const loaded = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy.ma");
  if (loaded == nullptr) return false;
  const py::object masked = py::getattr(loaded, "MaskedArray", py::none());  // missing while the module is being imported
  return !masked.is_none() && py::isinstance(object, masked);
}

py::int_ to_int(py::handle object) {
  PyObject* const number = PyNumber_Index(object.ptr());
  if (number == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::int_>(number);
}

py::object index_of(py::handle object) {
  PyObject* const number = PyNumber_Index(object.ptr());
  if (number == nullptr) {
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw py::error_already_set();
    PyErr_Clear();
  }
  return py::reinterpret_steal<py::object>(number);
}

std::optional<ir::Number> to_number(py::handle object) {
  const py::object value = is_integer(object) ? index_of(object) : py::object();
  if (!value) return std::nullopt;
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow == 0) return ir::Number::of(static_cast<std::uint64_t>(number), number < 0);
  const unsigned long long large = PyLong_AsUnsignedLongLong(value.ptr());
  if (PyErr_Occurred() == nullptr) return ir::Number{large};
  PyErr_Clear();
  return std::nullopt;
}

std::uint64_t to_unsigned(py::handle object, std::uint64_t last, const std::string& where) {
  const std::optional<ir::Number> number = to_number(object);
  if (!number || number->negative || number->magnitude > last) reject(where, fmt::format("an integer from 0 to {}", last), object);
  return number->magnitude;
}

ir::Number to_number(py::handle object, ir::DataType type, const std::string& where) {
  const std::optional<ir::Number> number = to_number(object);
  if (!number || !number->fits(type)) reject(where, fmt::format("an integer from {}", ir::range_text(type)), object);
  return *number;
}

bool to_bool(py::handle object, const std::string& where) {
  if (!is_boolean(object)) reject(where, "True or False", object);
  return PyObject_IsTrue(object.ptr()) == 1;
}

std::string to_text(py::handle object, const std::string& where) {
  if (!PyUnicode_Check(object.ptr())) reject(where, "a str", object);
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
  if (text == nullptr) {
    PyErr_Clear();
    reject(where, "text that UTF-8 can hold", object);
  }
  return std::string(text, static_cast<std::size_t>(size));
}

ir::DataType to_type(py::handle object, const std::string& where) {
  return to_member<ir::DataType>(object, ir::kTypes.size(), where, "a vyre.DataType");
}

ir::BufferAccess to_access(py::handle object, const std::string& where) {
  return to_member<ir::BufferAccess>(object, ir::kAccesses.size(), where, "a vyre.BufferAccess");
}

std::optional<std::uint32_t> plain_u32(py::handle object) {
  if (!PyLong_CheckExact(object.ptr())) return std::nullopt;
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (overflow != 0 || number < 0 || number > 0xFFFFFFFFll) return std::nullopt;
  return static_cast<std::uint32_t>(number);
}

ir::ExprHandle quick_expr(py::handle object) {
  if (is<PyExpr>(object)) return object.cast<const PyExpr&>().handle;
  const std::optional<std::uint32_t> number = plain_u32(object);
  return number ? ir::expr::u32(*number, caller()) : ir::ExprHandle();
}

ir::ExprHandle to_adapting(py::handle object, const std::string& where) {
  if (is<PyExpr>(object)) return object.cast<const PyExpr&>().handle;
  if (!is_integer(object)) return to_expr(object, where);
  const std::optional<ir::Number> number = to_number(object);
  if (!number) reject(where, "an Expr, a bool or an integer from -9223372036854775808 to 18446744073709551615", object);
  return ir::expr::integer(*number, caller());
}

ir::ExprHandle to_expr(py::handle object, const std::string& where) {
  if (is<PyExpr>(object)) return object.cast<const PyExpr&>().handle;
  if (is_boolean(object)) return ir::expr::boolean(PyObject_IsTrue(object.ptr()) == 1, caller());
  const std::optional<ir::Number> number = to_number(object);
  if (!number || !number->fits(ir::DataType::U32)) reject(where, "an Expr, an integer from 0 to 4294967295 or a bool", object);
  return ir::expr::literal(number->literal(ir::DataType::U32), caller());
}

std::string digits_of(py::handle number) {
  try {
    std::string text = py::str(number).cast<std::string>();
    if (text.size() <= 100) return text;
  } catch (py::error_already_set&) {  // Python writes no more than 4,300 digits
  }
  return "x";
}

py::object to_iterator(py::handle object, const std::string& where, const std::string& wanted) {
  if (PyUnicode_Check(object.ptr()) || PyBytes_Check(object.ptr()) || is<PyExpr>(object) || is<PyNode>(object) ||
      is<ir::BufferDecl>(object) || is<PyArray>(object) || PyDict_Check(object.ptr()) || PyAnySet_Check(object.ptr()) ||
      PyMemoryView_Check(object.ptr())) {
    reject(where, wanted, object);
  }
  py::object iterator = py::reinterpret_steal<py::object>(PyObject_GetIter(object.ptr()));
  if (!iterator) {
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw py::error_already_set();
    PyErr_Clear();
    reject(where, wanted, object);
  }
  return iterator;
}

void reject_count(const std::string& where, const std::string& wanted, std::size_t most) {
  reject(where, wanted, fmt::format("more than {} elements", most));
}

py::dict to_dict(py::handle mapping, const std::string& where) {
  if (PyDict_CheckExact(mapping.ptr())) return py::reinterpret_steal<py::dict>(PyDict_Copy(mapping.ptr()));
  py::dict result;
  for_each(mapping.attr("keys")(), "the keys of " + where, "names", [&](const py::object& key) { result[key] = py::object(mapping[key]); });
  return result;
}

std::vector<py::object> to_list(py::handle object, const std::string& where, const std::string& wanted) {
  constexpr std::size_t kMost = 1000;
  std::vector<py::object> result;
  for_each(
      object, where, wanted, [&](const py::object& item) { result.push_back(item); }, kMost);
  return result;
}

namespace {

template <class Convert>
std::vector<ir::ExprHandle> each_expr(py::handle object, const std::string& where, const Convert& convert) {
  std::vector<ir::ExprHandle> result;
  for_each(object, where, "a list of expressions", [&](const py::object& item) {
    if (is<PyExpr>(item)) {
      result.push_back(item.cast<const PyExpr&>().handle);
    } else {
      result.push_back(convert(item, fmt::format("element {} of {}", result.size(), where)));
    }
  });
  return result;
}

}  // namespace

std::vector<ir::ExprHandle> to_exprs(py::handle object, const std::string& where) {
  return each_expr(object, where, [](py::handle item, const std::string& at) { return to_expr(item, at); });
}

std::vector<ir::ExprHandle> to_adapting_list(py::handle object, const std::string& where) {
  return each_expr(object, where, [](py::handle item, const std::string& at) { return to_adapting(item, at); });
}

std::vector<ir::NodeHandle> to_nodes(py::handle object, const std::string& where) {
  std::vector<ir::NodeHandle> result;
  for_each(object, where, "a list of Nodes", [&](const py::object& item) {
    if (!is<PyNode>(item)) reject(fmt::format("element {} of {}", result.size(), where), "a Node", item);
    result.push_back(item.cast<const PyNode&>().handle);
  });
  return result;
}

std::string bytes_argument(py::handle object, const std::string& where) {
  Py_buffer view;
  if (PyUnicode_Check(object.ptr()) || PyObject_GetBuffer(object.ptr(), &view, PyBUF_SIMPLE) != 0) {
    PyErr_Clear();
    reject(where, "bytes", object);
  }
  std::string result(static_cast<const char*>(view.buf), static_cast<std::size_t>(view.len));
  PyBuffer_Release(&view);
  return result;
}

}  // namespace vyre::python
