// The class Array, and the functions that make one.
#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "bindings.hpp"
#include "construct.hpp"
#include "convert.hpp"
#include "graph.hpp"
#include "prepared.hpp"
#include "resident.hpp"
#include "vyre/base/error.hpp"
#include "waiting.hpp"

namespace vyre::python {
namespace {

PyArray allocate(const ElementType& element, std::vector<py::ssize_t> shape, py::handle backend, py::handle device, bool zeroed,
                 const std::string& function) {
  PyArray array;
  array.element = &element;
  array.shape = std::move(shape);
  array.backend = to_backend(backend, function);
  const std::optional<std::size_t> index = to_device(device, function);
  while_waiting({}, [&](const run::RunOptions&) {
    array.device = index ? *index : default_device(*array.backend);
    array.storage = array.backend->allocate(array.device, array.bytes(), zeroed);
  });
  return array;
}

// Null for what no buffer takes, foreign byte order too.
const ElementType* element_of(const py::dtype& dtype) {
  if (!dtype.attr("isnative").cast<bool>()) return nullptr;
  return element_type(dtype.kind(), static_cast<std::size_t>(dtype.itemsize()));
}

// `values` has the array's shape and element type and is C-contiguous.
void write(const PyArray& array, const py::array& values) {
  const auto* from = static_cast<const std::byte*>(values.data());
  while_waiting({}, [&](const run::RunOptions& options) {
    if (array.element->bytes == array.element->resident) {
      array.storage->write(array.offset, {from, static_cast<std::size_t>(array.bytes())}, options);
      return;
    }
    std::vector<std::uint32_t> words(array.size());
    for (std::size_t k = 0; k < words.size(); ++k) words[k] = from[k] != std::byte{0};
    array.storage->write(array.offset, std::as_bytes(std::span(words)), options);
  });
}

// Any array-like of the array's type, broadcast to its shape as numpy does.
void assign(const PyArray& self, py::handle values) {
  Graph::refuse("Array.write");
  const py::module_ numpy = py::module_::import("numpy");
  const py::dtype dtype(self.element->numpy);
  const std::string where = "argument `values` of Array.write";
  py::object given_values = py::reinterpret_borrow<py::object>(values);
  if (py::isinstance<PyArray>(values)) given_values = to_numpy(values.cast<const PyArray&>(), std::nullopt);
  if (py::isinstance(given_values, numpy.attr("ma").attr("MaskedArray"))) {
    reject(where, "an array whose every element counts", values, "write .filled(0) to give the masked elements a value");
  }
  try {
    const bool typed = py::hasattr(given_values, "dtype");
    py::array array = numpy.attr("asarray")(given_values, typed ? py::object(py::none()) : py::object(dtype)).cast<py::array>();
    if (!array.dtype().equal(dtype)) {
      reject(where, fmt::format("of dtype {}", self.element->numpy), values,
             fmt::format("write np.asarray(x).astype(np.{})", self.element->numpy));
    }
    array = numpy.attr("broadcast_to")(array, py::tuple(py::cast(self.shape))).cast<py::array>();
    write(self, numpy.attr("ascontiguousarray")(array).cast<py::array>());
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_ValueError) && !error.matches(PyExc_OverflowError) && !error.matches(PyExc_TypeError)) throw;
    reject(where, fmt::format("values that fit {}", self.describe()), values, "pass an array of that shape and dtype");
  }
}

PyArray make_array(const py::array& values, py::handle backend, py::handle device) {
  const std::string function = "vyre.array";
  const ElementType* element = element_of(values.dtype());
  if (element == nullptr) {
    reject("argument `values` of " + function, "of dtype uint32, int32, uint64, bool or uint8", values,
           fmt::format("write {}(x, dtype=np.uint32)", function));
  }
  const PyArray array = allocate(*element, {values.shape(), values.shape() + values.ndim()}, backend, device, false, function);
  write(array, values);
  return array;
}

