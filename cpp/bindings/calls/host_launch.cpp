// The fast path for repeated calls of kernels with numpy arrays. Python describes a call that it has checked, and a HostLaunch takes later
// calls with arrays of the same dtypes, shapes and layout, at the same place, straight from the arguments to the executable. All other
// calls go to Python, which raises the errors.
//
// The program never writes to an array of the caller. It writes to a new array, or to memory of the call, which is copied to the caller's
// array after the run has succeeded. Checks that depend only on dtypes and shapes are made once; checks of addresses and flags are made in
// each call.
#include <pybind11/numpy.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/calls/launch.hpp"
#include "bindings/calls/prepared.hpp"
#include "bindings/waiting.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/run/checks/checks.hpp"
#include "vyre/run/host/host_memory.hpp"
#include "vyre/run/host/host_parts.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/registry.hpp"

namespace vyre::python {
namespace {

using NumpyApi = py::detail::npy_api;

// The default place is where calls run that name no place. It is the value of `chosen_variable`, the context variable of vyre._default or,
// if that is None, `_in_environment` in the globals of that module. Both references are borrowed, because the objects live as long as the
// process.
PyObject* chosen_variable = nullptr;
PyObject* default_globals = nullptr;

// Returns the default place, or null if vyre._default still has to find it.
py::object default_place() {
  static PyObject* const in_environment = PyUnicode_InternFromString("_in_environment");
  if (chosen_variable == nullptr) return {};
  PyObject* chosen = nullptr;
  if (PyContextVar_Get(chosen_variable, nullptr, &chosen) != 0) throw py::error_already_set();
  auto place = py::reinterpret_steal<py::object>(chosen);
  if (place && place.is_none()) place = py::reinterpret_borrow<py::object>(PyDict_GetItem(default_globals, in_environment));
  return place && !place.is_none() ? place : py::object();
}

// The place of a call: its arguments `backend` and `device` or, if it has neither, the default place at the time of the call.
class LaunchPlace {
 public:
  LaunchPlace(const Asked& asked, py::object chosen)
      : backend_(py::reinterpret_borrow<py::object>(asked.backend)),
        device_(py::reinterpret_borrow<py::object>(asked.device)),
        chosen_(std::move(chosen)) {}

  bool is(const Asked& asked) {
    if (asked.device != device_.ptr()) return false;
    if (asked.backend != nullptr) return backend_ && is_same_text(asked.backend, backend_.ptr());
    if (backend_) return false;
    if (device_) return true;
    py::object now = default_place();
    if (!now || !chosen_) return false;
    if (now.is(chosen_)) return true;
    const bool same = PyTuple_Check(now.ptr()) && PyTuple_GET_SIZE(now.ptr()) == 2 &&
                      is_same_text(PyTuple_GET_ITEM(now.ptr(), 0), PyTuple_GET_ITEM(chosen_.ptr(), 0)) &&
                      PyTuple_GET_ITEM(now.ptr(), 1) == PyTuple_GET_ITEM(chosen_.ptr(), 1);
    if (same) chosen_ = std::move(now);  // each with-block makes a new, equal object
    return same;
  }

 private:
  py::object backend_, device_, chosen_;
};

constexpr int kReadable = NumpyApi::NPY_ARRAY_C_CONTIGUOUS_ | NumpyApi::NPY_ARRAY_ALIGNED_;

// What a numpy array must be like, so that it is used without conversion.
struct LikeNumpy {
  py::object dtype;
  std::vector<py::ssize_t> shape;
  int flags = kReadable;

  static std::optional<LikeNumpy> of(py::handle object) {
    if (!py::isinstance<py::array>(object)) return std::nullopt;
    const auto* proxy = py::detail::array_proxy(object.ptr());
    return LikeNumpy{py::reinterpret_borrow<py::object>(proxy->descr), {proxy->dimensions, proxy->dimensions + proxy->nd}};
  }
  bool fits(PyObject* array) const {
    if (Py_TYPE(array) != reinterpret_cast<PyTypeObject*>(NumpyApi::get().PyArray_Type_)) return false;
    const auto* proxy = py::detail::array_proxy(array);
    return proxy->descr == dtype.ptr() && (proxy->flags & flags) == flags && static_cast<std::size_t>(proxy->nd) == shape.size() &&
           std::equal(shape.begin(), shape.end(), proxy->dimensions);
  }
};

class HostLaunch final : public Launch<LikeNumpy, HostLaunch> {
 public:
  using Slot = LaunchSlot;

