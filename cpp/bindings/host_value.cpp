#include "host_value.hpp"

#include <fmt/format.h>
#include <pybind11/numpy.h>

#include <algorithm>
#include <cmath>

#include "convert.hpp"
#include "literals.hpp"
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

// True for a tuple of integers. A list is no shape: most likely it holds the elements of an array that the caller did not make.
bool is_shape(py::handle object) {
  if (!PyTuple_Check(object.ptr())) return false;
  for (const py::handle extent : py::reinterpret_borrow<py::tuple>(object)) {
    if (!is_integer(extent)) return false;
  }
  return true;
}

// Returns nothing for an integer that does not fit 64 bits.
std::optional<std::int64_t> small(py::handle integer) {
  const py::int_ number = to_int(integer);
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0) return std::nullopt;
  return value;
}

const char* numpy_name(const BufferDecl& decl) { return element_type(decl.element).numpy; }

py::object array_of(py::handle value, const BufferDecl& decl) {
  return py::module_::import("numpy").attr("array")(py::make_tuple(py::reinterpret_borrow<py::object>(value)), numpy_name(decl));
}

// numpy's name of the element type, as code.
std::string dtype_code(const BufferDecl& decl) {
  return decl.element == DataType::Bool ? "np.bool_" : fmt::format("np.{}", numpy_name(decl));
}

// Writes Python source that makes arrays of a buffer's element type: numpy arrays, or arrays that stay on a device.
class Making {
 public:
  Making(const BufferDecl& decl, Home home) : dtype_(dtype_code(decl)), resident_(home == Home::Device) {}

  std::string of(const std::string& values) const {
    return resident_ ? fmt::format("vyre.array({}, dtype={})", values, dtype_) : fmt::format("np.array({}, {})", values, dtype_);
  }
  std::string zeros(const std::string& shape) const {
    return fmt::format("{}({}, {})", resident_ ? "vyre.empty" : "np.zeros", shape, dtype_);
  }
  std::string full(std::uint32_t count, const std::string& value) const {
    return from(fmt::format("np.full({}, {}, {})", count, value, dtype_));
  }
  // `code` makes a numpy array.
  std::string from(const std::string& code) const { return resident_ ? fmt::format("vyre.array({})", code) : code; }
  const std::string& dtype() const { return dtype_; }

 private:
  std::string dtype_;
  bool resident_;
};

// The Fix for a scalar in the place of a buffer that takes only arrays.
std::string array_fix(const BufferDecl& decl, py::handle object, const Making& making) {
  if (vector_lanes(decl.element) != 0) {
    return fmt::format("write {} for one vector", making.of(vector_lanes(decl.element) == 2 ? "[[x, y]]" : "[[x, y, z, w]]"));
  }
  const auto filled = [&](const std::string& value) {
    return decl.count > 1 ? making.full(decl.count, value) : making.of("[" + value + "]");
  };
  if (is_boolean(object)) {
    const bool truth = PyObject_IsTrue(object.ptr()) == 1;
    return "write " + filled(decl.element == DataType::Bool ? (truth ? "True" : "False") : (truth ? "1" : "0"));
  }
  if (!is_integer(object)) return fmt::format("write {} with an integer x", filled("x"));
  std::string fix;
  if (fits(decl.element, object)) {
    fix = fmt::format("write {} for that value", filled(digits_of(object)));
  } else if (decl.element != DataType::Bool && decl.element != DataType::Bytes) {
    return fmt::format("write {} with x from {}", filled("x"), range_of(decl.element));
  }
  const auto count = small(object);
  if (decl.count == 0 && count && *count >= 0) {
    fix += fmt::format("{}{} for that many zeros", fix.empty() ? "write " : ", or ", making.zeros(std::to_string(*count)));
  }
  return fix.empty() ? fmt::format("write {}", filled(decl.element == DataType::Bool ? "True" : "x")) : fix;
}

// Returns a list as a tuple if it could be the shape of an array: up to four lengths that a buffer can have. Otherwise returns a null
// object.
py::object as_shape(py::handle object) {
  constexpr std::size_t kMostAxes = 4;
  if (!PyList_Check(object.ptr())) return {};
  const py::tuple items(py::reinterpret_borrow<py::object>(object));  // a copy: looking at an item may run code that changes the list
  if (items.empty() || items.size() > kMostAxes || !is_shape(items)) return {};
  for (const py::handle item : items) {
    const auto count = small(item);
    if (!count || *count < 0 || static_cast<std::uint64_t>(*count) > kLongestBuffer) return {};
  }
  return items;
}