PyArray make_empty(const std::vector<py::ssize_t>& shape, const py::dtype& dtype, py::handle backend, py::handle device) {
  const std::string function = "vyre.empty";
  const ElementType* element = element_of(dtype);
  if (element == nullptr) {
    throw ArgumentError(
        fmt::format("argument `dtype` of {} must be uint32, int32, uint64, bool or uint8, or a vyre.DataType, got {}. Fix: "
                    "write np.uint32.",
                    function, py::str(dtype).cast<std::string>()));
  }
  // Of the bytes: every product below fits 64 bits.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 48;
  std::uint64_t count = 1;
  for (const py::ssize_t extent : shape) {
    if (extent > 0 && count > kMost / static_cast<std::uint64_t>(extent)) {
      throw DeviceMemoryError(fmt::format("no device has memory for an array of shape {}. Fix: ask for fewer elements.",
                                          py::repr(py::tuple(py::cast(shape))).cast<std::string>()));
    }
    count *= static_cast<std::uint64_t>(extent);
  }
  return allocate(*element, shape, backend, device, true, function);
}

PyArray slice(const PyArray& self, py::handle key) {
  if (!PySlice_Check(key.ptr())) {
    reject("an index of a vyre.Array", "a slice along its first axis", key, "write array[a:b], or array.numpy() and index that");
  }
  if (self.shape.empty()) throw ArgumentError("a vyre.Array of shape () has no axis to slice. Fix: write array.numpy().");
  Py_ssize_t start = 0, stop = 0, step = 0;
  if (PySlice_Unpack(key.ptr(), &start, &stop, &step) < 0) throw py::error_already_set();
  if (step != 1) reject("a slice of a vyre.Array", "one of step 1", key, "write array[a:b], or array.numpy() and slice that");
  const Py_ssize_t count = PySlice_AdjustIndices(self.shape[0], &start, &stop, step);
  PyArray part = self;
  std::uint64_t row = self.element->resident;
  for (std::size_t axis = 1; axis < self.shape.size(); ++axis) row *= static_cast<std::uint64_t>(self.shape[axis]);
  part.shape[0] = count;
  part.offset += static_cast<std::uint64_t>(start) * row;
  return part;
}

}  // namespace

