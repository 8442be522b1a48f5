// Calls a Program with arrays that stay on their device. The first call is checked and planned; every call submits the plan.
//
// Most calls give all arrays by position, and plain ints as counts of workgroups. The class's slot of calls (call_by_slot) takes these from
// Python's arguments at once, and leaves all others to `__call__`, which converts arguments and tells mistakes.
#include <fmt/format.h>
#include <pybind11/numpy.h>

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/calls/call.hpp"
#include "bindings/calls/given_call.hpp"
#include "bindings/calls/planned.hpp"
#include "bindings/calls/planned_calls.hpp"
#include "bindings/calls/prepared.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/convert/host_value.hpp"
#include "bindings/graph.hpp"
#include "bindings/guarded.hpp"
#include "bindings/program.hpp"
#include "bindings/resident.hpp"
#include "bindings/waiting.hpp"
#include "bindings/without_gil.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/few.hpp"
#include "vyre/ir/data_type.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/run/checks/checks.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/registry.hpp"

namespace vyre::python {

namespace {

// Keeps a planned call. If nothing else keeps it, the GIL is released while the call is destroyed, because that may wait for the device.
class KeptCall {
 public:
  KeptCall() = default;
  KeptCall(const KeptCall&) = delete;
  KeptCall& operator=(const KeptCall&) = delete;
  ~KeptCall() {
    if (call.use_count() != 1) return;
    const WithoutGil unlocked;
    call.reset();
  }

