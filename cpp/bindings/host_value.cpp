#include "host_value.hpp"

#include <fmt/format.h>
#include <pybind11/numpy.h>

#include <algorithm>
#include <cmath>

#include "convert.hpp"
#include "resident.hpp"
#include "vyre/base/error.hpp"

namespace vyre::python {
namespace {

using ir::BufferAccess;
using ir::BufferDecl;
using ir::DataType;

constexpr std::uint64_t kLongestBuffer = 0xFFFFFFFFu;

bool takes_a_value(const BufferDecl& decl) {
  return decl.access == BufferAccess::Uniform && decl.count <= 1 && decl.element != DataType::Bytes && vector_lanes(decl.element) == 0;
}

// True for a tuple of integers; a list is taken for elements that are no array yet.
bool is_shape(py::handle object) {
  if (!PyTuple_Check(object.ptr())) return false;
  for (const py::handle extent : py::reinterpret_borrow<py::tuple>(object)) {
    if (!is_integer(extent)) return false;
  }
  return true;
}

// Nothing for what 64 bits do not hold.
std::optional<std::int64_t> small(py::handle integer) {
  const py::int_ number = py::reinterpret_steal<py::int_>(PyNumber_Index(integer.ptr()));
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0) return std::nullopt;
  return value;
}

const char* numpy_name(const BufferDecl& decl) { return element_type(decl.element).numpy; }

// Python's two limits of an integer element, and how it wraps around.
struct Range {
  const char* text;
  const char* wrapped;
};
Range range_of(DataType element) {
  switch (element) {
    case DataType::I32:
      return {"-2147483648 to 2147483647", "write (x + 2**31) % 2**32 - 2**31 for its low 32 bits"};
    case DataType::U64:
      return {"0 to 18446744073709551615", "write x & 0xFFFFFFFFFFFFFFFF for its low 64 bits"};
    default:
      return {"0 to 4294967295", "write x & 0xFFFFFFFF for its low 32 bits"};
  }
}

py::object array_of(py::handle value, const BufferDecl& decl) {
  return py::module_::import("numpy").attr("array")(py::make_tuple(py::reinterpret_borrow<py::object>(value)), numpy_name(decl));
}

bool fits(const BufferDecl& decl, py::handle integer) {
  if (decl.element == DataType::Bool || decl.element == DataType::Bytes) return false;
  const py::module_ numpy = py::module_::import("numpy");
  const py::object limits = numpy.attr("iinfo")(numpy_name(decl));
  const auto inside = py::reinterpret_steal<py::int_>(PyNumber_Index(integer.ptr()));
  return inside >= limits.attr("min") && inside <= limits.attr("max");
}

// What to write for a buffer that takes arrays alone.
std::string array_fix(const BufferDecl& decl, py::handle object) {
  const std::string dtype = fmt::format("np.{}", numpy_name(decl));
  if (vector_lanes(decl.element) != 0) {
    const char* const row = vector_lanes(decl.element) == 2 ? "[x, y]" : "[x, y, z, w]";
    return fmt::format("write np.array([{}], {}) for one vector", row, dtype);
  }
  const auto filled = [&](const std::string& value) {
    return decl.count > 1 ? fmt::format("np.full({}, {}, {})", decl.count, value, dtype) : fmt::format("np.array([{}], {})", value, dtype);
  };
  if (is_boolean(object)) {
    const bool truth = PyObject_IsTrue(object.ptr()) == 1;
    return "write " + filled(decl.element == DataType::Bool ? (truth ? "True" : "False") : (truth ? "1" : "0"));
  }
  if (!is_integer(object)) return fmt::format("write {} with an integer x", filled("x"));
  std::string fix;
  if (fits(decl, object)) {
    fix = fmt::format("write {} for that value", filled(digits_of(object)));
  } else if (decl.element != DataType::Bool && decl.element != DataType::Bytes) {
    return fmt::format("write {} with x from {}", filled("x"), range_of(decl.element).text);
  }
  const auto count = small(object);
  if (decl.count == 0 && count && *count >= 0) {
    fix += fmt::format("{}np.zeros({}, {}) for that many zeros", fix.empty() ? "write " : ", or ", *count, dtype);
  }
  return fix.empty() ? fmt::format("write {}", filled(decl.element == DataType::Bool ? "True" : "x")) : fix;
}

// What to write for a number that is not the value of this Uniform buffer.
std::string value_fix(const BufferDecl& decl, py::handle object) {
  if (decl.element == DataType::Bool) {
    const int truth = PyObject_IsTrue(object.ptr());
    PyErr_Clear();
    return truth == 0 ? "write False" : "write True";
  }
  if (is_boolean(object)) return PyObject_IsTrue(object.ptr()) == 1 ? "write 1" : "write 0";
  if (is_integer(object)) return range_of(decl.element).wrapped;
  const double number = PyFloat_AsDouble(object.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return "write an integer";
  }
  if (!std::isfinite(number)) return fmt::format("write an integer from {}", range_of(decl.element).text);
  if (number == std::floor(number)) return "write int(x)";
  return "write round(x), or int(x) to drop the fraction";
}

bool is_scalar(py::handle object) {
  return is_integer(object) || is_boolean(object) || PyFloat_Check(object.ptr()) || PyComplex_Check(object.ptr()) ||
         py::isinstance(object, py::module_::import("numpy").attr("generic"));
}

std::string plain_array(const BufferDecl& decl) {
  switch (decl.element) {
    case DataType::Bool:
      return "a numpy array of bool or uint32";
    case DataType::Bytes:
      return "a numpy array of uint8, or bytes";
    case DataType::Vec2U32:
    case DataType::Vec4U32:
      return fmt::format("a numpy array of uint32 with shape (n, {})", ir::lanes(decl.element));
    case DataType::U32:
    case DataType::I32:
    case DataType::U64:
      break;
  }
  return fmt::format("a numpy array of {}", numpy_name(decl));
}

}  // namespace

