// Binds the class Array, and the functions that make arrays.
#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <chrono>
#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/calls/prepared.hpp"
#include "bindings/construct.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/graph.hpp"
#include "bindings/resident.hpp"
#include "bindings/seal.hpp"
#include "bindings/waiting.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/refused.hpp"

namespace vyre::python {
namespace {

PyArray allocate(const ElementType& element, std::vector<py::ssize_t> shape, py::handle backend, py::handle device, bool zeroed,
                 const std::string& function) {
  PyArray array;
  array.element = &element;
  array.shape = std::move(shape);
  const PlaceToRun place = to_place(backend, device, function);
  array.backend = place.backend;
  while_waiting({}, [&](const run::RunOptions&) {
    array.device = place.device ? *place.device : array.backend->default_device();
    array.storage = array.backend->allocate(array.device, array.bytes(), zeroed);
  });
  return array;
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

// Writes all elements. `values` is an array-like of the array's type, or numbers that fit it, broadcast as numpy does.
void assign(const PyArray& self, py::handle values) {
  Graph::refuse("Array.write");
  const py::module_ numpy = py::module_::import("numpy");
  const py::dtype dtype(self.element->numpy);
  const std::string where = "argument `values` of Array.write";
  py::object given_values = py::reinterpret_borrow<py::object>(values);
  if (is<PyArray>(values)) given_values = to_numpy(values.cast<const PyArray&>(), std::nullopt);
  if (is_masked(given_values)) {
    reject(where, "an array without a mask", "a masked array");
  }
  py::object array = given_values;
  if (!py::isinstance<py::array>(array) || !array.cast<py::array>().dtype().equal(dtype)) {
    array = py::module_::import("vyre._values").attr("assigned")(given_values, dtype, where);
  }
  try {
    array = numpy.attr("broadcast_to")(array, py::tuple(py::cast(self.shape)));
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_ValueError)) throw;
    reject(where, fmt::format("values that fit {}", self.describe()), given_values);
  }
  write(self, numpy.attr("ascontiguousarray")(array).cast<py::array>());
}

PyArray make_array(const py::array& values, py::handle backend, py::handle device) {
  const std::string function = "vyre.array";
  const ElementType* element = element_of(values.dtype());
  if (element == nullptr) {
    reject("argument `values` of " + function, "an array of " + element_names(), values);
  }
  PyArray array = allocate(*element, {values.shape(), values.shape() + values.ndim()}, backend, device, false, function);
  write(array, values);
  return array;
}

PyArray make_empty(py::handle extents, const py::dtype& dtype, py::handle backend, py::handle device) {
  const std::string function = "vyre.empty";
  const std::string where = "argument `shape` of " + function, wanted = "counts from 0 to 2^48 - 1";
  std::vector<py::ssize_t> shape;
  for (const py::object& extent : to_list(extents, where, wanted)) {
    shape.push_back(static_cast<py::ssize_t>(to_unsigned(extent, (std::uint64_t{1} << 48) - 1, where)));
  }
  const ElementType* element = element_of(dtype);
  if (element == nullptr) {
    reject("argument `dtype` of " + function, element_names() + ", or a vyre.DataType", py::str(dtype).cast<std::string>());
  }
  // Limits the number of elements so that every product below, in bytes, fits 64 bits.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 48;
  std::uint64_t count = 1;
  for (const py::ssize_t extent : shape) {
    if (extent > 0 && count > kMost / static_cast<std::uint64_t>(extent)) {
      throw no_memory("a device", fmt::format("shape {}", py::repr(py::tuple(py::cast(shape))).cast<std::string>()));
    }
    count *= static_cast<std::uint64_t>(extent);
  }
  return allocate(*element, shape, backend, device, true, function);
}

bool is_same(const PyArray& left, const PyArray& right) {
  return left.storage == right.storage && left.offset == right.offset && left.element == right.element && left.shape == right.shape;
}

py::object item(const PyArray& self, py::handle key) {
  PyArray part = part_of(self, key);
  if (!part.shape.empty()) return py::cast(std::move(part));
  Graph::refuse("reading an element of a vyre.Array");
  return to_numpy(part, std::nullopt)[py::tuple()];
}

// Returns the value of an array of one element, for int(), float() and bool().
py::object only_value(const PyArray& self, const char* function) {
  if (self.size() != 1) {
    throw ArgumentError(fmt::format("{}() takes a vyre.Array of one element, got {}. Fix: write {}(array[k]), or array.numpy().", function,
                                    self.describe(), function));
  }
  return to_numpy(self, std::nullopt).attr("item")();
}

bool truth(const PyArray& self) {
  if (self.size() != 1) {
    throw ArgumentError(
        fmt::format("{} has no truth value of its own. Fix: write array.numpy().any() or array.numpy().all().", self.describe()));
  }
  return only_value(self, "bool").cast<bool>();
}

// Returns the elements as text, or an empty text if they cannot be read now: repr() of an array must never fail.
std::string shown(const PyArray& self) {
  constexpr std::uint64_t kMostWhole = 1000;
  constexpr std::uint64_t kEdge = 3;
  if (Graph::recording() != nullptr) return {};
  const auto read = [&](std::uint64_t from, std::uint64_t count) {
    PyArray part = self;
    part.shape = {static_cast<py::ssize_t>(count)};
    part.offset += from * self.element->resident;
    return to_numpy(part, std::chrono::seconds(1));
  };
  const py::object text = py::module_::import("numpy").attr("array2string");
  try {
    if (self.size() <= kMostWhole) {
      const py::object values = read(0, self.size()).attr("reshape")(py::tuple(py::cast(self.shape)));
      return ": " + text(values, py::arg("separator") = ", ").cast<std::string>();
    }
    const auto edge = [&](std::uint64_t from) {
      const auto written = text(read(from, kEdge), py::arg("separator") = ", ").cast<std::string>();
      return written.substr(1, written.size() - 2);
    };
    return fmt::format(": [{}, ..., {}]", edge(0), edge(self.size() - kEdge));
  } catch (const Error&) {
    return {};
  }
}

void bind_properties(py::class_<PyArray>& array) {
  array.def_property_readonly(
      "shape", [](const PyArray& self) { return py::tuple(py::cast(self.shape)); }, "Elements along each axis, a tuple.");
  array.def_property_readonly(
      "dtype", [](const PyArray& self) { return py::dtype(self.element->numpy); }, "The numpy dtype of an element.");
  array.def_property_readonly(
      "ndim", [](const PyArray& self) { return self.shape.size(); }, "The number of axes.");
  array.def_property_readonly(
      "size", [](const PyArray& self) { return self.size(); }, "The number of elements.");
  array.def_property_readonly(
      "nbytes", [](const PyArray& self) { return self.host_bytes(); }, "The size of numpy() in bytes. On the device a bool takes four.");
  array.def_property_readonly(
      "backend", [](const PyArray& self) { return lenient_str(self.backend->name()); }, "The name of the backend that it belongs to.");
  array.def_property_readonly(
      "device", [](const PyArray& self) { return self.device; }, "The index of its device among those of the backend.");
}

void bind_view(py::class_<PyArray>& array) {
  array.def("view", view, py::arg("dtype"),
            R"(view(dtype) -> Array

The same memory as elements of another DataType or numpy dtype: nothing is copied, and each array shows what is written to the other. The
result has one axis, and for vectors a second one for the lanes. Views overlap as slices do: a Program may bind two views of one array if it
writes neither.

Raises: BindingError if the array's size or its offset in memory is no multiple of the new element's size, and for Bool and Bytes,
    which have no views. ArgumentError if `dtype` is no type of an element.

>>> a = vyre.array([1, 2, 3, 4], dtype=vyre.u32, backend="cpu")
>>> a.view(vyre.u64).numpy()
array([ 8589934593, 17179869187], dtype=uint64)
>>> a.view("uint8").shape
(16,)
>>> a.view(vyre.vec2u32).shape
(2, 2))");
}

// Binds the methods that read or write elements.
void bind_transfers(py::class_<PyArray>& array) {
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
      "tobytes", [](const PyArray& self, py::handle timeout) { return to_bytes_object(self, to_timeout(timeout, "Array.tobytes")); },
      py::arg("timeout") = py::none(),
      R"(tobytes(timeout=None) -> bytes

The elements as new bytes, in the order and form of numpy(), whose own tobytes() would copy them once more.

Raises: as numpy().

>>> vyre.array([1, 2], dtype=vyre.u16, backend="cpu").tobytes()
b'\x01\x00\x02\x00')");
  array.def(
      "__array__",
      [](const PyArray& self, const py::object& dtype, const py::object& copy) -> py::object {
        if (!copy.is_none() && !to_bool(copy, "argument `copy` of Array.__array__")) {
          return py::module_::import("vyre._sharing").attr("shared")(py::cast(self), dtype);
        }
        if (dtype.is_none()) return to_numpy(self, std::nullopt);
        py::object wanted;
        try {
          wanted = py::dtype::from_args(dtype);
        } catch (py::error_already_set& error) {
          if (!error.matches(PyExc_Exception)) throw;
          reject("argument `dtype` of Array.__array__", "a numpy dtype", dtype);
        }
        return to_numpy(self, std::nullopt).attr("astype")(wanted, py::arg("copy") = false);
      },
      py::arg("dtype") = py::none(), py::kw_only(), py::arg("copy") = py::none(),
      R"(The elements, for ``np.asarray(array)``: a copy on every backend, so that a program behaves alike on all of them.

``copy=False`` gives the memory itself, as DLPack does, if the host can access it.)");
  array.def("__dlpack__", dlpack);
  array.def("__dlpack_device__", dlpack_device);
  array.def(
      "wait",
      [](const PyArray& self, py::handle timeout) {
        Graph::refuse("Array.wait");
        run::RunOptions patience;
        patience.timeout = to_timeout(timeout, "Array.wait");
        if (self.storage->is_ready()) return;
        while_waiting(std::move(patience), [&](const run::RunOptions& options) { self.storage->wait(options); });
      },
      py::arg("timeout") = py::none(),
      R"(wait(timeout=None) -> None

Waits for the calls that use the array. Raises what they raised, and DispatchTimeoutError after `timeout` seconds.

>>> vyre.empty(3, backend="cpu").wait())");
  array.def("write", assign, py::arg("values"),
            R"(write(values) -> None

Writes all elements, in the order of the calls: earlier calls see the old elements, and later calls the new ones.

Args:
    values: an array of the same dtype, or numbers; broadcast to the array's shape as numpy does.

>>> a = vyre.empty(3, backend="cpu")
>>> a.write([1, 2, 3])
>>> a.numpy()
array([1, 2, 3], dtype=uint32))");
  array.def(
      "__setitem__",
      [](const PyArray& self, py::handle key, py::handle values) {
        const PyArray part = part_of(self, key);
        // `array[a:b] += 1` ends with an assignment of the part to itself.
        if (is<PyArray>(values) && is_same(part, values.cast<const PyArray&>())) return;
        assign(part, values);
      },
      py::arg("key"), py::arg("values"));
  for (const char* name : {"__reduce__", "__copy__", "__deepcopy__"}) {
    array.def(name, [](const PyArray&, const py::args&) -> py::object {
      throw ArgumentError(
          "a vyre.Array is memory of a device, which is not copied or pickled. Fix: write array.numpy(), and vyre.array there.");
    });
  }
  array.def("__getitem__", item, py::arg("key"),
            R"(array[a:b]: a view of these rows, which shares the array's memory; array[k] is a row, or the value of an element.

>>> a = vyre.empty(4, backend="cpu")
>>> a[1:3][:] = [5, 6]
>>> a.numpy()
array([0, 5, 6, 0], dtype=uint32))");
}

}  // namespace

