#include "bindings/resident.hpp"

#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>

#include "bindings/graph.hpp"
#include "bindings/waiting.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/refused.hpp"
#include "vyre/ir/data_type.hpp"
#include "vyre/run/host/host_memory.hpp"

namespace vyre::python {
namespace {

// The numpy columns of types.def, each dtype once.
const auto kElements = [] {
  std::vector<ElementType> elements;
  for (const ir::TypeInfo& row : ir::kTypes) {
    const auto same = [&](const ElementType& each) { return each.kind == row.numpy_kind && each.bytes == row.numpy_bytes; };
    const std::uint32_t resident = row.bytes == 0 ? row.numpy_bytes : row.bytes / row.components;
    const auto found = std::ranges::find_if(elements, same);
    if (found == elements.end()) {
      elements.push_back({row.numpy.data(), row.numpy_kind, row.numpy_bytes, resident, row.type});
    } else if (ir::min_bytes(found->type) == 0) {
      found->type = row.type;  // U8 and Bytes have the same dtype, but Bytes is no type of a single element
    }
  }
  return elements;
}();

}  // namespace

const ElementType* element_type(char kind, std::size_t bytes) {
  const auto found = std::ranges::find_if(kElements, [&](const ElementType& each) { return each.kind == kind && each.bytes == bytes; });
  return found == kElements.end() ? nullptr : &*found;
}

const ElementType& element_type(ir::DataType type) { return *element_type(ir::info(type).numpy_kind, ir::info(type).numpy_bytes); }

std::string element_names() {
  std::string names;
  for (const ElementType& each : kElements) {
    names += fmt::format("{}{}", names.empty() ? "" : &each == &kElements.back() ? " or " : ", ", each.numpy);
  }
  return names;
}

const ElementType* element_of(py::handle dtype) {
  if (!dtype.attr("isnative").cast<bool>()) return nullptr;
  const auto given = py::reinterpret_borrow<py::dtype>(dtype);
  return element_type(given.kind(), static_cast<std::size_t>(given.itemsize()));
}

std::uint32_t vector_lanes(ir::DataType type) { return ir::is_vector(type) ? ir::info(type).components : 0; }

std::uint64_t PyArray::size() const {
  std::uint64_t count = 1;
  for (const py::ssize_t extent : shape) count *= static_cast<std::uint64_t>(extent);
  return count;
}

std::string PyArray::describe() const {
  return fmt::format("a vyre.Array of {} with shape {}", py::str(py::dtype(element->numpy)).cast<std::string>(),
                     py::repr(py::tuple(py::cast(shape))).cast<std::string>());
}

namespace {

// Copies the elements to memory of the host, as numpy stores them, after the calls that write them are done.
void read_elements(const PyArray& array, std::byte* to, std::optional<std::chrono::duration<double>> timeout) {
  run::RunOptions patience;
  patience.timeout = timeout;
  while_waiting(std::move(patience), [&](const run::RunOptions& options) {
    if (array.element->bytes == array.element->resident) {
      array.storage->read(array.offset, {to, static_cast<std::size_t>(array.bytes())}, options);
      return;
    }
    std::vector<std::uint32_t> words(array.size());
    array.storage->read(array.offset, std::as_writable_bytes(std::span(words)), options);
    for (std::size_t k = 0; k < words.size(); ++k) to[k] = std::byte(words[k] != 0);
  });
}

[[noreturn]] void throw_no_host_memory(const PyArray& array) {
  throw no_memory("the host", fmt::format("{} ({} bytes)", array.describe(), array.host_bytes()));
}

}  // namespace

py::object to_numpy(const PyArray& array, std::optional<std::chrono::duration<double>> timeout) {
  Graph::refuse("Array.numpy");
  const py::module_ numpy = py::module_::import("numpy");
  py::array result;
  try {
    result = numpy.attr("empty")(py::tuple(py::cast(array.shape)), array.element->numpy).cast<py::array>();
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_MemoryError)) throw;
    throw_no_host_memory(array);
  }
  read_elements(array, static_cast<std::byte*>(result.mutable_data()), timeout);
  return result;
}

py::bytes to_bytes_object(const PyArray& array, std::optional<std::chrono::duration<double>> timeout) {
  Graph::refuse("Array.tobytes");
  const std::uint64_t size = array.host_bytes();
  // Python leaves the contents unset. No other code has the object before they are read.
  auto result = py::reinterpret_steal<py::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  if (!result) {
    PyErr_Clear();
    throw_no_host_memory(array);
  }
  auto* const to = reinterpret_cast<std::byte*>(PyBytes_AS_STRING(result.ptr()));
  run::advise_large_pages(to, size);  // numpy does the same for its arrays
  read_elements(array, to, timeout);
  return result;
}

}  // namespace vyre::python
