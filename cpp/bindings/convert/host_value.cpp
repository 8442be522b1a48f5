#include "bindings/convert/host_value.hpp"

#include <fmt/format.h>
#include <pybind11/numpy.h>

#include <algorithm>

#include "bindings/convert/convert.hpp"
#include "bindings/resident.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/data_type.hpp"

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

const char* numpy_name(const BufferDecl& decl) { return element_type(decl.element).numpy; }

py::object array_of(py::handle value, const BufferDecl& decl) {
  return py::module_::import("numpy").attr("array")(py::make_tuple(py::reinterpret_borrow<py::object>(value)), numpy_name(decl));
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

}  // namespace

bool takes_bytes(const BufferDecl& decl) { return ir::info(decl.element).also == "bytes"; }

std::string wanted_array(const BufferDecl& decl, Home home) {
  std::string array = home == Home::Device ? "a vyre.Array" : plain_array(decl);
  if (!takes_a_value(decl)) return array;
  return fmt::format("{}, or {}", numbers_of(decl.element), array);
}

void refuse(const BufferDecl& decl, const std::string& want, const std::string& got) {
  throw BindingError(fmt::format("buffer `{}` ({}) wants {}, got {}. Fix: pass {}.", decl.name, ir::text(decl.element), want, got, want));
}

std::optional<std::vector<py::ssize_t>> zeros_of(const BufferDecl& decl, py::handle object) {
  if (decl.access != BufferAccess::ReadWrite) return std::nullopt;
  const bool number = is_integer(object);
  if (!number && !is_shape(object)) return std::nullopt;
  std::vector<py::ssize_t> shape;
  std::uint64_t count = 1;
  const auto add = [&](py::handle extent) {
    const std::optional<ir::Number> size = to_number(extent);
    if (!size || !size->fits(DataType::U32)) {
      refuse(decl, "from 0 to 4294967295 zero elements", given(object));
    }
    shape.push_back(static_cast<py::ssize_t>(size->magnitude));
    // An empty axis counts as 1, so that the other axes are still checked: numpy refuses a large array with an empty axis, too.
    count = std::min(count * std::max<std::uint64_t>(size->magnitude, 1), kLongestBuffer + 1);
  };
  if (number) {
    add(object);
  } else {
    for (const py::handle extent : py::reinterpret_borrow<py::tuple>(object)) add(extent);
  }
  if (count > kLongestBuffer || shape.size() > 32) {
    refuse(decl, "from 0 to 4294967295 zero elements", given(object));
  }
  if (const std::uint32_t lanes = vector_lanes(decl.element)) shape.push_back(static_cast<py::ssize_t>(lanes));
  return shape;
}

py::object value_of(const BufferDecl& decl, py::handle object, Home home) {
  if (!takes_a_value(decl) || !is_scalar(object)) return {};
  if (!holds(decl.element, object)) refuse(decl, wanted_array(decl, home), given(object));
  return array_of(object, decl);
}

void refuse_value(const BufferDecl& decl, py::handle object, Home home) {
  std::string want = wanted_array(decl, home);
  if (decl.access == BufferAccess::ReadWrite) want += ", or a number or a shape of zero elements";
  refuse(decl, want, given(object));
}

}  // namespace vyre::python