  HostLaunch(LaunchParts parts, const py::list& arguments, LaunchPlace place, const PlaceToRun& where)
      : Launch(std::move(parts), arguments), place_(std::move(place)), backend_(where.backend), device_(where.device) {
    const py::module_ numpy = py::module_::import("numpy");
    empty_ = numpy.attr("empty");
    zeros_ = numpy.attr("zeros");
    for (Slot& slot : parts_.slots) {
      if (slot.argument && slot.written()) like(*slot.argument)->flags |= NumpyApi::NPY_ARRAY_WRITEABLE_;
      if (slot.table) slot.table = py::array::ensure(slot.table, py::array::c_style);
    }
    prepare();
  }

 private:
  friend class Launch;

  // The memory of a slot's array, and what numpy makes a new one from.
  struct Memory {
    std::uint64_t bytes = 0;
    std::uint32_t length = 0;
    py::object shape, dtype;
  };

  // Checks what call() relies on, and prepares the program. Throws what a call throws.
  void prepare() {
    validate::ValidProgram checked = valid(*exactly<PyProgram>(parts_.program));
    generation_ = run::op_generation();
    std::vector<run::BufferView> views;
    // check_call gets made-up addresses of arrays that do not overlap. call() checks the arrays of each call for overlaps.
    std::uintptr_t address = 4096;
    for (std::size_t k = 0; k < parts_.slots.size(); ++k) {
      const ir::BufferDecl& decl = checked.program().buffers()[checked.bound()[k].index];
      const Memory& memory = memory_.emplace_back(memory_of(parts_.slots[k], decl));
      auto* const nowhere = reinterpret_cast<std::byte*>(address);  // NOLINT: nothing is read there
      views.push_back({{nowhere, static_cast<std::size_t>(memory.bytes)}, memory.length});
      address += (memory.bytes + 127) / 64 * 64;
    }
    run::check_call(checked, views, parts_.grid);
    program_ = std::make_shared<validate::ValidProgram>(checked);
    while_waiting({}, [&](const run::RunOptions& waiting) {
      checked = run::with_passes(checked, *backend_, std::nullopt);
      key_ = PreparedKey{checked.program(), checked.hash(), backend_, device_, run::Optimize()};
      executable_ = prepared(checked, *key_, waiting);
    });
  }

  bool is_open(const Asked& asked) { return executable_ && place_.is(asked) && generation_ == run::op_generation(); }

  // The memory of a slot's array, which has the element type of its buffer.
  Memory memory_of(const Slot& slot, const ir::BufferDecl& decl) {
    const ElementType& element = element_type(decl.element);
    if (slot.written() != (decl.access == ir::BufferAccess::ReadWrite) || element.bytes != element.resident) refuse_parts();
    Memory made;
    if (slot.is_words()) {
      if (element.bytes != sizeof(std::uint32_t)) refuse_parts();
      made.bytes = parts_.words.size() * sizeof(std::uint32_t);
    } else if (slot.is_made()) {
      if (slot.element != &element) refuse_parts();
      made = {bytes_of(element.bytes, slot.shape), 0, py::tuple(py::cast(slot.shape)), py::dtype(element.numpy)};
    } else {
      const LikeNumpy found = slot.table ? *LikeNumpy::of(slot.table) : *like(*slot.argument);
      const auto dtype = py::reinterpret_borrow<py::dtype>(found.dtype);
      if (dtype.kind() != element.kind || static_cast<std::size_t>(dtype.itemsize()) != element.bytes) refuse_parts();
      made.bytes = bytes_of(element.bytes, found.shape);
    }
    made.length = run::buffer_length(decl, made.bytes);
    return made;
  }

  static std::byte* data_of(PyObject* array) { return reinterpret_cast<std::byte*>(py::detail::array_proxy(array)->data); }

  // Whether no arrays of the caller overlap in a way that Python must judge. An Out may overlap an In, because it is copied after the run.
  bool fit_together(std::span<PyObject* const> given) const {
    for (std::size_t k = 0; k < parts_.slots.size(); ++k) {
      const Slot& written = parts_.slots[k];
      if (!written.argument || !written.written()) continue;
      const std::byte* const begin = data_of(given[*written.argument]);
      for (std::size_t j = 0; j < parts_.slots.size(); ++j) {
        const Slot& other = parts_.slots[j];
        if (j == k || !other.argument || (!other.written() && written.begins != Slot::Begins::Copied)) continue;
        const std::byte* const other_begin = data_of(given[*other.argument]);
        if (begin < other_begin + memory_[j].bytes && other_begin < begin + memory_[k].bytes) return false;
      }
    }
    return true;
  }

