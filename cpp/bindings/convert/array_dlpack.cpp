#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <memory>

#include "bindings/construct.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/graph.hpp"
#include "bindings/resident.hpp"
#include "bindings/waiting.hpp"

namespace vyre::python {
namespace {

// A numpy array that shares the storage's memory and keeps the storage alive.
py::array shared(const PyArray& self, std::byte* memory) {
  using Owner = std::shared_ptr<run::Storage>;
  const py::capsule keep(new Owner(self.storage), [](void* owner) { delete static_cast<Owner*>(owner); });
  return py::array(py::dtype(self.element->numpy), self.shape, memory + self.offset, keep);
}

}  // namespace

py::object dlpack(const PyArray& self, const py::args& args, const py::kwargs& kwargs) {
  Graph::refuse("Array.__dlpack__");
  static const Signature signature{"Array.__dlpack__", {"stream", "max_version", "dl_device", "copy"}, 0, 0};
  const std::vector<py::object> asked = bind_arguments(signature, args, kwargs);
  if (asked[0] && !asked[0].is_none()) {
    reject("argument `stream` of Array.__dlpack__", "None", asked[0]);
  }
  if (asked[1] && !asked[1].is_none()) {
    const bool pair = PyTuple_Check(asked[1].ptr()) && PyTuple_GET_SIZE(asked[1].ptr()) == 2 &&
                      is_integer(PyTuple_GET_ITEM(asked[1].ptr(), 0)) && is_integer(PyTuple_GET_ITEM(asked[1].ptr(), 1));
    if (!pair) reject("argument `max_version` of Array.__dlpack__", "a tuple of two integers or None", asked[1]);
  }
  py::object copy = py::none();
  if (asked[3] && !asked[3].is_none()) copy = py::bool_(to_bool(asked[3], "argument `copy` of Array.__dlpack__"));
  const bool as_is = self.element->bytes == self.element->resident;
  std::byte* const memory = as_is ? self.storage->host_memory() : nullptr;
  if (memory == nullptr && copy.is(py::bool_(false))) {
    throw py::buffer_error(fmt::format(
        "{} on {} {}. Fix: leave out copy=False.", self.describe(), self.backend->name(),
        as_is ? "lies in its device's memory, which the host does not share" : "takes four bytes an element there, and numpy one"));
  }
  py::object values;
  if (memory == nullptr || copy.is(py::bool_(true))) {
    values = to_numpy(self, std::nullopt);
  } else {
    while_waiting({}, [&](const run::RunOptions& options) { self.storage->wait(options); });
    values = shared(self, memory);
  }
  // The copy was already made or avoided above, and older numpy versions do not accept `copy`.
  if (kwargs.contains("copy") && !copy.is(py::bool_(true))) kwargs.attr("pop")("copy");
  return values.attr("__dlpack__")(**kwargs);
}

py::tuple dlpack_device(const PyArray& self) {
  constexpr int kHost = 1, kCuda = 2;
  const bool as_is = self.element->bytes == self.element->resident;
  const bool shared = self.backend->name() == "cuda" && as_is;
  return py::make_tuple(shared ? kCuda : kHost, shared ? self.device : std::size_t{0});
}

}  // namespace vyre::python