  std::shared_ptr<Planned> call;
};

using ir::BufferAccess;
using ir::BufferDecl;

void check_fits(const BufferDecl& decl, const PyArray& array) {
  const ElementType& wanted = element_type(decl.element);
  const bool words = decl.element == ir::DataType::Bool && array.element == &element_type(ir::DataType::U32);
  const std::uint32_t lanes = vector_lanes(decl.element);
  const bool shaped = lanes == 0 || (!array.shape.empty() && array.shape.back() == static_cast<py::ssize_t>(lanes));
  if ((array.element == &wanted || words) && shaped) return;
  const std::string shape = lanes == 0 ? "" : fmt::format(" with shape (n, {})", lanes);
  refuse(decl, fmt::format("a vyre.Array of {}{}", wanted.numpy, shape), array.describe());
}

// Fills in a view of each array, but for the lengths of buffers, which only planning needs. `arrays` has one array for each bound buffer
// and, if an array has the counts of the grid, that array at its end.
void fill(std::span<run::StorageView> views, const std::vector<const BufferDecl*>& bound, std::span<const PyArray* const> arrays,
          run::StorageView::Role role) {
  for (std::size_t slot = 0; slot < bound.size(); ++slot) {
    const PyArray& array = *arrays[slot];
    views[slot] = {array.storage.get(), array.offset, array.bytes()};
  }
  if (arrays.size() > bound.size()) {
    const PyArray& counts = *arrays.back();
    views.back() = {counts.storage.get(), counts.offset, counts.bytes(), 3, role};
  }
}

// Returns the name of a slot's array for messages.
std::string name_of(const std::vector<const BufferDecl*>& bound, std::size_t slot, run::StorageView::Role role) {
  if (slot < bound.size()) return fmt::format("`{}`", bound[slot]->name);
  return role == run::StorageView::Role::Invocations ? "argument `grid`" : "argument `workgroups`";
}

std::shared_ptr<Planned> plan(const PyProgram& self, const std::vector<const BufferDecl*>& bound, std::span<const PyArray* const> arrays,
                              std::span<const run::StorageView> views, const CallGrid& grid, const std::optional<run::Optimize>& optimize,
                              std::uint64_t generation) {
  if (bound.empty()) {
    throw BindingError("a program without buffers has no device to run on. Fix: run it with vyre.run(program, {}, workgroups).");
  }
  for (std::size_t slot = 0; slot < bound.size(); ++slot) check_fits(*bound[slot], *arrays[slot]);
  for (std::size_t slot = 1; slot < arrays.size(); ++slot) {
    if (arrays[slot]->backend == arrays[0]->backend && arrays[slot]->device == arrays[0]->device) continue;
    const auto place = [](const PyArray& array) { return fmt::format("device {} of backend `{}`", array.device, array.backend->name()); };
    throw BindingError(
        fmt::format("{} `{}` and {} got arrays of two devices: {} and {}. Fix: make both with the same `backend` and "
                    "`device`.",
                    slot < bound.size() ? "buffers" : "buffer", bound[0]->name, name_of(bound, slot, grid.role), place(*arrays[0]),
                    place(*arrays[slot])));
  }
  auto call = std::make_shared<Planned>();
  call->generation = generation;
  call->backend = arrays[0]->backend;
  call->grid = grid.most;
  call->counts = grid.role;
  call->optimize = optimize;
  for (std::size_t slot = 0; slot < arrays.size(); ++slot) call->places.push_back(Planned::place(arrays, slot));
  for (std::size_t slot = 0; slot < bound.size(); ++slot) {
    if (bound[slot]->access == BufferAccess::ReadWrite) call->written.push_back(slot);
  }
  validate::ValidProgram checked = valid(self);
  call->program = std::make_shared<validate::ValidProgram>(checked);
  run::check_call(checked, views, grid.most);
  while_waiting({}, [&](const run::RunOptions& waiting) {
    checked = run::with_passes(checked, *call->backend, optimize);
    call->key = PreparedKey{checked.program(), checked.hash(), call->backend, arrays[0]->device, optimize.value_or(run::Optimize())};
    try {
      run::CallToRecord recorded{call->program, prepared(checked, *call->key, waiting), grid.most, {}};
      const run::Span span("plan");
      call->recording = run::record_call(*call->backend, std::move(recorded), views, waiting);
    } catch (const DeviceError&) {
      forget_prepared(*call->key);
      throw;
    }
  });
  return call;
}

// Drops the plan and the values of a call that raised a DeviceError, or whose device is lost: they may belong to such a device.
void forget(const KeptCall& kept, PlannedCalls& calls) {
  if (kept.call) {
    calls.erase(kept.call);
    forget_prepared(*kept.call->key);
  }
  calls.values.clear();
}

// Finds the plan of a call with these arrays, or makes one and adds it to `calls`. `dropped` gets the plan that `calls` drops to make room.
void find_plan(KeptCall& kept, KeptCall& dropped, const PyProgram& self, PlannedCalls& calls, std::span<const PyArray* const> arrays,
               std::span<run::StorageView> views, const CallGrid& grid, const std::optional<run::Optimize>& optimize) {
  const std::vector<const BufferDecl*>& bound = calls.bound();
  const std::uint64_t generation = run::op_generation();
  fill(views, bound, arrays, grid.role);
  kept.call = calls.find(generation, arrays, grid, optimize);
  if (kept.call) {
    if (kept.call->recording->usable()) return;
    forget(kept, calls);
  }
  for (std::size_t slot = 0; slot < bound.size(); ++slot) views[slot].length = run::buffer_length(*bound[slot], views[slot].bytes);
  kept.call = plan(self, bound, arrays, views, grid, optimize, generation);
  dropped.call = calls.insert(kept.call);
}

// Plans a call with these arrays, unless it is planned already, and submits it, or records it if this thread records a graph.
void submit(KeptCall& kept, const PyProgram& self, PlannedCalls& calls, std::span<const PyArray* const> arrays, const CallGrid& grid,
            const std::optional<run::Optimize>& optimize, run::Span& span) {
  Few<run::StorageView> made_views(arrays.size());
  const std::span<run::StorageView> views = made_views.all();
  KeptCall dropped;
  try {
    find_plan(kept, dropped, self, calls, arrays, views, grid, optimize);
    const std::shared_ptr<Planned>& call = kept.call;
    if (span) {
      span.work().program = call->program;
      span.work().grid = grid.most;
    }
    if (Graph* graph = Graph::recording()) {
      graph->add({call->backend, call->key->device.value_or(0)}, arrays, {{call->recording, {views.begin(), views.end()}, {}}});
      graph->note_calls(call->program->program());
    } else if (dropped.call || !call->recording->submit_at_once(views)) {
      while_waiting({}, [&](const run::RunOptions& options) {
        dropped.call.reset();
        const run::Span submitting("submit");
        call->recording->submit(views, {}, options);
      });
    }
  } catch (const DeviceError&) {
    forget(kept, calls);
    throw;
  }
}

// Returns what a call gives: the array of the one ReadWrite buffer, or a tuple of all. `result(slot)` returns the array of a buffer.
template <class Result>
py::object written_arrays(const std::vector<std::size_t>& written, const Result& result) {
  if (written.size() == 1) return result(written[0]);
  py::tuple results(written.size());
  for (std::size_t k = 0; k < written.size(); ++k) results[k] = result(written[k]);
  return results;
}

py::object call_counting(const PyProgram& self, const py::args& args, const py::kwargs& kwargs, run::StorageView::Role role) {
  run::Span span("call");
  const GivenCall given(self, args, kwargs, role);
  KeptCall kept;
  submit(kept, self, *given.calls, given.arrays, given.grid, given.optimize, span);
  return written_arrays(kept.call->written, [&](std::size_t slot) {
    const py::handle object = given.objects[slot];
    return py::isinstance<PyArray>(object) ? py::reinterpret_borrow<py::object>(object) : py::cast(*given.arrays[slot]);
  });
}

// Converts counts of workgroups: a plain int, or a tuple of one to three. Returns nothing for any other object.
std::optional<run::Grid> plain_grid(py::handle given) {
  if (const std::optional<std::uint32_t> count = plain_u32(given)) return run::Grid{*count, 1, 1};
  if (!PyTuple_CheckExact(given.ptr())) return std::nullopt;
  const Py_ssize_t axes = PyTuple_GET_SIZE(given.ptr());
  if (axes < 1 || axes > 3) return std::nullopt;
  std::array<std::uint32_t, 3> counts = {1, 1, 1};
  for (Py_ssize_t axis = 0; axis < axes; ++axis) {
    const std::optional<std::uint32_t> count = plain_u32(PyTuple_GET_ITEM(given.ptr(), axis));
    if (!count) return std::nullopt;
    counts[static_cast<std::size_t>(axis)] = *count;
  }
  return run::Grid{counts[0], counts[1], counts[2]};
}

// Runs a call of arrays by position and counts by value. Returns a null object, and has done nothing, if the arguments are others.
py::object call_of_arrays(PyObject* object, PyObject* args, PyObject* kwargs) {
  static PyObject* const name = PyUnicode_InternFromString("workgroups");
  const auto* const self = exactly<PyProgram>(object);
  if (self == nullptr || kwargs == nullptr || PyDict_GET_SIZE(kwargs) != 1) return {};
  PyObject* const workgroups = PyDict_GetItemWithError(kwargs, name);
  if (workgroups == nullptr) return {};
  const std::optional<run::Grid> grid = plain_grid(workgroups);
  if (!grid) return {};
  const std::span<PyObject* const> given(&PyTuple_GET_ITEM(args, 0), static_cast<std::size_t>(PyTuple_GET_SIZE(args)));
  Few<const PyArray*> arrays(given.size());
  for (std::size_t slot = 0; slot < given.size(); ++slot) {
    arrays[slot] = exactly<PyArray>(given[slot]);
    if (arrays[slot] == nullptr) return {};
  }
  if (!self->planned || self->planned->bound().size() != given.size()) return {};
  run::Span span("call");
  const std::shared_ptr<PlannedCalls> calls = self->planned;
  KeptCall kept;
  submit(kept, *self, *calls, arrays.all(), {*grid}, std::nullopt, span);
  return written_arrays(kept.call->written, [&](std::size_t slot) { return py::reinterpret_borrow<py::object>(given[slot]); });
}

ternaryfunc call_by_method = nullptr;  // the first function of the slot, which calls `__call__`

PyObject* call_by_slot(PyObject* self, PyObject* args, PyObject* kwargs) {
  PyObject* const result = guarded([&] { return call_of_arrays(self, args, kwargs).release().ptr(); });
  return result != nullptr || PyErr_Occurred() != nullptr ? result : call_by_method(self, args, kwargs);
}

// Checks the arguments and keeps the plan, so that the same call finds it later. Submits nothing.
void plan_call(const PyProgram& self, bool counts_invocations, const py::args& args, const py::kwargs& kwargs) {
  const run::Span span("call");
  const GivenCall given(self, args, kwargs, counts_invocations ? run::StorageView::Role::Invocations : run::StorageView::Role::Workgroups);
  Few<run::StorageView> views(given.arrays.size());
  KeptCall kept;
  KeptCall dropped;
  try {
    find_plan(kept, dropped, self, *given.calls, given.arrays, views.all(), given.grid, given.optimize);
  } catch (const DeviceError&) {
    forget(kept, *given.calls);
    throw;
  }
}

py::object call_program(const PyProgram& self, const py::args& args, const py::kwargs& kwargs) {
  return call_counting(self, args, kwargs, run::StorageView::Role::Workgroups);
}

}  // namespace

void call_planned(const PyProgram& program, std::span<const PyArray* const> arrays, run::Grid grid) {
  run::Span span("call");
  const std::shared_ptr<PlannedCalls> calls = calls_of(program);
  KeptCall kept;
  submit(kept, program, *calls, arrays, {grid}, std::nullopt, span);
}

std::shared_ptr<run::Storage> value_in_use(const PyProgram& program, run::Backend* backend, std::size_t device,
                                           std::span<const std::byte> bytes) {
  const std::shared_ptr<PlannedCalls> calls = calls_of(program);
  return calls->values.find(backend, device, bytes);
}

void bind_planned(py::module_& m) {
  const py::object program = m.attr("Program");
  program.attr("__call__") =
      py::cpp_function(call_program, py::name("__call__"), py::is_method(program),
                       R"(program(*arrays, workgroups, at_most=None, optimize=None, **arrays_by_name) -> Array | tuple of Arrays

Run on arrays that stay on their device, one for each buffer that is neither Workgroup nor Private: in the order of the program's
buffers, or by their names. A buffer that is named like one of the arguments is given by position only. A Uniform buffer of one element takes an integer
as its value. A ReadWrite buffer takes a number or a shape of elements, which makes a new array of zeros. `optimize` is as vyre.run takes
it. ReadWrite arrays are written in place, and the call returns them: the array when there is one, else a tuple.

`workgroups` may be a vyre.Array of three U32, or a slice of one: its counts are read on the device when the call begins, so that an
earlier call may have written them, and each is clamped to that of `at_most`, the largest grid. The call may not write that array.

The first call with some arrays checks and plans it; the same call again submits what was planned. On a GPU the call returns at
once, and its errors come at the latest when one of its arrays is read.

Raises: BindingError (arrays that do not fit, numpy arrays, arrays of two devices), ValidationError, CapabilityError,
    DeviceError.

>>> i = vyre.Expr.gid_x()
>>> add_one = vyre.Program([vyre.BufferDecl.read_write("data", 0, vyre.u32)], (4, 1, 1),
...                        [vyre.Node.store("data", i, vyre.Expr.load("data", i) + 1)])
>>> data = vyre.empty(4, backend="cpu")
>>> add_one(add_one(data, workgroups=1), workgroups=1).numpy()
array([2, 2, 2, 2], dtype=uint32)

>>> counts = vyre.array([9, 1, 1], dtype=vyre.u32, backend="cpu")
>>> add_one(vyre.empty(12, backend="cpu"), workgroups=counts, at_most=2).numpy()
array([1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0], dtype=uint32))");
  call_by_method = std::exchange(reinterpret_cast<PyTypeObject*>(program.ptr())->tp_call, call_by_slot);
  // For kernels: an array given as `workgroups` has counts of invocations, while `at_most` still counts workgroups.
  m.def("_call_for_invocations", [](const PyProgram& self, const py::args& args, const py::kwargs& kwargs) {
    return call_counting(self, args, kwargs, run::StorageView::Role::Invocations);
  });
  m.def("_plan_call", &plan_call);
}

}  // namespace vyre::python
