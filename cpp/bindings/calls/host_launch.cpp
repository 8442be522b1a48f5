// The fast path for repeated calls of kernels with numpy arrays. Python makes a HostLaunch after it has checked a call. The HostLaunch
// takes later calls with arrays of the same dtypes, shapes and layout, at the same place, straight from the arguments to the executable.
// All other calls go to Python, which raises the errors.
//
// The program never writes to an array of the caller. It writes to a new array, or to memory of the call, which is copied to the caller's
// array after the run has succeeded. Checks that depend only on dtypes and shapes are made once; checks of addresses and flags are made in
// each call.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/calls/fast_call.hpp"
#include "bindings/calls/prepared.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/program.hpp"
#include "bindings/resident.hpp"
#include "bindings/waiting.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/few.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/run/checks/checks.hpp"
#include "vyre/run/host/host_copy.hpp"
#include "vyre/run/host/host_memory.hpp"
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

class HostLaunch final : public FastCall {
 public:
  // The requirements on an array argument. An array that meets them is used without conversion.
  struct Layout {
    py::object dtype;
    std::vector<py::ssize_t> shape;
    int flags = 0;

    static Layout of(py::handle array) {
      const auto* proxy = py::detail::array_proxy(array.ptr());
      return {py::reinterpret_borrow<py::object>(proxy->descr), {proxy->dimensions, proxy->dimensions + proxy->nd}, 0};
    }
    bool fits(PyObject* array) const {
      if (Py_TYPE(array) != reinterpret_cast<PyTypeObject*>(NumpyApi::get().PyArray_Type_)) return false;
      const auto* proxy = py::detail::array_proxy(array);
      return proxy->descr == dtype.ptr() && (proxy->flags & flags) == flags && static_cast<std::size_t>(proxy->nd) == shape.size() &&
             std::equal(shape.begin(), shape.end(), proxy->dimensions);
    }
  };
  // Says what a buffer of the program is bound to: an argument, a new array, a table or, if the slot has none of these, the words of the
  // parameters.
  struct Slot {
    enum class Begins : std::uint8_t { Read, Copied, Zeros, Anything };
    Begins begins = Begins::Read;
    std::optional<std::size_t> argument;
    py::object shape, dtype;  // of a new array
    py::object table;
    std::uint64_t bytes = 0;
    std::uint32_t length = 0;

    bool written() const { return begins != Begins::Read; }
    bool is_words() const { return !written() && !argument && !table; }
  };

  py::object program, empty, zeros;  // `empty` and `zeros` are numpy's functions
  std::vector<std::variant<Layout, Expected>> arguments;
  std::vector<Slot> slots;
  std::vector<ParameterWord> words;
  run::Grid grid;

  HostLaunch(LaunchPlace place, const PlaceToRun& where) : place_(std::move(place)), backend_(where.backend), device_(where.device) {}

  bool takes(std::span<PyObject* const> given, const Asked& asked) override {
    Few<std::uint64_t> numbers(arguments.size());
    return fits(given, asked, numbers);
  }

  py::object call(std::span<PyObject* const> given, const Asked& asked) override {
    Few<std::uint64_t> numbers(arguments.size());
    return fits(given, asked, numbers) ? run(given, numbers.all()) : py::object();
  }

  // Checks what call() relies on, and prepares the program. Throws what a call throws.
  void prepare() {
    const PyProgram& made = *exactly<PyProgram>(program);
    validate::ValidProgram checked = valid(made);
    generation_ = run::op_generation();
    if (slots.size() != checked.bound().size()) refuse();
    check_words();
    std::vector<run::BufferView> views;
    // check_call gets made-up addresses of arrays that do not overlap. call() checks the arrays of each call for overlaps.
    std::uintptr_t address = 4096;
    for (std::size_t k = 0; k < slots.size(); ++k) {
      Slot& slot = slots[k];
      const ir::BufferDecl& decl = checked.program().buffers()[checked.bound()[k].index];
      slot.bytes = bytes_of(slot, decl);
      slot.length = run::buffer_length(decl, slot.bytes);
      auto* const nowhere = reinterpret_cast<std::byte*>(address);  // NOLINT: nothing is read there
      views.push_back({{nowhere, static_cast<std::size_t>(slot.bytes)}, slot.length});
      address += (slot.bytes + 127) / 64 * 64;
    }
    run::check_call(checked, views, grid);
    program_ = std::make_shared<validate::ValidProgram>(checked);
    while_waiting({}, [&](const run::RunOptions& waiting) {
      checked = run::with_passes(checked, *backend_, std::nullopt);
      key_ = PreparedKey{checked.program(), checked.hash(), backend_, device_, run::Optimize()};
      executable_ = prepared(checked, *key_, waiting);
    });
  }