  // Returns a new array, or a null object if there is no memory for it.
  py::object new_array(std::size_t slot) const {
    PyObject* const shape_and_dtype[] = {memory_[slot].shape.ptr(), memory_[slot].dtype.ptr()};
    const py::object& make = parts_.slots[slot].begins == Slot::Begins::Zeros ? zeros_ : empty_;
    auto made = py::reinterpret_steal<py::object>(PyObject_Vectorcall(make.ptr(), shape_and_dtype, 2, nullptr));
    if (made) return made;
    if (PyErr_ExceptionMatches(PyExc_MemoryError) == 0) throw py::error_already_set();
    PyErr_Clear();
    return {};
  }

  py::object run(std::span<PyObject* const> given, std::span<const std::uint64_t> numbers) {
    const std::vector<Slot>& slots = parts_.slots;
    Few<run::BufferView> views(slots.size());
    Few<py::object> results(slots.size());
    Few<std::uint32_t, 32> words(std::max<std::size_t>(parts_.words.size(), 4));
    write_words(numbers, words);
    std::vector<std::pair<std::size_t, run::HostMemory>> copies;  // slots, with memory that is copied to the caller's arrays after the run
    for (std::size_t k = 0; k < slots.size(); ++k) {
      const Slot& slot = slots[k];
      std::byte* data = nullptr;
      if (slot.argument && slot.written()) {
        results[k] = py::reinterpret_borrow<py::object>(given[*slot.argument]);
        data = copies.emplace_back(k, memory_for(k)).second.data();
        if (data == nullptr) return {};
      } else if (slot.argument) {
        data = data_of(given[*slot.argument]);
      } else if (slot.written()) {
        results[k] = new_array(k);
        if (!results[k]) return {};
        data = data_of(results[k].ptr());
      } else {
        data = slot.table ? data_of(slot.table.ptr()) : reinterpret_cast<std::byte*>(words.data());
      }
      views[k] = {{data, static_cast<std::size_t>(memory_[k].bytes)}, memory_[k].length, slot.begins == Slot::Begins::Zeros};
    }
    for (const auto& [slot, memory] : copies) {
      if (slots[slot].begins == Slot::Begins::Copied) run::host_copy(memory.data(), data_of(results[slot].ptr()), memory_[slot].bytes);
    }
    execute(views.all());
    for (const auto& [slot, memory] : copies) run::host_copy(data_of(results[slot].ptr()), memory.data(), memory_[slot].bytes);
    return returned(results.all());
  }

  run::HostMemory memory_for(std::size_t slot) const {
    const std::size_t bytes = std::max<std::size_t>(memory_[slot].bytes, 16);
    return parts_.slots[slot].begins == Slot::Begins::Zeros ? run::HostMemory::zeroed(bytes) : run::HostMemory::uninitialised(bytes);
  }

  void execute(std::span<const run::BufferView> views) {
    run::Span span("run");
    if (span) {
      span.work().program = program_;
      span.work().grid = parts_.grid;
    }
    // The caller sees none of this memory if the call fails.
    run::RunOptions options;
    options.in_place = true;
    const std::shared_ptr<run::Executable> executable = executable_;
    try {
      if (!span && executable->is_short(parts_.grid)) {
        executable->run(views, parts_.grid, options);
      } else {
        while_waiting(std::move(options), [&](const run::RunOptions& waiting) { executable->run(views, parts_.grid, waiting); });
      }
    } catch (const DispatchTimeoutError&) {
      throw;  // the device still works, and the next call, perhaps with more time, can use the prepared program
    } catch (const DeviceError&) {
      forget_prepared(*key_);  // the prepared program may belong to a lost device
      executable_.reset();
      throw;
    }
  }

  LaunchPlace place_;
  run::Backend* const backend_;
  const std::optional<std::size_t> device_;
  std::uint64_t generation_ = 0;  // of the registered operations, when the program was prepared
  run::ProfiledProgram program_;
  std::optional<PreparedKey> key_;
  std::shared_ptr<run::Executable> executable_;  // null after the device failed
  std::vector<Memory> memory_;                   // of the slots
  py::object empty_, zeros_;                     // numpy's functions
};

}  // namespace

std::shared_ptr<FastCall> host_launch(LaunchParts parts, const py::list& arguments, const py::object& backend, const py::object& device,
                                      const std::pair<py::object, py::object>& where) {
  const auto given = [](const py::object& option) { return option.is_none() ? nullptr : option.ptr(); };
  const Asked asked{given(backend), given(device)};
  const bool by_default = asked.backend == nullptr && asked.device == nullptr;
  return std::make_shared<HostLaunch>(std::move(parts), arguments, LaunchPlace(asked, by_default ? default_place() : py::object()),
                                      to_place(where.first, where.second, "_launch"));
}

void bind_host_launch(py::module_& m) {
  m.def("_default_place_from", [](const py::object& chosen, const py::dict& globals) {
    chosen_variable = chosen.ptr();
    default_globals = globals.ptr();
  });
}

}  // namespace vyre::python