void bind_array(py::module_& m) {
  py::options options;
  options.disable_function_signatures();
  py::class_<PyArray> array(m, "Array", py::is_final(),
                            R"(Elements that stay on a device, C-contiguous, in the order and of the types of numpy: made by vyre.array or
vyre.empty, worked on by calling a Program with it, read by numpy().

Calls on a GPU return before they are done; whatever reads an array waits for the calls before it, and raises what they raised.

>>> a = vyre.array([1, 2, 3], dtype=vyre.u32, backend="cpu")
>>> a
<vyre.Array of uint32 with shape (3,) on cpu>
>>> a[1:].numpy()
array([2, 3], dtype=uint32))");
  def_no_new(array, "Array is not called directly. Fix: write vyre.array(values), or vyre.empty(shape).");
  array.def_property_readonly(
      "shape", [](const PyArray& self) { return py::tuple(py::cast(self.shape)); }, "Elements along each axis, a tuple.");
  array.def_property_readonly(
      "dtype", [](const PyArray& self) { return py::dtype(self.element->numpy); }, "The numpy dtype of an element.");
  array.def_property_readonly(
      "ndim", [](const PyArray& self) { return self.shape.size(); }, "How many axes.");
  array.def_property_readonly(
      "size", [](const PyArray& self) { return self.size(); }, "How many elements.");
  array.def_property_readonly(
      "nbytes", [](const PyArray& self) { return self.host_bytes(); }, "Of numpy(). On the device a bool takes four bytes.");
  array.def_property_readonly(
      "backend", [](const PyArray& self) { return lenient_str(self.backend->name()); }, "The name of the backend that works with it.");
  array.def_property_readonly(
      "device", [](const PyArray& self) { return self.device; }, "The index of its device among those of the backend.");
  array.def("__len__", [](const PyArray& self) {
    if (self.shape.empty()) throw py::type_error("len() of a vyre.Array of shape ()");
    return self.shape[0];
  });
  array.def("__repr__", [](const PyArray& self) {
    const bool only = self.backend->name() == "cpu" || self.backend->name() == "reference";
    return lenient_str(
        fmt::format("<{} on {}{}>", self.describe().substr(2), self.backend->name(), only ? "" : fmt::format(" device {}", self.device)));
  });
  array.def(
      "numpy", [](const PyArray& self, py::handle timeout) { return to_numpy(self, to_timeout(timeout, "Array.numpy")); },
      py::arg("timeout") = py::none(),
      R"(numpy(timeout=None) -> numpy.ndarray

The elements as a new numpy array, once the calls that write them are done.

Raises: what those calls raised; DispatchTimeoutError when they are not done after `timeout` seconds, and can be waited for again;
    DeviceLostError.

>>> vyre.empty((2, 2), backend="cpu").numpy()
array([[0, 0],
       [0, 0]], dtype=uint32))");
  array.def(
      "__array__",
      [](const PyArray& self, const py::object& dtype, const py::object& copy) {
        if (!copy.is_none() && !copy.cast<bool>()) {
          throw py::value_error("a vyre.Array lies on its device, so numpy gets a copy of it. Fix: leave out copy=False.");
        }
        const py::object array = to_numpy(self, std::nullopt);
        return dtype.is_none() ? array : py::object(array.attr("astype")(dtype, py::arg("copy") = false));
      },
      py::arg("dtype") = py::none(), py::kw_only(), py::arg("copy") = py::none());
  // Consumers of DLPack that run on the host get a copy, as numpy does.
  array.def("__dlpack__",
            [](const PyArray& self, const py::kwargs& kwargs) { return to_numpy(self, std::nullopt).attr("__dlpack__")(**kwargs); });
  array.def("__dlpack_device__", [](const PyArray&) { return py::make_tuple(1, 0); });
  array.def(
      "wait",
      [](const PyArray& self, py::handle timeout) {
        Graph::refuse("Array.wait");
        run::RunOptions patience;
        patience.timeout = to_timeout(timeout, "Array.wait");
        while_waiting(std::move(patience), [&](const run::RunOptions& options) { self.storage->wait(options); });
      },
      py::arg("timeout") = py::none(),
      R"(wait(timeout=None) -> None

Waits for the calls that use the array. Raises what they raised, and DispatchTimeoutError after `timeout` seconds.

>>> vyre.empty(3, backend="cpu").wait())");
  array.def("write", assign, py::arg("values"),
            R"(write(values) -> None

Writes all elements, in the order of the calls: those before see the old ones, those after the new.

Args:
    values: an array of the same dtype, or numbers; broadcast to the array's shape as numpy does.

>>> a = vyre.empty(3, backend="cpu")
>>> a.write([1, 2, 3])
>>> a.numpy()
array([1, 2, 3], dtype=uint32))");
  array.def(
      "__setitem__", [](const PyArray& self, py::handle key, py::handle values) { assign(slice(self, key), values); }, py::arg("key"),
      py::arg("values"));
  for (const char* name : {"__reduce__", "__copy__", "__deepcopy__"}) {
    array.def(name, [](const PyArray&, const py::args&) -> py::object {
      throw ArgumentError(
          "a vyre.Array is memory of a device, which is not copied or pickled. Fix: write array.numpy(), and vyre.array there.");
    });
  }
  array.def("__getitem__", slice, py::arg("key"),
            R"(array[a:b]: a view of these rows, which shares the array's memory.

>>> a = vyre.empty(4, backend="cpu")
>>> a[1:3][:] = [5, 6]
>>> a.numpy()
array([0, 5, 6, 0], dtype=uint32))");
  array.attr("__iter__") = py::none();
  array.attr("__hash__") = py::none();
  m.def("_array", make_array, py::arg("values"), py::arg("backend"), py::arg("device"));
  m.def("_empty", make_empty, py::arg("shape"), py::arg("dtype"), py::arg("backend"), py::arg("device"));
}

}  // namespace vyre::python