std::string wanted_array(const BufferDecl& decl) {
  if (!takes_a_value(decl)) return plain_array(decl);
  if (decl.element == DataType::Bool) return "True, False, or " + plain_array(decl);
  return fmt::format("an integer from {}, or {}", range_of(decl.element).text, plain_array(decl));
}

void refuse(const BufferDecl& decl, const std::string& want, const std::string& got, const std::string& fix) {
  throw BindingError(fmt::format("buffer `{}` ({}) wants {}, got {}. Fix: {}.", decl.name, ir::text(decl.element), want, got, fix));
}

std::optional<std::vector<py::ssize_t>> zeros_of(const BufferDecl& decl, py::handle object) {
  if (decl.access != BufferAccess::ReadWrite) return std::nullopt;
  const bool number = is_integer(object);
  if (!number && !is_shape(object)) return std::nullopt;
  std::vector<py::ssize_t> shape;
  std::uint64_t count = 1;
  const auto add = [&](py::handle extent) {
    const auto size = small(extent);
    if (!size || *size < 0 || static_cast<std::uint64_t>(*size) > kLongestBuffer) {
      refuse(decl, "from 0 to 4294967295 zero elements", given(object), "write a number in that range, or an array");
    }
    shape.push_back(static_cast<py::ssize_t>(*size));
    // The axes beside an empty one count too: numpy has no room for such an array either.
    count = std::min(count * static_cast<std::uint64_t>(std::max<std::int64_t>(*size, 1)), kLongestBuffer + 1);
  };
  if (number) {
    add(object);
  } else {
    for (const py::handle extent : py::reinterpret_borrow<py::tuple>(object)) add(extent);
  }
  if (count > kLongestBuffer || shape.size() > 32) {
    refuse(decl, "from 0 to 4294967295 zero elements", given(object), "write a shape of so many, or an array");
  }
  if (const std::uint32_t lanes = vector_lanes(decl.element)) shape.push_back(static_cast<py::ssize_t>(lanes));
  return shape;
}

py::object value_of(const BufferDecl& decl, py::handle object) {
  if (!takes_a_value(decl) || !is_scalar(object)) return {};
  const bool right = decl.element == DataType::Bool ? is_boolean(object) : is_integer(object) && fits(decl, object);
  if (!right) refuse(decl, wanted_array(decl), given(object), value_fix(decl, object));
  return array_of(object, decl);
}

void refuse_value(const BufferDecl& decl, py::handle object) {
  const std::string dtype = fmt::format("np.{}", numpy_name(decl));
  std::string want = wanted_array(decl);
  if (decl.access == BufferAccess::ReadWrite) want += ", or a number or a shape of zero elements";
  if (is_shape(object)) {
    py::object shape = py::reinterpret_borrow<py::object>(object);
    if (const std::uint32_t lanes = vector_lanes(decl.element)) shape = shape + py::make_tuple(lanes);
    refuse(decl, want, given(object),
           fmt::format("write np.zeros({}, {}) for zeros of that shape", py::str(shape).cast<std::string>(), dtype));
  }
  if (is_scalar(object)) {
    if (decl.access == BufferAccess::ReadWrite && PyFloat_Check(object.ptr())) {
      refuse(decl, want, given(object), "divide with `//` for a number of elements, as in -(-n // 2), which rounds up");
    }
    refuse(decl, want, given(object), array_fix(decl, object));
  }
  if (PyObject_CheckBuffer(object.ptr()) != 0 &&
      (PyBytes_Check(object.ptr()) || PyByteArray_Check(object.ptr()) || PyMemoryView_Check(object.ptr()))) {
    if (decl.element == DataType::Bytes) refuse(decl, want, given(object), "write np.frombuffer(x, np.uint8)");
    if (decl.element == DataType::U32) refuse(decl, want, given(object), "write vyre.pack_bytes(x)");
    refuse(decl, want, given(object), fmt::format("write np.frombuffer(x, {})", dtype));
  }
  if (PyObject_HasAttrString(object.ptr(), "__dlpack__") != 0) refuse(decl, want, given(object), "write np.from_dlpack(x)");
  const auto action = py::module_::import("vyre._values").attr("sequence")(object, numpy_name(decl)).cast<std::string>();
  refuse(decl, want, given(object), action);
}

}  // namespace vyre::python