void bind_array(py::module_& m) {
  py::class_<PyArray> array(m, "Array", py::is_final(), made_whole<PyArray>(),
                            R"(Elements that stay on a device, C-contiguous, in the order and of the types of numpy: made by vyre.array or
vyre.empty, worked on by calling a Program with it and by operators, read by numpy().

Calls on a GPU return before they are done; whatever reads an array waits for the calls before it, and raises what they raised.

>>> a = vyre.array([1, 2, 3], dtype=vyre.u32, backend="cpu")
>>> a
<vyre.Array of uint32 with shape (3,) on cpu: [1, 2, 3]>
>>> int(a[0])
1
>>> a[1:].numpy()
array([2, 3], dtype=uint32))");
  def_no_new(array, "write vyre.array(values), or vyre.empty(shape)");
  bind_properties(array);
  array.def("__len__", [](const PyArray& self) {
    if (self.shape.empty()) throw CallError("a vyre.Array of shape () has no length. Fix: read its `size`.");
    return self.shape[0];
  });
  array.def("__repr__", [](const PyArray& self) {
    return lenient_str(fmt::format("<{} on {}{}{}>", self.describe().substr(2), self.backend->name(),
                                   self.backend->is_host() ? "" : fmt::format(" device {}", self.device), shown(self)));
  });
  bind_view(array);
  bind_transfers(array);
  array.def("__int__", [](const PyArray& self) { return only_value(self, "int"); });
  array.def("__float__", [](const PyArray& self) { return py::float_(only_value(self, "float")); });
  array.def("__bool__", truth);
  array.def("__iter__", [](const PyArray&) -> py::object {
    throw py::type_error("a vyre.Array is not iterable: each element would be a read of its own. Fix: write array.numpy().");
  });
  array.attr("__hash__") = py::none();
  m.def("_array", make_array, py::arg("values"), py::arg("backend"), py::arg("device"));
  m.def("_reshaped", reshaped, py::arg("array"), py::arg("shape"));
  m.def("_is_masked", is_masked, py::arg("values"));
  // The operators and some methods are written in Python. The package adds them through this function when it is imported for the first
  // time.
  m.def(
      "_complete_array",
      [](const py::dict& members) {
        static bool complete = false;
        if (!std::exchange(complete, true)) add_members(py::type::of<PyArray>(), members);
      },
      py::arg("members"));
  m.def("_empty", make_empty, py::arg("shape"), py::arg("dtype"), py::arg("backend"), py::arg("device"));
}

}  // namespace vyre::python
