#include "bindings/calls/fast_call.hpp"

#include <pybind11/numpy.h>

#include "bindings/convert/convert.hpp"
#include "vyre/ir/number.hpp"

namespace vyre::python {
namespace {

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

std::optional<std::uint64_t> number_in(py::handle value, ir::DataType type) {
  if (type == ir::DataType::Bool) {
    if (!is_boolean(value)) return std::nullopt;
    return PyObject_IsTrue(value.ptr()) == 1 ? 1 : 0;
  }
  const std::optional<ir::Number> number = to_number(value);
  return number && number->fits(type) ? std::optional(number->literal(type).bits()) : std::nullopt;
}

std::optional<std::uint64_t> Expected::number(PyObject* given) const {
  if (!same) return number_in(given, type);
  return is_same_value(given, same.ptr()) ? std::optional<std::uint64_t>(0) : std::nullopt;
}

std::optional<std::uint64_t> bits_given(ir::DataType type, py::handle value) {
  const auto bits = number_in(value, type);
  if (bits || type == ir::DataType::Bool || PyBool_Check(value.ptr()) || py::isinstance<py::array>(value)) return bits;
  const py::object index = index_of(value);
  return index ? number_in(index, type) : std::nullopt;
}

Expected expected_of(py::handle told) {
  if (PyList_Check(told.ptr())) return {{}, told.cast<py::list>()[0]};
  return {to_type(told, "an argument of _launch"), {}};
}

ParameterWord word_of(py::handle told) {
  if (PyLong_Check(told.ptr())) return {std::nullopt, 0, told.cast<std::uint32_t>()};
  const auto [argument, part] = told.cast<std::pair<std::size_t, std::uint8_t>>();
  return {argument, part % 2U, 0};
}

}  // namespace vyre::python
