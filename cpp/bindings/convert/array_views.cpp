#include <fmt/format.h>
#include <pybind11/numpy.h>

#include <algorithm>

#include "bindings/construct.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/resident.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/data_type.hpp"

namespace vyre::python {
namespace {

std::uint64_t row_bytes(const PyArray& array) {
  std::uint64_t row = array.element->resident;
  for (std::size_t axis = 1; axis < array.shape.size(); ++axis) row *= static_cast<std::uint64_t>(array.shape[axis]);
  return row;
}

PyArray slice(const PyArray& self, py::handle key) {
  Py_ssize_t start = 0, stop = 0, step = 0;
  if (PySlice_Unpack(key.ptr(), &start, &stop, &step) < 0) throw py::error_already_set();
  if (step != 1) {
    throw ArgumentError(fmt::format(
        "a slice of a vyre.Array has the step {}, and a part of an array has its elements side by side. Fix: leave the step out, or slice "
        "array.numpy(), which is a copy on the host.",
        step));
  }
  const Py_ssize_t count = PySlice_AdjustIndices(self.shape[0], &start, &stop, step);
  PyArray part = self;
  part.shape[0] = count;
  part.offset += static_cast<std::uint64_t>(start) * row_bytes(self);
  return part;
}

PyArray row(const PyArray& self, py::handle index) {
  const py::ssize_t count = self.shape[0];
  const py::ssize_t at = PyNumber_AsSsize_t(to_int(index).ptr(), nullptr);  // clipped if it does not fit Py_ssize_t
  if (at < -count || at >= count) {
    throw py::index_error(
        fmt::format("index {} is out of range for an axis of {} of {}. Fix: {}.", digits_of(index), count, self.describe(),
                    count == 0 ? "read no element of it" : fmt::format("write an index from {} to {}", -count, count - 1)));
  }
  PyArray part = self;
  part.shape.erase(part.shape.begin());
  part.offset += static_cast<std::uint64_t>(at < 0 ? at + count : at) * row_bytes(self);
  return part;
}

// Converts the argument `dtype` of Array.view: a DataType, or anything that numpy converts to a dtype.
ir::DataType to_viewed_type(py::handle object) {
  if (!py::isinstance<ir::DataType>(object) && !object.is_none() && !is_integer(object)) {
    try {
      const auto dtype = py::dtype::from_args(py::reinterpret_borrow<py::object>(object));
      if (const ElementType* element = element_of(dtype)) return element->type;
    } catch (const py::error_already_set&) {
      // The object is no dtype; to_type() converts or refuses it.
    }
  }
  return to_type(object, "argument `dtype` of Array.view");
}

}  // namespace

PyArray part_of(const PyArray& self, py::handle key) {
  py::tuple keys =
      PyTuple_Check(key.ptr()) ? py::reinterpret_borrow<py::tuple>(key) : py::make_tuple(py::reinterpret_borrow<py::object>(key));
  PyArray part = self;
  bool sliced = false;
  for (const py::handle each : keys) {
    if ((!is_integer(each) && !PySlice_Check(each.ptr())) || sliced) {
      reject("an index of a vyre.Array", "integers and at most one slice, which is the last", key);
    }
    if (part.shape.empty()) {
      throw py::index_error(fmt::format("{} has {} axes, and this index has more. Fix: write one for each axis, or array.numpy().",
                                        self.describe(), self.shape.size()));
    }
    sliced = PySlice_Check(each.ptr()) != 0;
    part = sliced ? slice(part, each) : row(part, each);
  }
  return part;
}

PyArray reshaped(const PyArray& self, const std::vector<py::ssize_t>& shape) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 48;
  std::uint64_t count = 1;
  bool fits = true;
  for (const py::ssize_t extent : shape) {
    fits = fits && extent >= 0 && (extent == 0 || count <= kMost / static_cast<std::uint64_t>(extent));
    if (fits) count *= static_cast<std::uint64_t>(extent);
  }
  if (!fits || count != self.size()) {
    throw ArgumentError(fmt::format("{} has another number of elements. Fix: write array.reshape(-1).", self.describe()));
  }
  PyArray view = self;
  view.shape = shape;
  return view;
}

PyArray view(const PyArray& self, py::handle dtype) {
  const ir::DataType type = to_viewed_type(dtype);
  const ElementType& element = element_type(type);
  const auto no_view = [&](const std::string& why) {
    return BindingError(fmt::format("{} has no view as `{}`: {}. Fix: convert array.numpy(), and pass that to vyre.array.", self.describe(),
                                    ir::text(type), why));
  };
  if (self.element == &element_type(ir::DataType::Bool)) throw no_view("what a bool is on the device is not what it is in numpy");
  if (type == ir::DataType::Bool) throw no_view("its words need not be 0 and 1");
  if (ir::min_bytes(type) == 0) throw no_view("its length is the host's");
  const std::uint64_t wanted = ir::min_bytes(type);
  if (self.bytes() % wanted != 0) throw no_view(fmt::format("its {} bytes are no multiple of {}", self.bytes(), wanted));
  if (self.offset % wanted != 0) throw no_view(fmt::format("it begins at byte {}, which is no multiple of {}", self.offset, wanted));
  PyArray viewed = self;
  viewed.element = &element;
  viewed.shape = {static_cast<py::ssize_t>(self.bytes() / wanted)};
  if (const std::uint32_t lanes = vector_lanes(type); lanes != 0) viewed.shape.push_back(lanes);
  return viewed;
}

}  // namespace vyre::python