// The Fix for a number that is not the value of this Uniform buffer.
std::string value_fix(const BufferDecl& decl, py::handle object) {
  if (decl.element == DataType::Bool) {
    const int truth = PyObject_IsTrue(object.ptr());
    PyErr_Clear();
    return truth == 0 ? "write False" : "write True";
  }
  if (is_boolean(object)) return PyObject_IsTrue(object.ptr()) == 1 ? "write 1" : "write 0";
  if (is_integer(object)) return wrapped(decl.element);
  const double number = PyFloat_AsDouble(object.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return "write an integer";
  }
  if (!std::isfinite(number)) return fmt::format("write an integer from {}", range_of(decl.element));
  if (number == std::floor(number)) return "write int(x)";
  return "write round(x), or int(x) to drop the fraction";
}

bool is_scalar(py::handle object) {
  return is_integer(object) || is_boolean(object) || PyFloat_Check(object.ptr()) || PyComplex_Check(object.ptr()) ||
         py::isinstance(object, py::module_::import("numpy").attr("generic"));
}

std::string plain_array(const BufferDecl& decl) {
  const std::string array = fmt::format("a numpy array of {}", numpy_name(decl));
  if (decl.element == DataType::Bool) return array + " or uint32";
  if (takes_bytes(decl)) return array + ", or bytes";
  return ir::is_vector(decl.element) ? fmt::format("{} with shape (n, {})", array, vector_lanes(decl.element)) : array;
}

// The Fix for an object that is no array of the kind that `home` requires.
std::string fix_for(const BufferDecl& decl, py::handle object, Home home) {
  const Making making(decl, home);
  const bool written = decl.access == BufferAccess::ReadWrite;
  if (is_shape(object)) {
    py::object shape = py::reinterpret_borrow<py::object>(object);
    if (const std::uint32_t lanes = vector_lanes(decl.element)) shape = shape + py::make_tuple(lanes);
    return fmt::format("write {} for zeros of that shape", making.zeros(py::str(shape).cast<std::string>()));
  }
  if (is_scalar(object)) {
    const bool length = written && PyFloat_Check(object.ptr());
    return length ? "divide with `//` for a number of elements, as in -(-n // 2), which rounds up" : array_fix(decl, object, making);
  }
  const bool text = PyUnicode_Check(object.ptr());
  if (text || (PyObject_CheckBuffer(object.ptr()) != 0 &&
               (PyBytes_Check(object.ptr()) || PyByteArray_Check(object.ptr()) || PyMemoryView_Check(object.ptr())))) {
    const std::string bytes = text ? "x.encode()" : "x";
    if (decl.element == DataType::U32) return "write " + making.from(fmt::format("vyre.pack_bytes({})", bytes));
    const bool any = takes_bytes(decl);
    if (any || !text) return "write " + making.from(fmt::format("np.frombuffer({}, {})", bytes, making.dtype()));
  }
  const py::module_ values = py::module_::import("vyre._values");
  const bool resident = home == Home::Device;
  const char* const dtype = numpy_name(decl);
  if (py::isinstance<py::array>(object)) {
    if (py::reinterpret_borrow<py::array>(object).dtype().equal(py::dtype(dtype))) {
      return "write vyre.array(x), or call vyre.run, which takes numpy arrays";
    }
    return values.attr("conversion")(object, dtype, "x", resident).cast<std::string>();
  }
  if (PyObject_HasAttrString(object.ptr(), "__dlpack__") != 0) return resident ? "write vyre.array(x)" : "write np.from_dlpack(x)";
  auto fix = values.attr("sequence")(object, dtype, resident).cast<std::string>();
  if (const py::object shape = written ? as_shape(object) : py::object()) {
    fix += fmt::format(", or {} for zeros of that shape", py::str(shape).cast<std::string>());
  }
  return fix;
}

}  // namespace

bool takes_bytes(const BufferDecl& decl) { return ir::info(decl.element).also == "bytes"; }

std::string wanted_array(const BufferDecl& decl, Home home) {
  const std::string array = home == Home::Device ? "a vyre.Array" : plain_array(decl);
  if (!takes_a_value(decl)) return array;
  return fmt::format("{}, or {}", numbers_of(decl.element), array);
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
    // An empty axis counts as 1, so that the other axes are still checked: numpy refuses a large array with an empty axis, too.
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

py::object value_of(const BufferDecl& decl, py::handle object, Home home) {
  if (!takes_a_value(decl) || !is_scalar(object)) return {};
  if (!holds(decl.element, object)) refuse(decl, wanted_array(decl, home), given(object), value_fix(decl, object));
  return array_of(object, decl);
}

void refuse_value(const BufferDecl& decl, py::handle object, Home home) {
  std::string want = wanted_array(decl, home);
  if (decl.access == BufferAccess::ReadWrite) want += ", or a number or a shape of zero elements";
  refuse(decl, want, given(object), fix_for(decl, object, home));
}

}  // namespace vyre::python