 private:
  [[noreturn]] static void refuse() { throw ArgumentError("the parts of a launch do not fit each other. Fix: call the kernel itself."); }

  // Whether all arguments are as expected. Fills in the numbers.
  bool fits(std::span<PyObject* const> given, const Asked& asked, Few<std::uint64_t>& numbers) {
    if (given.size() != arguments.size() || !executable_ || !place_.is(asked) || generation_ != run::op_generation()) return false;
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      if (const auto* expected = std::get_if<Expected>(&arguments[k])) {
        const auto number = expected->number(given[k]);
        if (!number) return false;
        numbers[k] = *number;
      } else if (!std::get<Layout>(arguments[k]).fits(given[k])) {
        return false;
      }
    }
    return !overlap(given);
  }

  const Layout& layout(std::size_t argument) const {
    if (argument >= arguments.size() || !std::holds_alternative<Layout>(arguments[argument])) refuse();
    return std::get<Layout>(arguments[argument]);
  }

  void check_words() const {
    for (const ParameterWord& word : words) {
      if (!word.argument) continue;
      if (*word.argument >= arguments.size()) refuse();
      const auto* const expected = std::get_if<Expected>(&arguments[*word.argument]);
      if (expected == nullptr || !expected->is_number()) refuse();
    }
  }

  // The bytes of a slot's array, which has the element type of its buffer.
  std::uint64_t bytes_of(const Slot& slot, const ir::BufferDecl& decl) const {
    const ElementType& element = element_type(decl.element);
    if (slot.written() != (decl.access == ir::BufferAccess::ReadWrite) || element.bytes != element.resident) refuse();
    if (slot.is_words()) {
      if (element.bytes != sizeof(std::uint32_t)) refuse();
      return words.size() * sizeof(std::uint32_t);
    }
    const Layout found = slot.argument ? layout(*slot.argument)
                         : slot.table  ? Layout::of(slot.table)
                                       : Layout{slot.dtype, slot.shape.cast<std::vector<py::ssize_t>>(), 0};
    const auto dtype = py::reinterpret_borrow<py::dtype>(found.dtype);
    if (dtype.kind() != element.kind || static_cast<std::size_t>(dtype.itemsize()) != element.bytes) refuse();
    std::uint64_t bytes = element.bytes;
    for (const py::ssize_t extent : found.shape) {
      if (extent < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes)) refuse();
    }
    return bytes;
  }

  static std::byte* data_of(PyObject* array) { return reinterpret_cast<std::byte*>(py::detail::array_proxy(array)->data); }

  // Whether arrays of the caller overlap in a way that Python must judge. An Out may overlap an In, because it is copied after the run.
  bool overlap(std::span<PyObject* const> given) const {
    for (const Slot& written : slots) {
      if (!written.argument || !written.written()) continue;
      const std::byte* const begin = data_of(given[*written.argument]);
      for (const Slot& other : slots) {
        if (&other == &written || !other.argument || (!other.written() && written.begins != Slot::Begins::Copied)) continue;
        const std::byte* const other_begin = data_of(given[*other.argument]);
        if (begin < other_begin + other.bytes && other_begin < begin + written.bytes) return true;
      }
    }
    return false;
  }

  // Returns a new array, or a null object if there is no memory for it.
  py::object new_array(const Slot& slot) const {
    PyObject* const shape_and_dtype[] = {slot.shape.ptr(), slot.dtype.ptr()};
    const py::object& make = slot.begins == Slot::Begins::Zeros ? zeros : empty;
    auto made = py::reinterpret_steal<py::object>(PyObject_Vectorcall(make.ptr(), shape_and_dtype, 2, nullptr));
    if (made) return made;
    if (PyErr_ExceptionMatches(PyExc_MemoryError) == 0) throw py::error_already_set();
    PyErr_Clear();
    return {};
  }

  py::object run(std::span<PyObject* const> given, std::span<const std::uint64_t> numbers) {
    Few<run::BufferView> views(slots.size());
    Few<py::object> results(slots.size());
    Few<std::uint32_t, 32> made(std::max<std::size_t>(words.size(), 4));
    for (std::size_t k = 0; k < words.size(); ++k) made[k] = words[k].of(numbers);
    std::vector<std::pair<std::size_t, run::HostMemory>> copies;  // slots, with memory that is copied to the caller's arrays after the run
    for (std::size_t k = 0; k < slots.size(); ++k) {
      const Slot& slot = slots[k];
      std::byte* data = nullptr;
      if (slot.argument && slot.written()) {
        results[k] = py::reinterpret_borrow<py::object>(given[*slot.argument]);
        data = copies.emplace_back(k, memory_for(slot)).second.data();
        if (data == nullptr) return {};
      } else if (slot.argument) {
        data = data_of(given[*slot.argument]);
      } else if (slot.written()) {
        results[k] = new_array(slot);
        if (!results[k]) return {};
        data = data_of(results[k].ptr());
      } else {
        data = slot.table ? data_of(slot.table.ptr()) : reinterpret_cast<std::byte*>(made.data());
      }
      views[k] = {{data, static_cast<std::size_t>(slot.bytes)}, slot.length, slot.begins == Slot::Begins::Zeros};
    }
    for (const auto& [slot, memory] : copies) {
      if (slots[slot].begins == Slot::Begins::Copied) run::host_copy(memory.data(), data_of(results[slot].ptr()), slots[slot].bytes);
    }
    execute(views.all());
    for (const auto& [slot, memory] : copies) run::host_copy(data_of(results[slot].ptr()), memory.data(), slots[slot].bytes);
    return returned(results.all());
  }

  static run::HostMemory memory_for(const Slot& slot) {
    const std::size_t bytes = std::max<std::size_t>(slot.bytes, 16);
    return slot.begins == Slot::Begins::Zeros ? run::HostMemory::zeroed(bytes) : run::HostMemory::uninitialised(bytes);
  }

  void execute(std::span<const run::BufferView> views) {
    run::Span span("run");
    if (span) {
      span.work().program = program_;
      span.work().grid = grid;
    }
    // The caller sees none of this memory if the call fails.
    run::RunOptions options;
    options.in_place = true;
    const std::shared_ptr<run::Executable> executable = executable_;
    try {
      if (!span && executable->is_short(grid)) {
        executable->run(views, grid, options);
      } else {
        while_waiting(std::move(options), [&](const run::RunOptions& waiting) { executable->run(views, grid, waiting); });
      }
    } catch (const DispatchTimeoutError&) {
      throw;  // the device still works, and the next call, perhaps with more time, can use the prepared program
    } catch (const DeviceError&) {
      forget_prepared(*key_);  // the prepared program may belong to a lost device
      executable_.reset();
      throw;
    }
  }

  // Returns the results in the form that a call gives them: None, one array, or a tuple of arrays.
  py::object returned(std::span<py::object> results) const {
    const auto is_result = [](const py::object& each) { return static_cast<bool>(each); };
    const auto count = static_cast<std::size_t>(std::ranges::count_if(results, is_result));
    if (count == 0) return py::none();
    if (count == 1) return std::move(*std::ranges::find_if(results, is_result));
    py::tuple all(count);
    std::size_t next = 0;
    for (py::object& each : results) {
      if (each) all[next++] = std::move(each);
    }
    return all;
  }

  LaunchPlace place_;
  run::Backend* const backend_;
  const std::optional<std::size_t> device_;
  std::uint64_t generation_ = 0;  // of the registered operations, when the program was prepared
  run::ProfiledProgram program_;
  std::optional<PreparedKey> key_;
  std::shared_ptr<run::Executable> executable_;  // null after the device failed
};

