// Packs Python's byte strings for a device and cuts results into byte strings again. In Python each string would take several objects and
// a copy more; the functions take one pass over the strings and one over their bytes.
#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/calls/prepared.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/resident.hpp"
#include "bindings/waiting.hpp"
#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/refused.hpp"
#include "vyre/ir/data_type.hpp"
#include "vyre/run/host/ascending.hpp"
#include "vyre/run/host/host_memory.hpp"
#include "vyre/run/host/host_parts.hpp"

namespace vyre::python {
namespace {

// Strings begin at multiples of this many bytes, so that kernels load whole vectors.
constexpr std::uint64_t kSlot = 16;

std::uint64_t slot_bytes(std::uint64_t bytes) { return (bytes + kSlot - 1) / kSlot * kSlot; }

// Elements in host memory, not initialised.
template <class T>
class HostElements {
 public:
  explicit HostElements(std::uint64_t count) : count_(count), memory_(run::HostMemory::uninitialised(count * sizeof(T))) {
    if (memory_.data() == nullptr) {
      throw no_memory("the host", fmt::format("{} bytes", count * sizeof(T)));
    }
  }
  T* data() const { return reinterpret_cast<T*>(memory_.data()); }
  std::byte* bytes() const { return memory_.data(); }
  std::span<const std::byte> all() const { return {memory_.data(), count_ * sizeof(T)}; }

 private:
  std::uint64_t count_;
  run::HostMemory memory_;
};

// Words of host memory that become an array.
using Words = HostElements<std::uint32_t>;

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

// A string that is no bytes object. numpy resizes no array that has a weak reference, not even for `refcheck=False`; an array whose buffer
// is held would be resized.
struct HeldArray {
  std::size_t index;
  py::array array;
  py::object reference;
};

// The strings of a call, and where the bytes of each lie. They stay there as long as the object lives, whatever other threads do.
class Strings {
 public:
  // `convert(string, index)` gives the array of a string that is no bytes object, and may run any code. So the places of arrays are taken
  // when all strings are converted.
  Strings(py::tuple given, const py::function& convert, const std::string& where)
      : given_(std::move(given)), places_(given_.size()), starts(given_.size()), lengths(given_.size()) {
    for (std::size_t k = 0; k < size(); ++k) {
      PyObject* const string = PyTuple_GET_ITEM(given_.ptr(), static_cast<Py_ssize_t>(k));
      std::uint64_t bytes = 0;
      if (PyBytes_CheckExact(string)) {
        places_.data()[k] = reinterpret_cast<const std::byte*>(PyBytes_AS_STRING(string));
        bytes = static_cast<std::uint64_t>(PyBytes_GET_SIZE(string));
      } else {
        auto array = convert(py::handle(string), k).cast<py::array>();
        bytes = static_cast<std::uint64_t>(array.nbytes());
        arrays_.push_back({k, std::move(array), py::none()});
      }
      starts.data()[k] = static_cast<std::uint32_t>(total);
      lengths.data()[k] = static_cast<std::uint32_t>(bytes);
      total += slot_bytes(bytes);
      shortest = k == 0 ? bytes : std::min(shortest, bytes);
      longest = std::max(longest, bytes);
    }
    if (total > std::numeric_limits<std::uint32_t>::max()) {
      reject(where, "at most 4294967295 bytes", std::to_string(total));
    }
    for (HeldArray& each : arrays_) hold(each, where);
  }

  std::size_t size() const { return given_.size(); }

  // Copies the strings to their slots, with zeros behind each. Needs no GIL.
  void fill_slots(std::byte* to) const {
    const auto copy = [&](std::size_t k, const auto& copied) {
      const std::uint32_t bytes = lengths.data()[k];
      std::byte* const slot = to + starts.data()[k];
      if (bytes == 0) return;
      copied(slot, places_.data()[k], bytes);
      std::memset(slot + bytes, 0, slot_bytes(bytes) - bytes);
    };
    if (longest >= run::kLeastPartBytes) {
      for (std::size_t k = 0; k < size(); ++k) copy(k, run::host_copy);
      return;
    }
    // Most of the time of short strings goes to fetching the objects.
    constexpr std::size_t kLeastStrings = 4096;
    run::in_parts(size(), kLeastStrings, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) copy(k, std::memcpy);
    });
  }

