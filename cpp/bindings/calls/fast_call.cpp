#include "bindings/calls/fast_call.hpp"

#include <pybind11/numpy.h>

#include <algorithm>
#include <vector>

#include "bindings/convert/convert.hpp"
#include "vyre/ir/number.hpp"

namespace vyre::python {
namespace {

// The reference is never released, because the classes live as long as the process.
PyTypeObject* numpy_class(const char* name) {
  return reinterpret_cast<PyTypeObject*>(py::object(py::module_::import("numpy").attr(name)).release().ptr());
}

const std::vector<PyTypeObject*>& numpy_integers() {
  static const auto& types = *new std::vector<PyTypeObject*>([] {
    std::vector<PyTypeObject*> found;
    for (const char* name : {"uint32", "int64", "int32", "uint64", "uint8", "int8", "uint16", "int16", "longlong", "ulonglong"}) {
      found.push_back(numpy_class(name));
    }
    return found;
  }());
  return types;
}

bool is_numpy_integer(PyObject* value) { return std::ranges::find(numpy_integers(), Py_TYPE(value)) != numpy_integers().end(); }

// Returns the low 64 bits of an int that lies in the range, else nothing.
std::optional<std::uint64_t> int_in(PyObject* value, const NumberRange& range) {
  int overflow = 0;
  const long long small = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow < 0) return std::nullopt;
  auto bits = static_cast<std::uint64_t>(small);
  if (overflow > 0) {
    bits = PyLong_AsUnsignedLongLong(value);
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      return std::nullopt;
    }
  } else if (small < 0) {
    return small >= range.least ? std::optional(bits) : std::nullopt;
  }
  return bits <= range.most ? std::optional(bits) : std::nullopt;
}

std::optional<std::uint64_t> truth_of(PyObject* value) {
  if (PyBool_Check(value)) return value == Py_True ? 1 : 0;
  static PyTypeObject* const numpy_bool = numpy_class("bool_");
  if (Py_TYPE(value) != numpy_bool) return std::nullopt;
  const int truth = PyObject_IsTrue(value);
  if (truth < 0) throw py::error_already_set();
  return static_cast<std::uint64_t>(truth);
}

bool is_same_int(PyObject* a, PyObject* b) {
  return PyLong_CheckExact(a) && PyLong_CheckExact(b) && PyObject_RichCompareBool(a, b, Py_EQ) == 1;
}

// Whether two values are the same object, or equal ints, equal strs, or tuples of such items. False for all other values.
bool is_same_value(PyObject* a, PyObject* b) {
  const auto same = [](PyObject* x, PyObject* y) { return x == y || is_same_int(x, y) || is_same_text(x, y); };
  if (same(a, b)) return true;
  if (!PyTuple_CheckExact(a) || !PyTuple_CheckExact(b) || PyTuple_GET_SIZE(a) != PyTuple_GET_SIZE(b)) return false;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(a); ++k) {
    if (!same(PyTuple_GET_ITEM(a, k), PyTuple_GET_ITEM(b, k))) return false;
  }
  return true;
}

}  // namespace

std::optional<std::uint64_t> number_in(py::handle value, const NumberRange& range) {
  if (range.is_truth) return truth_of(value.ptr());
  if (PyLong_CheckExact(value.ptr())) return int_in(value.ptr(), range);
  if (!is_numpy_integer(value.ptr())) return std::nullopt;
  return int_in(to_int(value).ptr(), range);
}

std::optional<std::uint64_t> Expected::number(PyObject* given) const {
  if (!same) return number_in(given, range);
  return is_same_value(given, same.ptr()) ? std::optional<std::uint64_t>(0) : std::nullopt;
}

std::optional<std::uint64_t> bits_given(ir::DataType type, py::handle value) {
  const NumberRange range = range_of(type);
  const auto bits = number_in(value, range);
  if (bits || range.is_truth || PyBool_Check(value.ptr()) || py::isinstance<py::array>(value)) return bits;
  const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (index) return int_in(index.ptr(), range);
  if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw py::error_already_set();
  PyErr_Clear();
  return std::nullopt;
}

NumberRange range_of(ir::DataType type) {
  if (type == ir::DataType::Bool) return {0, 1, true};
  const ir::NumberRange range = ir::range(type);
  return {static_cast<std::int64_t>(range.least.bits()), range.greatest.bits(), false};
}

Expected expected_of(py::handle told) {
  if (PyList_Check(told.ptr())) return {{}, told.cast<py::list>()[0]};
  return {range_of(to_type(told, "an argument of _launch")), {}};
}

ParameterWord word_of(py::handle told) {
  if (PyLong_Check(told.ptr())) return {std::nullopt, 0, told.cast<std::uint32_t>()};
  const auto [argument, part] = told.cast<std::pair<std::size_t, std::uint8_t>>();
  return {argument, part % 2U, 0};
}

}  // namespace vyre::python