constexpr int kReadable = NumpyApi::NPY_ARRAY_C_CONTIGUOUS_ | NumpyApi::NPY_ARRAY_ALIGNED_;

// Converts Python's description of a slot: None for the words, a table, or (index of an argument or None, shape, dtype, initial contents).
HostLaunch::Slot host_slot_of(py::handle told, std::vector<std::variant<HostLaunch::Layout, Expected>>& arguments) {
  using Begins = HostLaunch::Slot::Begins;
  static constexpr std::pair<std::string_view, Begins> kBegins[] = {
      {"read", Begins::Read}, {"copied", Begins::Copied}, {"zeros", Begins::Zeros}, {"anything", Begins::Anything}};
  HostLaunch::Slot made;
  if (told.is_none()) return made;
  if (py::isinstance<py::array>(told)) {
    made.table = py::array::ensure(told, py::array::c_style);
    return made;
  }
  const auto parts = told.cast<std::tuple<std::optional<std::size_t>, py::tuple, py::dtype, std::string>>();
  made.argument = std::get<0>(parts);
  made.shape = std::get<1>(parts);
  made.dtype = std::get<2>(parts);
  for (const auto& [name, begins] : kBegins) {
    if (name == std::get<3>(parts)) made.begins = begins;
  }
  if (!made.argument || *made.argument >= arguments.size()) return made;
  if (auto* const layout = std::get_if<HostLaunch::Layout>(&arguments[*made.argument])) {
    layout->flags |= kReadable | (made.written() ? NumpyApi::NPY_ARRAY_WRITEABLE_ : 0);
  }
  return made;
}