 private:
  void hold(HeldArray& held, const std::string& where) {
    held.reference = py::reinterpret_steal<py::object>(PyWeakref_NewRef(held.array.ptr(), nullptr));
    if (!held.reference) throw py::error_already_set();
    const bool is_plain = held.array.itemsize() == 1 && (held.array.flags() & py::array::c_style) != 0;
    if (!is_plain || static_cast<std::uint64_t>(held.array.nbytes()) != lengths.data()[held.index]) {
      throw BindingError(fmt::format("element {} of {} changed its size or dtype while the call read the others. Fix: pass a copy of it.",
                                     held.index, where));
    }
    places_.data()[held.index] = static_cast<const std::byte*>(held.array.data());
  }

  const py::tuple given_;
  std::vector<HeldArray> arrays_;
  HostElements<const std::byte*> places_;

 public:
  const Words starts, lengths;
  std::uint64_t total = 0, shortest = 0, longest = 0;
};

// Calls `work`. If Python or the host has no memory for what it makes of the strings, throws DeviceMemoryError.
template <class Work>
auto with_memory(std::size_t count, const Work& work) {
  try {
    return work();
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_MemoryError)) throw;
  } catch (const std::bad_alloc&) {
  }
  throw no_memory("the host", fmt::format("{} byte strings", count));
}

// Copies strings to a device, each to a multiple of 16 bytes. `convert(string, index)` gives the array of one that is no bytes object.
// Returns the words, the first byte and the length of each string, and the least and the greatest length.
py::tuple pack_strings(const py::tuple& given, const py::function& convert, const std::string& where, py::handle backend, py::handle device,
                       const std::string& function) {
  const auto strings = with_memory(given.size(), [&] { return std::make_unique<const Strings>(given, convert, where); });
  const PlaceToRun place = to_place(backend, device, function);
  PyArray words, first, sizes;
  while_waiting({}, [&](const run::RunOptions& options) {
    const std::size_t number = place.device ? *place.device : place.backend->default_device();
    const Words filled(strings->total / sizeof(std::uint32_t));
    strings->fill_slots(filled.bytes());
    words = uploaded(filled.all(), *place.backend, number, options);
    first = uploaded(strings->starts.all(), *place.backend, number, options);
    sizes = uploaded(strings->lengths.all(), *place.backend, number, options);
  });
  return py::make_tuple(std::move(words), std::move(first), std::move(sizes), strings->shortest, strings->longest);
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

// Returns the strings that begin at these bytes of the data and have these lengths.
py::list cut_strings(const py::array_t<std::uint8_t, py::array::c_style>& data, const py::array_t<std::int64_t, py::array::c_style>& starts,
                     const py::array_t<std::int64_t, py::array::c_style>& lengths) {
  VYRE_ASSERT(starts.size() == lengths.size());
  const auto* const bytes = reinterpret_cast<const char*>(data.data());
  return with_memory(static_cast<std::size_t>(starts.size()), [&] {
    auto strings = py::reinterpret_steal<py::list>(PyList_New(starts.size()));
    if (!strings) throw py::error_already_set();
    for (py::ssize_t k = 0; k < starts.size(); ++k) {
      const std::int64_t start = starts.data()[k], length = lengths.data()[k];
      VYRE_ASSERT(start >= 0 && length >= 0 && start + length <= data.size());
      PyObject* const string = PyBytes_FromStringAndSize(bytes + start, static_cast<Py_ssize_t>(length));
      if (string == nullptr) throw py::error_already_set();
      PyList_SET_ITEM(strings.ptr(), k, string);
    }
    return strings;
  });
}

}  // namespace

void bind_byte_strings(py::module_& m) {
  m.def("_pack", pack_strings, py::arg("strings"), py::arg("convert"), py::arg("where"), py::arg("backend"), py::arg("device"),
        py::arg("function"));
  m.def("_strings_between", strings_between, py::arg("offsets"), py::arg("words"), py::arg("most"));
  m.def("_cut", cut_strings, py::arg("data"), py::arg("starts"), py::arg("lengths"));
}

}  // namespace vyre::python
