// Packs Python's byte strings for a device and cuts results into byte strings again. In Python each string would take several objects and
// a copy more; the functions take one pass over the strings and one over their bytes.
#include "byte_strings.hpp"

#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "prepared.hpp"
#include "resident.hpp"
#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/ascending.hpp"
#include "vyre/run/host_copy.hpp"
#include "vyre/run/host_memory.hpp"
#include "vyre/run/host_parts.hpp"
#include "waiting.hpp"

namespace vyre::python {
namespace {

// Strings begin at multiples of this many bytes, so that kernels load whole vectors.
constexpr std::uint64_t kSlot = 16;

std::uint64_t slot_bytes(std::uint64_t bytes) { return (bytes + kSlot - 1) / kSlot * kSlot; }

// Words of host memory that become an array.
class Words {
 public:
  explicit Words(std::uint64_t count) : count_(count), memory_(run::HostMemory::uninitialised(count * sizeof(std::uint32_t))) {
    if (memory_.data() == nullptr) {
      throw DeviceMemoryError(fmt::format("the host has no memory for {} bytes. Fix: pass fewer messages at once.", count * 4));
    }
  }
  std::uint32_t* data() const { return reinterpret_cast<std::uint32_t*>(memory_.data()); }
  std::byte* bytes() const { return memory_.data(); }
  std::span<const std::byte> all() const { return {memory_.data(), count_ * sizeof(std::uint32_t)}; }

 private:
  std::uint64_t count_;
  run::HostMemory memory_;
};

// Must be called without the GIL.
PyArray uploaded(std::span<const std::byte> words, run::Backend& backend, std::size_t device, const run::RunOptions& options) {
  PyArray made;
  made.backend = &backend;
  made.device = device;
  made.element = &element_type(ir::DataType::U32);
  made.shape = {static_cast<py::ssize_t>(words.size() / sizeof(std::uint32_t))};
  made.storage = backend.allocate(device, made.bytes(), false);
  made.storage->write(0, words, options);
  return made;
}

// Returns the bytes of a string: a bytes object, or an array of numpy whose bytes are contiguous. Needs no GIL as long as the object lives.
std::span<const std::byte> contents(PyObject* string) {
  if (PyBytes_CheckExact(string)) {
    return {reinterpret_cast<const std::byte*>(PyBytes_AS_STRING(string)), static_cast<std::size_t>(PyBytes_GET_SIZE(string))};
  }
  const auto* const array = py::detail::array_proxy(string);
  std::size_t bytes = 1;
  for (int axis = 0; axis < array->nd; ++axis) bytes *= static_cast<std::size_t>(array->dimensions[axis]);
  return {reinterpret_cast<const std::byte*>(array->data), bytes};
}

// Copies the strings to their slots, with zeros behind each. Needs no GIL.
void fill_slots(const py::list& strings, const Words& starts, std::uint32_t longest, std::byte* to) {
  const auto copy = [&](std::size_t k, const auto& copied) {
    const std::span<const std::byte> from = contents(PyList_GET_ITEM(strings.ptr(), static_cast<Py_ssize_t>(k)));
    std::byte* const slot = to + starts.data()[k];
    if (from.empty()) return;
    copied(slot, from.data(), from.size());
    std::memset(slot + from.size(), 0, slot_bytes(from.size()) - from.size());
  };
  const std::size_t count = strings.size();
  if (longest >= run::kLeastPartBytes) {
    for (std::size_t k = 0; k < count; ++k) copy(k, run::host_copy);
    return;
  }
  // Most of the time of short strings goes to fetching the objects.
  constexpr std::size_t kLeastStrings = 4096;
  run::in_parts(count, kLeastStrings, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) copy(k, std::memcpy);
  });
}