py::capsule host_launch(const py::object& program, const py::list& arguments, const py::list& slots, const py::list& words,
                        const std::array<std::uint32_t, 3>& workgroups, const py::object& backend, const py::object& device,
                        const py::object& where_backend, const py::object& where_device) {
  to_program(program, "argument `program` of _host_launch");
  const auto given = [](const py::object& option) { return option.is_none() ? nullptr : option.ptr(); };
  const Asked asked{given(backend), given(device)};
  const bool by_default = asked.backend == nullptr && asked.device == nullptr;
  const auto launch = std::make_shared<HostLaunch>(LaunchPlace(asked, by_default ? default_place() : py::object()),
                                                   to_place(where_backend, where_device, "_host_launch"));
  launch->program = program;
  const py::module_ numpy = py::module_::import("numpy");
  launch->empty = numpy.attr("empty");
  launch->zeros = numpy.attr("zeros");
  for (const py::handle argument : arguments) {
    if (py::isinstance<py::array>(argument)) {
      launch->arguments.emplace_back(HostLaunch::Layout::of(argument));
    } else {
      launch->arguments.emplace_back(expected_of(argument));
    }
  }
  for (const py::handle slot : slots) launch->slots.push_back(host_slot_of(slot, launch->arguments));
  for (const py::handle word : words) launch->words.push_back(word_of(word));
  launch->grid = {workgroups[0], workgroups[1], workgroups[2]};
  launch->prepare();
  return in_capsule(launch);
}

}  // namespace

void bind_host_launch(py::module_& m) {
  py::options options;
  options.disable_function_signatures();
  // `arguments` has an array, or a description for expected_of(), for each argument of the call. host_slot_of() and word_of() convert the
  // elements of `slots` and `words`. `backend` and `device` are the arguments of the call, `where_backend` and `where_device` the place
  // that they stand for.
  m.def("_host_launch", host_launch, py::arg("program"), py::arg("arguments"), py::arg("slots"), py::arg("words"), py::arg("workgroups"),
        py::arg("backend"), py::arg("device"), py::arg("where_backend"), py::arg("where_device"));
  m.def("_default_place_from", [](const py::object& chosen, const py::dict& globals) {
    chosen_variable = chosen.ptr();
    default_globals = globals.ptr();
  });
}

}  // namespace vyre::python