// Copies strings to a device, each to a multiple of 16 bytes. `convert(string, index)` gives the bytes of one that is no bytes object.
// Returns the words, the first byte and the length of each string, and the least and the greatest length.
py::tuple pack_strings(const py::sequence& given, const py::function& convert, const std::string& where, py::handle backend,
                       py::handle device, const std::string& function) {
  const auto strings = py::reinterpret_steal<py::list>(PySequence_List(given.ptr()));  // the caller's list may change meanwhile
  if (!strings) throw py::error_already_set();
  const std::size_t count = strings.size();
  const Words starts(count), lengths(count);
  std::uint64_t total = 0, shortest = count == 0 ? 0 : std::numeric_limits<std::uint64_t>::max(), longest = 0;
  for (std::size_t k = 0; k < count; ++k) {
    if (!PyBytes_CheckExact(PyList_GET_ITEM(strings.ptr(), static_cast<Py_ssize_t>(k)))) strings[k] = convert(strings[k], k);
    const std::uint64_t bytes = contents(PyList_GET_ITEM(strings.ptr(), static_cast<Py_ssize_t>(k))).size();
    starts.data()[k] = static_cast<std::uint32_t>(total);
    lengths.data()[k] = static_cast<std::uint32_t>(bytes);
    total += slot_bytes(bytes);
    shortest = std::min(shortest, bytes);
    longest = std::max(longest, bytes);
  }
  if (total > std::numeric_limits<std::uint32_t>::max()) {
    throw ArgumentError(
        fmt::format("{} must have at most 4294967295 bytes, got {}. Fix: pass the messages in several calls.", where, total));
  }
  const PlaceToRun place = to_place(backend, device, function);
  PyArray words, first, sizes;
  while_waiting({}, [&](const run::RunOptions& options) {
    const std::size_t number = place.device ? *place.device : default_device(*place.backend);
    const Words filled(total / sizeof(std::uint32_t));
    fill_slots(strings, starts, static_cast<std::uint32_t>(longest), filled.bytes());
    words = uploaded(filled.all(), *place.backend, number, options);
    first = uploaded(starts.all(), *place.backend, number, options);
    sizes = uploaded(lengths.all(), *place.backend, number, options);
  });
  return py::make_tuple(std::move(words), std::move(first), std::move(sizes), shortest, longest);
}

// Copies offsets to the place of `words`. Returns the copy, the lengths of the strings between them or None if there are more than `most`
// strings, all starts combined by bitwise or, and the least and the greatest length. The offsets ascend.
py::tuple strings_between(const py::array_t<std::uint32_t, py::array::c_style>& offsets, const PyArray& words, std::size_t most) {
  const std::span<const std::uint32_t> bounds(offsets.data(), static_cast<std::size_t>(offsets.size()));
  const std::size_t count = bounds.size() - 1;
  const Words lengths(count <= most ? count : 0);
  PyArray copied, sizes;
  run::Spans found;
  while_waiting({}, [&](const run::RunOptions& options) {
    found = run::spans_of(bounds, count <= most ? lengths.data() : nullptr);
    copied = uploaded(std::as_bytes(bounds), *words.backend, words.device, options);
    if (count <= most) sizes = uploaded(lengths.all(), *words.backend, words.device, options);
  });
  const py::object told = count <= most ? py::cast(std::move(sizes)) : py::none();
  return py::make_tuple(std::move(copied), told, found.starts, found.shortest, found.longest);
}

template <class T>
std::optional<std::size_t> descent_of(const py::array& values) {
  const std::span<const T> all(static_cast<const T*>(values.data()), static_cast<std::size_t>(values.size()));
  const WithoutGil unlocked;
  return run::first_descent(all);
}

// Returns the index of the first element that is less than the one before it, or None. The array is contiguous and has integers.
std::optional<std::size_t> first_descent(const py::array& values) {
  const bool is_signed = values.dtype().kind() == 'i';
  switch (values.itemsize()) {
    case 1:
      return is_signed ? descent_of<std::int8_t>(values) : descent_of<std::uint8_t>(values);
    case 2:
      return is_signed ? descent_of<std::int16_t>(values) : descent_of<std::uint16_t>(values);
    case 4:
      return is_signed ? descent_of<std::int32_t>(values) : descent_of<std::uint32_t>(values);
    default:
      VYRE_ASSERT(!is_signed);
      return descent_of<std::uint64_t>(values);
  }
}

// Returns the strings that begin at these bytes of the data and have these lengths.
py::list cut_strings(const py::array_t<std::uint8_t, py::array::c_style>& data, const py::array_t<std::int64_t, py::array::c_style>& starts,
                     const py::array_t<std::int64_t, py::array::c_style>& lengths) {
  VYRE_ASSERT(starts.size() == lengths.size());
  const auto* const bytes = reinterpret_cast<const char*>(data.data());
  py::list strings(static_cast<std::size_t>(starts.size()));
  for (py::ssize_t k = 0; k < starts.size(); ++k) {
    const std::int64_t start = starts.data()[k], length = lengths.data()[k];
    VYRE_ASSERT(start >= 0 && length >= 0 && start + length <= data.size());
    PyObject* const string = PyBytes_FromStringAndSize(bytes + start, static_cast<Py_ssize_t>(length));
    if (string == nullptr) throw py::error_already_set();
    PyList_SET_ITEM(strings.ptr(), k, string);
  }
  return strings;
}

}  // namespace

void bind_byte_strings(py::module_& m) {
  py::options options;
  options.disable_function_signatures();
  m.def("_pack", pack_strings, py::arg("strings"), py::arg("convert"), py::arg("where"), py::arg("backend"), py::arg("device"),
        py::arg("function"));
  m.def("_strings_between", strings_between, py::arg("offsets"), py::arg("words"), py::arg("most"));
  m.def("_first_descent", first_descent, py::arg("values"));
  m.def("_cut", cut_strings, py::arg("data"), py::arg("starts"), py::arg("lengths"));
}

}  // namespace vyre::python
